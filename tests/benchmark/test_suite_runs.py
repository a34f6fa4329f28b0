"""Runs of a real suite: small sessions that are trained, killed, gone on with, and sit their exams."""

import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from shared_sessions import BALANCE, end_films, made_once

from p2p.benchmark.report import table
from p2p.contracts.intent import Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.session import NewSession
from p2p.contracts.suite import Gate, NewSuiteRun, Outcome, RunState, SuiteRunView
from p2p.contracts.training import EXAM_SEEDS, Purpose
from p2p.scheduler import supervisor
from p2p.service.suites.results import view_suite_run
from p2p.service.suites.running import resume_suite_run, start_suite_run, stop_suite_run
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.evaluations import ReportRecord
from p2p.store.suite_files import save_exam
from p2p.store.suites import SuiteRuns

pytestmark = pytest.mark.slow

SECRET = "CANARY-of-the-exam"
SYSTEM = NewSession(n_seeds=1, n_report_rollouts=10, max_iterations=1)
SUITE = f"""
[suite]
name = "poles"
seeds = [1, 2]
n_exam_rollouts = 10
exams = "exams"
[budget]
total_timesteps = 2000
[[case]]
name = "balance"
env_id = "InvertedPendulum-v5"
prompt = "{BALANCE}"
[[case]]
name = "juggle"
env_id = "InvertedPendulum-v5"
prompt = "juggle three balls"
[[case]]
name = "later"
env_id = "InvertedPendulum-v5"
prompt = "{BALANCE}"
[[stage]]
name = "first"
where = {{ case = "balance" }}
gate = 0.0
[[stage]]
name = "second"
where = {{ case = "juggle" }}
gate = 0.5
[[stage]]
name = "third"
"""
ASKED = NewSuiteRun(parallel=2, system=SYSTEM.model_copy(update={"config": {"num_evals": 1, "n_eval_episodes": 3}}))
LIMIT_S = 400.0


def exam(prompt: str, feature: str = "pole_angle", threshold: float = 100.0) -> Intent:
    """Exam that everybody passes whose pole leans by at most `threshold`."""
    within = Predicate(
        statistic=Statistic.MAX,
        feature=feature,
        absolute=True,
        comparison=Comparison.AT_MOST,
        threshold=threshold,
        unit="rad",
        margin=0.001,
    )
    criterion = Criterion(key="up", title=SECRET, description=SECRET, category=Category.STABILITY, predicate=within)
    return Intent(prompt=prompt, env_id="InvertedPendulum-v5", episode_s=2.0, criteria=(criterion,))


def suite_in(place: Path, **changed: object) -> str:
    """Write the suite with its exams; returns the path of its file."""
    place.mkdir(parents=True, exist_ok=True)
    file = place / "poles.toml"
    file.write_text(SUITE)
    for name, prompt in (("balance", BALANCE), ("juggle", "juggle three balls"), ("later", BALANCE)):
        save_exam(place / "exams" / f"{name}.json", exam(prompt, **changed if name == "balance" else {}))  # type: ignore[arg-type]
    return str(file)


def wait(ws: Workspace) -> SuiteRunView:
    deadline = time.monotonic() + LIMIT_S
    while (view := view_suite_run(ws, "poles")).state is RunState.RUNNING:
        assert time.monotonic() < deadline, view
        time.sleep(0.5)
    return view


def results(view: SuiteRunView) -> list[dict[str, object]]:
    """Results without clocks."""
    return [result.model_dump(exclude={"seconds", "ended_at"}) for result in view.results]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs directory with a run of the suite that nobody disturbed."""

    def make(place: Path) -> None:
        ws = Workspace(Settings(runs_dir=place / "runs"))
        start_suite_run(ws, suite_in(place / "suite"), ASKED)
        assert wait(ws).state is RunState.ENDED

    return made_once(tmp_path_factory, "finished_suite", make)


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Workspace:
    """Workspace of a test's own with that run."""
    shutil.copytree(finished / "runs", tmp_path / "runs", ignore=shutil.ignore_patterns("film"))
    return Workspace(Settings(runs_dir=tmp_path / "runs"))


