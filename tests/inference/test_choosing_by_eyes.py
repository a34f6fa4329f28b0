"""A checkpoint chosen by eyes after a veto, over recorded rollouts and with a scripted model."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import numpy as np
import pytest
from mcp.client import Client
from watched_session import INTENT
from wire_stub import Fault, Step, Stub, answers

from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.contracts.judgment import Verdict
from p2p.contracts.session import NewSession
from p2p.contracts.spending import Caps
from p2p.contracts.training import (
    CheckpointChoice,
    Evaluation,
    IterationAggregation,
    Purpose,
    Rollout,
    RunSummary,
    TrainConfig,
)
from p2p.contracts.work import PictureResult
from p2p.service.judging import caller_judgment
from p2p.service.judging.choosing import open_choice
from p2p.service.judging.report import run_report
from p2p.service.judging.verdict import judge
from p2p.service.models.session_models import set_caps
from p2p.service.sessions.lifecycle import create_session
from p2p.service.training.aggregation import aggregate
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.arrays import save_features
from p2p.store.evaluations import EvaluationRecord, ReportRecord
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import SheetRecord, ViewRecord
from p2p_mcp.server import build_server

MODEL = "anthropic:claude-of-a-test"
CAPS = Caps(dollars=None, tokens=10_000_000)
CONTENT: dict[str, Any] = {
    "findings": [{"key": "calm", "state": "met", "evidence": "No shaking."}],
    "diagnosis": "It stands.",
    "is_what_was_meant": True,
    "score": 0.9,
}
REFUSED: dict[str, Any] = {
    **CONTENT,
    "diagnosis": "It hangs.",
    "is_what_was_meant": False,
    "suspected_exploit": "It hangs.",
}
WORSE: dict[str, Any] = {**REFUSED, "score": 0.8}


class Worker:
    """A backend whose worker has always recorded rollouts that meet what is measured, and pictured them."""

    def submit(self, spec: JobSpec, directory: Path) -> JobStatus:
        verb = spec.argv[3]
        if verb == "evaluate":
            request = ReportRecord(directory).read_request()
            assert request is not None
            record_rollouts(ReportRecord(directory), request.run_id, request.checkpoint, Purpose.REPORT)
            sheet, result = SheetRecord(directory), PictureResult(sheet="contact_sheet.jpg", sizes={})
            sheet.sheet_path.write_bytes(b"the report's sheet")
            sheet.save_result(result)
        if verb == "view":
            view = ViewRecord(directory)
            order = view.read_picture_request()
            assert order is not None
            view.sheet_path.write_bytes(f"the sheet of {order.rollouts[0].trajectory}".encode())
            view.save_result(PictureResult(sheet=view.sheet_path.name, sizes={view.sheet_path.name: (1, 1)}))
        return self.status(directory)

    def status(self, directory: Path) -> JobStatus:
        if not any(directory.glob("*.json")):
            raise InvalidInput("There is no job.")
        return JobStatus(state=JobState.COMPLETED)


def record_rollouts(record: EvaluationRecord, run_id: str, step: int, purpose: Purpose, angle: float = 0.0) -> None:
    """Five rollouts of 5 s, in which the pole leans by `angle` [rad]."""
    rollouts = tuple(
        Rollout(seed=seed, episode_return=1.0, length=125, label={0: "p10", 1: "median", 2: "p90"}.get(seed))
        for seed in range(5)
    )
    record.path.mkdir(parents=True, exist_ok=True)
    save_features(record.features_path, [{"pole_angle": np.full(125, angle)} for _ in rollouts])
    record.save_evaluation(Evaluation(run_id=run_id, checkpoint=step, purpose=purpose, dt=0.04, rollouts=rollouts))


def train(iteration: IterationRecord, steps: dict[int, float]) -> IterationAggregation:
    """Two runs with checkpoints at these steps; of the second each return is lower, and the first leans at the end.

    Args:
        iteration: Of which.
        steps: Of each checkpoint its success rate.
    """
    for seed in (10, 11):
        run = iteration.run("baseline", seed)
        run.path.mkdir(parents=True)
        run.save_config(TrainConfig(env_id=INTENT.env_id, seed=seed))
        for step, success in steps.items():
            record_rollouts(run.checkpoint(step), run.iteration_id, step, Purpose.SELECTION, 0.0 if success else 1.0)
            run.trajectory(step, "median").parent.mkdir(exist_ok=True)
            run.trajectory(step, "median").write_bytes(b"a trajectory")
            run.checkpoint(step).policy_path.write_bytes(b"a policy")
            row = {"type": "eval", "global_step": step, "success_rate": success, "intent_score": success}
            run.append_scalars({**row, "mean_return": float(step - seed)})
        best = max(steps, key=lambda step: (steps[step], step))
        summary = RunSummary(
            total_timesteps=max(steps),
            training_time_s=1.0,
            final_episodic_return=1.0,
            total_episodes=1,
            steps_per_second=1.0,
            best_checkpoint=best,
            best_selection_score=steps[best],
            best_selection_success=steps[best],
            best_selection_return=float(best - seed),
        )
        run.save_summary(summary)
        run.set_status(JobState.COMPLETED)
    found = aggregate(iteration.runs())
    assert found is not None
    iteration.save_aggregation(found)
    return found


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub().serving() as serving:
        yield serving


@pytest.fixture
def ws(tmp_path: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A session whose first iteration was met by what eyes refused, and whose second is trained and not judged."""
    for name, value in stub.environment().items():
        monkeypatch.setenv(name, value)
    made = Workspace(Settings(runs_dir=tmp_path))
    monkeypatch.setattr(made, "backend", Worker())
    request = NewSession(
        prompt=INTENT.prompt, env_id=INTENT.env_id, n_seeds=2, n_report_rollouts=10, judge_model=MODEL, caps=CAPS
    )
    create_session(made, request, session_id="watched", intent=INTENT)
    record = made.record("watched")
    train(record.iteration(1), {100: 1.0})
    train(record.iteration(2), {100: 1.0, 200: 1.0, 300: 0.0})
    script(stub, REFUSED)
    assert judge(made, "watched", 1).vetoed_by_eyes
    return made


