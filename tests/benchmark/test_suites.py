from pathlib import Path

import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.benchmark.__main__ import main
from p2p.benchmark.report import HEADER, table
from p2p.contracts.suite import Case
from p2p.envs.catalog import load
from p2p.service.workspace import Workspace
from p2p.store.suite_files import load_suite

CASES = [case for suite in ("basic", "acrobatics") for case in load_suite(suite).cases]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_sentence_of_a_suite_for_the_built_in_author_is_understood(case: Case) -> None:
    assert BuiltinAuthor().elicit(case.prompt, load(case.env_id)).criteria


def test_a_table_without_results_is_its_header(ws: Workspace) -> None:
    assert table(ws, []) == "\n".join(HEADER)


def test_a_file_without_a_place_for_the_table_is_refused_before_anything_is_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("no markers\n")
    assert main(["--table", str(page), "--runs-dir", str(tmp_path / "runs")]) == 2
    assert "<!-- behaviour -->" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--case", "cheetah-fly"], "Unknown case 'cheetah-fly'"),
        (["--suite", "basics"], "Unknown suite 'basics'. Did you mean 'basic'?"),
        (["--seeds", "100"], "less than 100"),
    ],
)
def test_what_the_suite_does_not_know_is_refused_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    assert main([*words, "--runs-dir", str(tmp_path / "runs")]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "runs" / "benchmark").exists()


def test_the_page_of_the_benchmark_has_a_place_for_the_table() -> None:
    page = Path(__file__).parents[2] / "docs" / "benchmark.md"
    assert f"<!-- behaviour -->\n{HEADER[0]}\n" in page.read_text(encoding="utf-8")