def test_sessions_of_a_run_have_ended_with_their_own_verdict_and_an_exam(finished: Path) -> None:
    ws = Workspace(Settings(runs_dir=finished / "runs"))
    view = view_suite_run(ws, "poles")
    balance, juggle, later = view.results[:2], view.results[2:4], view.results[4:]
    assert {result.outcome for result in balance} <= {Outcome.PASSED, Outcome.NOT_PASSED}
    assert [(result.outcome, result.exam) for result in juggle] == [(Outcome.NOT_TRAINED, None)] * 2
    assert "juggle" in juggle[0].error
    assert [(result.outcome, result.status) for result in later] == [(Outcome.SKIPPED, "")] * 2
    assert [stage.decision for stage in view.stages] == [Gate.PASSED, Gate.FAILED, None]
    assert (view.tally.exams, view.tally.passed_exam) == (4, 2), "who could not begin has not passed"
    suite = SuiteRuns(ws.runs.path).run("poles").read_suite()
    assert suite is not None
    for result in balance:
        assert result.exam is not None
        assert result.exam.seeds == tuple(suite.exam_seeds("balance", result.seed))
        assert result.steps >= 2000
        recorded = ReportRecord(SuiteRuns(ws.runs.path).run("poles").exam_dir(result.session_id))
        evaluation = recorded.read_evaluation()
        assert evaluation is not None
        assert (evaluation.purpose, len(evaluation.rollouts)) == (Purpose.EXAM, 10)
        assert min(rollout.seed for rollout in evaluation.rollouts) >= EXAM_SEEDS
        assert not recorded.videos_dir.exists()
    first, second = (result.exam for result in balance)
    assert first is not None
    assert second is not None
    assert first.features_sha256 != second.features_sha256
    assert first.policy_sha256 != second.policy_sha256


def test_a_table_tells_each_exam_beside_the_verdict(finished: Path) -> None:
    ws = Workspace(Settings(runs_dir=finished / "runs"))
    view = view_suite_run(ws, "poles")
    _, _, *rows = table(ws, view.results).splitlines()
    told = [row.split(" | ")[5] for row in rows]
    exams = [result.exam for result in view.results if result.exam is not None]
    assert [row for row in told if row != "–"] == [
        f"{'passed' if exam.passed else 'not passed'}, {exam.n_met} of 10" for exam in exams
    ]


def test_no_session_and_no_job_of_one_holds_anything_of_an_exam(finished: Path) -> None:
    """Not in a prompt, a request, a variable, a log or any other file: it lies in the run of the suite alone."""
    runs = finished / "runs"
    holding = {path for path in runs.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()}
    own = runs / "benchmark" / "poles"
    assert holding == {
        own / "suite.json",
        own / "results.jsonl",
        *(own / "exams" / f"poles-balance-seed-{seed}" / "criteria.json" for seed in (1, 2)),
    }
    named = [
        path for path in runs.glob("poles-*/**/job.json") if "benchmark" in path.read_text().replace("run_suite", "")
    ]
    assert named == [], "no process of a session is told where the run of the suite is"


def test_an_erratum_scores_the_recorded_rollouts_again(copy: Workspace, tmp_path: Path) -> None:
    before = view_suite_run(copy, "poles")
    rollouts = [recorded_features(copy, seed) for seed in (1, 2)]
    strict = suite_in(tmp_path / "suite", threshold=0.0)
    with pytest.raises(Exception, match="say that it is an erratum"):
        start_suite_run(copy, strict, ASKED)
    start_suite_run(copy, strict, ASKED, erratum=True)
    view = wait(copy)
    assert (before.tally.passed_exam, view.tally.passed_exam) == (2, 0)
    assert view.run.digest != before.run.digest
    assert [result.exam and result.exam.features_sha256 for result in view.results] == [
        result.exam and result.exam.features_sha256 for result in before.results
    ]
    assert [recorded_features(copy, seed) for seed in (1, 2)] == rollouts, "nothing was simulated"


def test_an_erratum_that_needs_other_features_has_them_recorded(copy: Workspace, tmp_path: Path) -> None:
    rollouts = [recorded_features(copy, seed) for seed in (1, 2)]
    start_suite_run(copy, suite_in(tmp_path / "suite", feature="2*pole_angle"), ASKED, erratum=True)
    view = wait(copy)
    assert view.state is RunState.ENDED
    assert view.tally.passed_exam == 2
    assert not set(rollouts) & {recorded_features(copy, seed) for seed in (1, 2)}


def recorded_features(ws: Workspace, seed: int) -> tuple[int, int]:
    """Which file holds the features of an exam, and since when."""
    directory = SuiteRuns(ws.runs.path).run("poles").exam_dir(f"poles-balance-seed-{seed}")
    status = ReportRecord(directory).features_path.stat()
    return status.st_ino, status.st_mtime_ns


