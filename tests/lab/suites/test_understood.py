from p2p.contracts.suite import Case
from p2p.lab.suites.understood import is_understood, table
from p2p.store.suite_files import load_suite


def test_a_sentence_that_is_half_understood_is_not_understood() -> None:
    assert is_understood(Case(name="a", env_id="HalfCheetah-v5", prompt="run forward"))
    assert not is_understood(Case(name="b", env_id="HalfCheetah-v5", prompt="run forward while humming a tune"))


def test_the_table_has_a_row_for_each_suite_with_what_is_kept_back() -> None:
    suite = load_suite("p2p-60")
    easy = [case for case in suite.cases if case.difficulty == "easy"][:3]
    assert table([suite], {"p2p-60": easy}).splitlines()[-1] == "| `p2p-60` | 54 | 6 | 3 (6%) | 3, 0, 0 |"


def test_the_built_in_author_understands_every_sentence_of_basic_and_acrobatics() -> None:
    for name in ("basic", "acrobatics"):
        assert all(map(is_understood, load_suite(name).cases))