def script(stub: Stub, *said: dict[str, Any] | Fault) -> None:
    """What the model answers from now on."""
    steps: list[Step] = [one if isinstance(one, Fault) else answers(one) for one in said]
    stub.steps = [*stub.steps[: len(stub.seen)], *steps]


def looks_of(ws: Workspace, number: int = 2) -> list[tuple[str, int, bool]]:
    """Which checkpoints eyes looked at, and whether they accepted them."""
    aggregation = ws.record("watched").iteration(number).read_aggregation()
    assert aggregation is not None
    return [(look.run_id, look.step, look.accepted) for look in aggregation.looks]


def test_the_first_checkpoint_that_eyes_accept_is_reported_on(ws: Workspace, stub: Stub) -> None:
    script(stub, REFUSED, CONTENT, CONTENT)
    judgment = judge(ws, "watched", 2)
    assert looks_of(ws) == [("baseline_seed_10", 200, False), ("baseline_seed_11", 200, True)], (
        "the best of each run first, and none that misses what is measured"
    )
    assert judgment.passed
    assert (judgment.run_id, judgment.best_checkpoint) == ("baseline_seed_11", 200)
    assert "eyes looked at 2 of the best checkpoints, and accepted it" in judgment.diagnosis
    assert "baseline_seed_11 at step 200" in judgment.diagnosis
    assert len(stub.seen) == 1 + 3, "one veto, two looks to choose, and one at the rollouts that are judged"


def test_a_run_that_failed_and_a_checkpoint_without_its_rollout_are_no_candidates(ws: Workspace, stub: Stub) -> None:
    iteration = ws.record("watched").iteration(2)
    iteration.run("baseline", 11).set_status(JobState.FAILED, "it fell")
    iteration.run("baseline", 10).trajectory(100, "median").unlink()
    found = aggregate(iteration.runs())
    assert found is not None
    iteration.save_aggregation(found)
    run_report(ws, "watched", 2)
    assert looks_of(ws) == []
    assert len(stub.seen) == 1, "with one checkpoint left there is nothing to choose"


def test_where_eyes_accept_none_the_one_they_find_best_is_judged_and_still_fails(ws: Workspace, stub: Stub) -> None:
    script(stub, WORSE, REFUSED, WORSE, REFUSED)
    judgment = judge(ws, "watched", 2)
    assert [accepted for *_, accepted in looks_of(ws)] == [False] * 3
    assert (judgment.run_id, judgment.best_checkpoint) == ("baseline_seed_11", 200)
    assert judgment.verdict is Verdict.FAILED
    assert "accepted none" in judgment.diagnosis


def test_what_passes_the_choice_is_looked_at_again_and_can_fail(ws: Workspace, stub: Stub) -> None:
    script(stub, CONTENT, REFUSED)
    judgment = judge(ws, "watched", 2)
    assert judgment.vetoed_by_eyes
    assert looks_of(ws) == [("baseline_seed_10", 200, True)]