def test_another_suite_or_system_under_the_name_of_a_run_is_refused(copy: Workspace, tmp_path: Path) -> None:
    file = suite_in(tmp_path / "suite")
    other = ASKED.model_copy(update={"system": SYSTEM.model_copy(update={"candidates": 2})})
    with pytest.raises(Exception, match="candidates is 1, not 2"):
        start_suite_run(copy, file, other)
    world = SYSTEM.model_copy(update={"config": {"env_kwargs": {"reset_noise_scale": 0.0}}})
    with pytest.raises(Exception, match=r"the same world.*got reset_noise_scale"):
        start_suite_run(copy, file, ASKED.model_copy(update={"name": "other", "system": world}))
    Path(file).write_text(SUITE.replace("total_timesteps = 2000", "total_timesteps = 3000"))
    with pytest.raises(Exception, match="is of another poles"):
        start_suite_run(copy, file, ASKED, erratum=True)


@pytest.fixture
def killed_at_the_end(tmp_path: Path) -> Iterator[Workspace]:
    ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
    yield ws
    if SuiteRuns(ws.runs.path).run("poles").read_run() is not None:
        stop_suite_run(ws, "poles")
    end_films(tmp_path)


@pytest.mark.nightly
def test_a_run_that_is_stopped_and_killed_ends_with_the_same_results(
    finished: Path, killed_at_the_end: Workspace, tmp_path: Path
) -> None:
    ws = killed_at_the_end
    start_suite_run(ws, suite_in(tmp_path / "suite"), ASKED)
    until_any(ws, "poles-balance-seed-*/iter_1/*_seed_*/metrics")
    stopped = stop_suite_run(ws, "poles")
    assert stopped.state is RunState.INTERRUPTED
    assert Outcome.CANCELLED not in {result.outcome for result in stopped.results}
    assert not live_jobs(tmp_path), "nothing of it runs any more"
    resume_suite_run(ws, "poles")
    until_any(ws, "poles-balance-seed-*/driver/handle.json")
    kill(tmp_path, "benchmark/poles/driver")
    assert view_suite_run(ws, "poles").state is RunState.INTERRUPTED
    resume_suite_run(ws, "poles", parallel=1)  # one after the other, as they were not before
    compare(finished, wait(ws))


@pytest.mark.nightly
@pytest.mark.parametrize("dice", range(7))  # three kills each
def test_a_run_killed_at_random_moments_ends_with_the_same_results(
    finished: Path, killed_at_the_end: Workspace, tmp_path: Path, dice: int
) -> None:
    ws = killed_at_the_end
    random_ = random.Random(dice)
    start_suite_run(ws, suite_in(tmp_path / "suite"), ASKED)
    for _ in range(3):
        time.sleep(random_.uniform(0, 12))
        kill(tmp_path, random_.choice(("benchmark/poles/driver", "driver", "")))
        resume_suite_run(ws, "poles")
    compare(finished, wait(ws))


@pytest.mark.nightly
def test_sessions_side_by_side_on_the_pool_end_as_they_do_here(
    finished: Path, killed_at_the_end: Workspace, tmp_path: Path
) -> None:
    ws = Workspace(Settings(runs_dir=killed_at_the_end.runs.path, backend="pool"))
    start_suite_run(ws, suite_in(tmp_path / "suite"), ASKED.model_copy(update={"parallel": 8, "backend": "pool"}))
    compare(finished, wait(ws))


def compare(finished: Path, view: SuiteRunView) -> None:
    undisturbed = view_suite_run(Workspace(Settings(runs_dir=finished / "runs")), "poles")
    assert view.state is RunState.ENDED, view.error
    assert results(view) == results(undisturbed)


def until_any(ws: Workspace, pattern: str) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not any(ws.runs.path.glob(pattern)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def kill(root: Path, which: str) -> None:
    """Kill every process, with its supervisor, of the jobs below `root` whose directories end with `which`."""
    for pid, job in live_jobs(root):
        if str(job).endswith(which) and job.name != "film":
            os.kill(pid, signal.SIGKILL)


def live_jobs(root: Path) -> list[tuple[int, Path]]:
    """Processes of jobs and their supervisors below a directory."""
    found = []
    for pid in supervisor.processes():
        tags = (supervisor.SUPERVISOR_TAG, supervisor.JOB_TAG)
        job = Path(next(filter(None, (supervisor.variable(pid, tag) for tag in tags)), "/"))
        if job.is_relative_to(root) and job.name != "film":
            found.append((pid, job))
    return found
