from pathlib import Path

import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.benchmark.__main__ import main
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


def test_a_file_without_a_place_for_the_table_is_refused_before_anything_is_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("no markers\n")
    assert main(["--table", str(page), "--runs-dir", str(tmp_path / "runs")]) == 2
    assert "<!-- behaviour -->" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_the_page_of_the_benchmark_has_a_place_for_the_table() -> None:
    page = Path(__file__).parents[2] / "docs" / "benchmark.md"
    assert f"<!-- behaviour -->\n{HEADER[0]}\n" in page.read_text(encoding="utf-8")
