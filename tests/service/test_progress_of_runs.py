"""What is told of a training while it goes on."""

import time
from datetime import datetime

import pytest
from typer.testing import CliRunner

from p2p.analysis.pace import EVALUATION_FACTOR
from p2p.cli.app import app
from p2p.contracts.job import JobSpec
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession, RunProgress
from p2p.contracts.start_states import FoundMotions
from p2p.contracts.training import TrainConfig
from p2p.contracts.training_plan import TrainingPlan
from p2p.service.jobs.time_left import PICTURES_PER_CHECK
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


def write_with_evaluations(record, evaluations):
    """Rows of updates of 1 s, half of it collecting; an evaluation of 5 s before the last ones."""
    size = 1024
    delay = 0.0
    for index in range(30):
        row = {"global_step": size * (index + 1), "elapsed_time": 1.0 + index + delay, "rollout_time": 0.5, "sps": 1.0}
        record.append_scalars(row)
        if evaluations and size * (index + 1) == 25 * size:
            record.append_scalars({"type": "eval", "global_step": 25 * size})
            delay = 5.0
    return size / 1.0


def test_evaluations_to_come_are_part_of_the_time_left(ws):
    record = ws.record("pole").iteration(1).run("baseline", 10)
    pace = write_with_evaluations(record, evaluations=True)
    left = (100_000 - 30 * 1024) / pace
    assert progress(ws).eta_s == pytest.approx(left + 3 * 5.0)


def test_an_evaluation_that_is_due_counts_before_one_was_measured(ws):
    record = ws.record("pole").iteration(1).run("baseline", 10)
    pace = write_with_evaluations(record, evaluations=False)
    config, spec = record.read_config(), record.read_env_spec()
    each = EVALUATION_FACTOR * config.n_eval_episodes * config.episode_steps(spec.dt) * 0.5 / 1024
    assert progress(ws).eta_s == pytest.approx((100_000 - 30 * 1024) / pace + 4 * each)


def test_a_run_plans_until_its_motions_are_found(ws):
    record = write(ws)
    planned = {"goal": ["pitch >= 1"]}
    config = record.read_config()
    record.save_config(TrainConfig.model_validate(config.model_dump() | {"start_states": {"planned": planned}}))
    assert progress(ws).planning
    record.save_planned_states(FoundMotions(states=(), motions=1, reached=0, nearest=0.5, steps=700))
    assert not progress(ws).planning
    assert progress(ws).planned_steps == 700


def test_the_time_left_of_a_session_counts_its_judging_by_what_the_check_took(ws):
    record = ws.record("pole").iteration(1)
    record.save_plan(TrainingPlan(n_runs=1, parallel=1, cores=1))
    write_with_evaluations(record.run("baseline", 10), evaluations=True)
    alone = view_session(ws, "pole")
    assert alone.remaining_s == pytest.approx(alone.runs[0].eta_s), "nothing is known of this machine yet"
    ws.backend.submit(JobSpec(argv=("{python}", "-c", "import time; time.sleep(0.5)")), record.check_dir)
    for _ in range(200):
        if (status := ws.backend.status(record.check_dir)).state.finished:
            break
        time.sleep(0.05)
    taken = datetime.fromisoformat(status.updated_at) - datetime.fromisoformat(status.started_at)
    rollouts = 5.0 / 20 * ws.record("pole").read_session().n_report_rollouts
    judging = rollouts + PICTURES_PER_CHECK * taken.total_seconds()
    told = view_session(ws, "pole")
    assert told.remaining_s == pytest.approx(told.runs[0].eta_s + judging)


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


def test_the_last_evaluation_of_runs_is_told_too():
    assert remaining_s([run_at(100_000, 5.0), run_at(100_000, 3.0)], 2) == 5.0
    assert remaining_s([run_at(100_000, 5.0), run_at(0, None, "waiting")], 2) is None, "its pace is not known yet"


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
