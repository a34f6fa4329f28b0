import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.benchmark.__main__ import main
from p2p.benchmark.cases import SUITES, Case
from p2p.benchmark.report import HEADER, table
from p2p.contracts.session import NewSession
from p2p.envs.catalog import load
from p2p.service.sessions.keeping import delete_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

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


def test_a_second_benchmark_in_a_runs_directory_is_told_who_holds_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hold = "import sys, time; from pathlib import Path; from p2p.store.sessions import RunsDirectory\n"
    hold += "with RunsDirectory(Path(sys.argv[1])).benchmarking(): print('held', flush=True); time.sleep(600)"
    with Popen([sys.executable, "-c", hold, str(tmp_path)], stdout=PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"held\n"
        assert main(["--case", CASES[0].name, "--seeds", "1", "--runs-dir", str(tmp_path)]) == 4
        assert f"benchmark.lock is locked by process {first.pid}" in capsys.readouterr().err
        first.kill()
    assert not list(tmp_path.glob("*seed*"))


def test_an_error_names_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ws = Workspace(Settings(runs_dir=tmp_path))
    session_id = f"{CASES[0].name}-seed-1"
    create_session(ws, NewSession(prompt=CASES[0].prompt, env_id=CASES[0].env_id), session_id=session_id)
    delete_session(ws, session_id)
    assert main(["--case", CASES[0].name, "--seeds", "1", "--runs-dir", str(tmp_path)]) == 2
    assert f"p2p resume {session_id}" in capsys.readouterr().err


def test_the_page_of_the_benchmark_has_a_place_for_the_table() -> None:
    page = Path(__file__).parents[2] / "docs" / "benchmark.md"
    assert f"<!-- behaviour -->\n{HEADER[0]}\n" in page.read_text(encoding="utf-8")
