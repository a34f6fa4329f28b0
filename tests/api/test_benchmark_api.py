import shutil
from pathlib import Path

import pytest
from made_up_suites import begun, end, suite_of
from suite_runs import LONG, SHORT, pole_runs

import p2p
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.session import SessionStatus
from p2p.contracts.suite import Outcome, RunState
from p2p.service.workspace import Workspace
from p2p.settings import Settings


@pytest.fixture
def ended(tmp_path: Path) -> Path:
    """Runs directory with a run of two sessions, one of which passed."""
    ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
    suite = suite_of(2)
    _, run = begun(ws, suite)
    end(ws, suite, run, "case-0", SessionStatus.PASSED)
    end(ws, suite, run, "case-1", SessionStatus.MAX_ITERATIONS)
    return ws.runs.path


def test_a_run_of_a_suite_is_read_from_python(ended: Path) -> None:
    run = p2p.load_benchmark("poles", runs_dir=ended).wait()
    assert run.view.state is RunState.ENDED
    assert [result.outcome for result in run.results] == [Outcome.PASSED, Outcome.NOT_PASSED]
    assert (run.tally.rate, run.tally.exam_rate) == (0.5, 0.0)


def test_what_cannot_be_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Unknown suite 'basics'"):
        p2p.run_benchmark("basics", runs_dir=tmp_path)
    with pytest.raises(UnknownName, match="Unknown case 'cheetah-fly'"):
        p2p.run_benchmark("basic", cases=["cheetah-fly"], runs_dir=tmp_path)
    with pytest.raises(InvalidInput, match="seeds"):
        p2p.run_benchmark("basic", seeds=[100], runs_dir=tmp_path)
    with pytest.raises(UnknownName, match="Unknown run of a suite 'poles'"):
        p2p.load_benchmark("poles", runs_dir=tmp_path)


@pytest.mark.nightly
def test_runs_are_compared_shown_and_verified_from_python(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = pole_runs(tmp_path_factory)
    shutil.copytree(made / "runs", tmp_path / "runs")
    long, short = (p2p.load_benchmark(name, runs_dir=tmp_path / "runs") for name in (LONG, SHORT))
    comparison = p2p.compare_benchmarks(short, long)
    assert comparison.chart is not None
    assert (long.runs_dir / comparison.chart).exists()
    main = comparison.metric(comparison.main)
    assert main is not None
    assert main.differences[0].mean == 0.5
    assert [one.false_passes for one in long.compare_judges().judges] == [1, 1, 0]
    assert long.page(tmp_path / "long.html", videos="none").stat().st_size > 1_000
    entry = long.export()
    suite = made / "suite" / "poles.toml"
    assert p2p.verify_benchmark(entry, suite=suite, runs_dir=tmp_path / "elsewhere").verified
    with pytest.raises(InvalidInput, match="expected one of inside, beside, none"):
        long.page(videos="outside")
    with pytest.raises(InvalidInput, match="two runs or more"):
        p2p.compare_benchmarks(long)
