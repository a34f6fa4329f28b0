import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.benchmark.cases import SUITES, Case
from p2p.benchmark.report import HEADER, table
from p2p.envs.catalog import load

CASES = [case for suite in SUITES.values() for case in suite]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_sentence_of_a_suite_is_understood(case: Case) -> None:
    assert BuiltinAuthor().elicit(case.prompt, load(case.env_id)).criteria


def test_no_two_cases_share_a_name() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


def test_a_table_without_results_is_its_header() -> None:
    assert table([]) == "\n".join(HEADER)