def test_the_choice_is_made_once(ws: Workspace, stub: Stub) -> None:
    script(stub, REFUSED, CONTENT)
    run_report(ws, "watched", 2)
    run_report(ws, "watched", 2)
    assert len(looks_of(ws)) == 2
    assert stub.remaining() == 0


def test_eyes_that_fail_leave_the_choice_to_what_is_measured(ws: Workspace, stub: Stub) -> None:
    script(stub, Fault.REFUSAL, Fault.REFUSAL)
    run_report(ws, "watched", 2)
    evaluation = ws.record("watched").iteration(2).report.read_evaluation()
    assert evaluation is not None
    assert (evaluation.run_id, evaluation.checkpoint, looks_of(ws)) == ("baseline_seed_10", 200, [])
    told = [str(event.data.get("message", "")) for event in ws.record("watched").events.read()]
    assert any("Eyes could not look at checkpoint 200 to choose by" in message for message in told)


def test_what_little_is_left_of_the_caps_is_kept_for_the_verdict(ws: Workspace, stub: Stub) -> None:
    script(stub, CONTENT, REFUSED)
    set_caps(ws, "watched", calls=1)
    run_report(ws, "watched", 2)
    assert looks_of(ws) == []
    assert stub.remaining() == 2


def test_without_a_veto_nothing_is_chosen_by_eyes(ws: Workspace, stub: Stub) -> None:
    iteration = ws.record("watched").iteration(1)
    judgment = iteration.read_judgment()
    assert judgment is not None
    iteration.save_judgment(judgment.model_copy(update={"verdict": Verdict.PASSED}))
    run_report(ws, "watched", 2)
    assert looks_of(ws) == []
    assert len(stub.seen) == 1


@pytest.fixture
def by_caller(ws: Workspace) -> Workspace:
    """The same session, in which nobody but the caller has eyes."""
    record = ws.record("watched")
    record.save_session(record.read_session().model_copy(update={"judge_model": ""}))
    run_report(ws, "watched", 2)  # a training job records it at its end
    return ws


FIRST, SECOND = (CheckpointChoice(run_id=f"baseline_seed_{seed}", step=200) for seed in (10, 11))


def test_a_caller_with_eyes_chooses_once_by_selection_rollouts_and_is_shown_the_report_of_its_choice(
    by_caller: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller_judgment, "view_session", lambda *_: SimpleNamespace(alive=False))
    monkeypatch.setattr(caller_judgment, "live_training", lambda *_: None)
    server = build_server(by_caller)

    async def call() -> tuple[list[dict[str, Any]], str]:
        async with Client(server) as client:
            done = [await client.call_tool("judge_videos", {"session_id": "watched"})]
            for named in ("baseline_seed_11/300", str(SECOND), str(FIRST)):
                done.append(await client.call_tool("judge_videos", {"session_id": "watched", "checkpoint": named}))
            return [one.structured_content or {} for one in done], str([one.content for one in done if one.is_error])

    (offered, wrong, chosen, again), errors = anyio.run(call)
    assert offered["to_choose"] == [str(FIRST), str(SECOND), "baseline_seed_10/100"]
    assert len(offered["pictures"]) == 3
    assert "report" not in str(offered["pictures"]), "report rollouts choose nothing"
    assert 'checkpoint="..."' in offered["next_step"]
    assert wrong == again == {}
    assert "baseline_seed_11/300 of iteration 2 is not on offer: choose one of baseline_seed_10/200" in errors
    assert "it has been chosen" in errors
    assert chosen.get("to_choose", []) == []
    assert chosen["next_step"].startswith("Look at the pictures")
    evaluation = by_caller.record("watched").iteration(2).report.read_evaluation()
    assert evaluation is not None
    assert (evaluation.run_id, evaluation.checkpoint, evaluation.purpose) == (SECOND.run_id, 200, Purpose.REPORT)
    assert [accepted for *_, accepted in looks_of(by_caller)] == [False, True, False]


def test_a_caller_has_no_choice_without_a_veto_beside_a_model_or_once_it_has_judged(
    by_caller: Workspace,
) -> None:
    record = by_caller.record("watched")
    assert [str(one) for one in open_choice(by_caller, "watched", 2)][:2] == [str(FIRST), str(SECOND)]
    assert open_choice(by_caller, "watched", 1) == ()
    judgment = record.iteration(1).read_judgment()
    assert judgment is not None
    record.iteration(2).save_judgment(judgment)
    assert open_choice(by_caller, "watched", 2) == ()
    record.iteration(2).judgment_path.unlink()
    record.save_session(record.read_session().model_copy(update={"judge_model": MODEL}))
    assert open_choice(by_caller, "watched", 2) == ()
