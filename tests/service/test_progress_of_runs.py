"""What is told of a training while it goes on."""

import time

import pytest
from typer.testing import CliRunner

from p2p.cli.app import app
from p2p.contracts.job import JobSpec
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession, RunProgress
from p2p.contracts.training import TrainConfig
from p2p.service.progress.metrics import metrics
from p2p.service.progress.session_view import remaining_s, view_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.training.environments import describe_environment
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.iterations import save_inputs

SLEEPS = JobSpec(argv=("{python}", "-c", "import time; time.sleep(600)"))
STILL = {"alive": 0.95, "up": 0.05}


@pytest.fixture
def ws(tmp_path):
    """A service with a run of a session that stands at 30 % of its steps."""
    made = Workspace(Settings(runs_dir=tmp_path))
    request = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=1)
    create_session(made, request, session_id="pole")
    record, spec = made.record("pole"), describe_environment(made, "InvertedPendulum-v5")
    iteration = record.iteration(1)
    iteration.save_draft(RewardDraft(source="x"))
    run = iteration.run("baseline", 10)
    save_inputs(run, "x", spec, TrainConfig(env_id=spec.env_id, total_timesteps=100_000), record.read_criteria())
    made.backend.submit(SLEEPS, run.path)
    yield made
    made.backend.cancel(run.path)


def progress(ws):
    (run,) = view_session(ws, "pole").runs
    return run


def write(ws, *elapsed):
    record = ws.record("pole").iteration(1).run("baseline", 10)
    for index, seconds in enumerate(elapsed):
        record.append_scalars({"global_step": 2000 * (index + 1), "elapsed_time": seconds, "sps": 900.0})
    return record


def test_the_time_left_is_told_once_the_pace_is_known(ws):
    write(ws, 4.0)
    assert progress(ws).eta_s is None, "one update, with the start in it, says nothing"
    write(ws, *(4.0 + 2 * n for n in range(16)))
    run = progress(ws)
    assert run.eta_s == pytest.approx(0.001 * (100_000 - run.step))


def run_at(step: int, eta_s: float | None, state: str = "running") -> RunProgress:
    return RunProgress(
        run_id="baseline_seed_10",
        state=state,
        step=step,
        total_timesteps=100_000,
        steps_per_second=None,
        eta_s=eta_s,
        episode_return=None,
    )


def test_the_time_left_of_a_session_waits_for_the_pace_of_every_run_under_way():
    fast = run_at(50_000, 100.0)
    slow = run_at(2_000, None)
    assert remaining_s([fast, slow], 2) is None, "the fast one says nothing about the slow one"
    assert remaining_s([fast, slow.model_copy(update={"eta_s": 800.0})], 2) == 800.0


def test_runs_that_have_not_begun_are_taken_to_be_as_fast_as_the_others():
    assert remaining_s([run_at(50_000, 100.0), run_at(0, None, "waiting")], 1) == pytest.approx(300.0)
    assert remaining_s([run_at(50_000, 100.0), run_at(0, None, "waiting")], 2) == pytest.approx(200.0)
    assert remaining_s([run_at(0, None, "waiting")], 1) is None


def test_an_early_hint_is_shown_while_it_trains_and_not_after(ws):
    record = write(ws, 1.0)
    criteria = {criterion.key: 0.0 for criterion in ws.record("pole").read_criteria().criteria}
    row = {"type": "eval", "global_step": 2000, "reward_terms": STILL, "criteria": criteria, "criteria_met": {}}
    record.append_scalars(row)
    hint = progress(ws).hint
    assert hint is not None
    assert "Term 'alive' makes 95% of the reward" in hint
    assert metrics(ws, "pole").warnings == (f"baseline_seed_10: {hint}",)
    shown = CliRunner().invoke(app, ["show", "pole", "--runs-dir", str(ws.runs.path)]).output
    assert "makes 95% of the reward" in " ".join(shown.split())
    ws.backend.cancel(record.path)
    for _ in range(200):
        if progress(ws).hint is None:
            return
        time.sleep(0.05)
    pytest.fail("the hint is told of a training that has ended")
