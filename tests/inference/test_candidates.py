"""Several rewards for one iteration: written by a scripted model, with real checks and real short trainings."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pole_answers import FALLING, UP, UPRIGHT, WRONG
from shared_sessions import BALANCE
from typer.testing import CliRunner
from wire_formats import Reply
from wire_stub import CANARY, Fault, Stub, answers, files_with

from p2p.cli.app import app
from p2p.contracts.inference import ModelRefused
from p2p.contracts.reward import CandidateState, Revision
from p2p.contracts.session import EventName, NewSession, SessionStatus
from p2p.contracts.spending import Caps
from p2p.contracts.training import Purpose, first_seed
from p2p.service.models import session_models
from p2p.service.progress.details import view_iteration
from p2p.service.rewards.candidates import choose_reward
from p2p.service.rewards.writing import elicit_intent, write_reward
from p2p.service.sessions.driving import stop_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.session.run_session import drive
from p2p.settings import Settings
from p2p.store import layout
from p2p.store.iterations import CandidateRecords

pytestmark = pytest.mark.slow
Serve = Callable[..., Stub]
STEPS = 61_440
TRIAL = 6144
APPROVED = answers({"approved": True, "reasoning": "fine"})
CHOOSE = (
    "import sys; from p2p.service import steps; from p2p.service.workspace import Workspace;"
    "steps.choose_reward(Workspace(), sys.argv[1], 1)"
)


def wrote(source: str, reasoning: str = "as told") -> Reply:
    return answers({"source": source, "reasoning": reasoning})


def script(*rewards: Reply | Fault) -> Mapping[str, Any]:
    """What each role answers."""
    return {
        "You turn one sentence": [answers({"criteria": [UP], "episode_s": 5.0})],
        "You write reward functions": list(rewards),
        "You review a reward": [APPROVED] * len(rewards),
    }


def begun(tmp_path: Path, candidates: int = 2, **caps: Any) -> tuple[Workspace, str]:
    ws = Workspace(Settings(runs_dir=tmp_path / "runs", model_patience_s=5, model_silence_s=2))
    request = NewSession(
        prompt=BALANCE,
        env_id="InvertedPendulum-v5",
        author="anthropic:claude-opus-5-5",
        candidates=candidates,
        n_seeds=1,
        max_iterations=1,
        n_report_rollouts=10,
        config={"total_timesteps": STEPS, "num_evals": 2, "n_eval_episodes": 5},
        caps=Caps(**caps),
    )
    session_id = create_session(ws, request).session_id
    return ws, session_id


def asked(stub: Stub, role: str) -> list[str]:
    """The questions to a role, in order."""
    return [seen.last for seen in stub.seen if role in seen.system]


def test_the_better_of_two_rewards_is_trained_and_the_other_leaves_a_lesson(serve: Serve, tmp_path: Path) -> None:
    stub = serve(by_prompt=script(wrote(FALLING, "leaning"), wrote(UPRIGHT, "upright")))
    ws, session_id = begun(tmp_path)
    code = drive(ws, session_id)
    record = ws.record(session_id)
    status = record.read_status()
    assert status is not None
    assert (code, status.status) == (0, SessionStatus.PASSED), status.error
    assert record.iteration(1).read_draft().source == UPRIGHT

    choice = view_iteration(ws, session_id, 1).candidates
    leaning, upright = choice.candidates
    assert choice.chosen == 2
    assert [one.state for one in choice.candidates] == [CandidateState.TRAINED] * 2
    assert leaning.score < upright.score
    assert leaning.environment_steps == upright.environment_steps == TRIAL

    questions = asked(stub, "You write reward functions")
    assert "number 1 of 2" in questions[0]
    assert "number 2 of 2" in questions[1]
    costs = session_models.costs(ws, session_id)
    short, whole = costs.trainings
    assert (short.candidates, short.environment_steps) == (2, 2 * TRIAL)
    assert (whole.candidates, whole.iteration) == (0, 1)
    calls = {(row.role, row.iteration): row.calls for row in costs.rows}
    assert calls["reward_author", 1] == calls["code_review", 1] == 2

    (lesson,) = (lesson for lesson in record.read_lineage().lessons if lesson.tier == "SOFT")
    assert "candidate 1 of 2 (lean)" in lesson.text
    assert f"{TRIAL:,} steps" in lesson.text
    seeds = _seeds(CandidateRecords(record.iteration(1)))
    assert seeds
    assert all(seed < first_seed(Purpose.REPORT, 0) for seed in seeds)
    shown = CliRunner().invoke(app, ["show", session_id, "--runs-dir", str(ws.runs.path)])
    assert "2, chosen" in shown.output
    assert not files_with(CANARY, tmp_path)


def _seeds(kept: CandidateRecords) -> list[int]:
    found = [checkpoint.read_evaluation() for run in kept.runs() for checkpoint in run.checkpoints()]
    return [rollout.seed for evaluation in found if evaluation is not None for rollout in evaluation.rollouts]


@pytest.mark.nightly
def test_a_choice_that_was_killed_twice_pays_and_trains_nothing_again(serve: Serve, tmp_path: Path) -> None:
    stub = serve(by_prompt=script(wrote(FALLING), wrote(UPRIGHT)))
    ws, session_id = begun(tmp_path)
    elicit_intent(ws, session_id)
    record = ws.record(session_id)
    kept = CandidateRecords(record.iteration(1))
    _killed_when(ws, session_id, lambda: kept.first(1).read_reward_report() is not None)
    stop_session(ws, session_id)
    assert all(ws.backend.status(place).state.finished for place in kept.job_dirs() if (place / layout.JOB).exists())
    _killed_when(ws, session_id, lambda: any(run.read_status() is not None for run in kept.runs()))
    choice = choose_reward(ws, session_id, 1)
    assert choice is not None
    assert choice.chosen == 2
    assert stub.remaining() == 0
    assert len(asked(stub, "You write reward functions")) == 2
    for run in kept.runs():
        steps = [row["global_step"] for row in run.parse_scalars()[0]]
        assert steps == sorted(set(steps))
    before = sum(cost.environment_steps for cost in session_models.costs(ws, session_id).trainings)
    assert before == 2 * TRIAL
    record.iteration(1).draft_path.unlink()  # killed while the chosen one was taken over
    assert choose_reward(ws, session_id, 1) == choice
    assert choose_reward(ws, session_id, 1) is None
    assert record.iteration(1).read_draft().source == UPRIGHT
    ends = [event for event in record.events.read() if event.event is EventName.CANDIDATES_END]
    assert len(ends) == 1


def _killed_when(ws: Workspace, session_id: str, condition: Callable[[], bool]) -> None:
    """Another process chooses, and is killed as soon as something is there."""
    environment = {**os.environ, "P2P_RUNS_DIR": str(ws.runs.path)}
    process = subprocess.Popen([sys.executable, "-c", CHOOSE, session_id], env=environment)
    try:
        while not condition():
            assert process.poll() is None, "it ended by itself"
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()


def test_refused_and_missing_rewards_leave_one_that_is_mended_as_a_single_one_would_be(
    serve: Serve, tmp_path: Path
) -> None:
    again = wrote(WRONG.replace("import os", "import sys"))
    stub = serve(by_prompt=script(Fault.REFUSAL, wrote(WRONG), again, wrote(UPRIGHT)))
    ws, session_id = begun(tmp_path)
    choice = choose_reward(ws, session_id, 1)
    assert choice is not None
    assert [one.state for one in choice.candidates] == [CandidateState.UNWRITTEN, CandidateState.REFUSED]
    assert (choice.chosen, choice.candidates[1].mended) == (2, True)
    assert len(asked(stub, "You write reward functions")) == 3  # mended once
    assert write_reward(ws, session_id, 1).accepted
    assert ws.record(session_id).iteration(1).read_draft().source == UPRIGHT
    shown = CliRunner().invoke(app, ["show", session_id, "--iteration", "1", "--runs-dir", str(ws.runs.path)])
    assert "unwritten" in shown.output
    assert "candidate 2: error" in shown.output


def test_a_revision_is_the_first_candidate_and_the_others_answer_the_same_diagnosis(
    serve: Serve, tmp_path: Path
) -> None:
    stub = serve(by_prompt=script(wrote(UPRIGHT)))
    ws, session_id = begun(tmp_path, environment_steps=STEPS)  # nothing is trained
    revision = Revision(
        based_on=1, diagnosis="It leans.", lesson="", changes=(), source=FALLING, config_changes={"gamma": 0.98}
    )
    record = ws.record(session_id)
    record.iteration(1).save_revision(revision)
    choice = choose_reward(ws, session_id, 2)
    assert choice is not None
    assert [one.state for one in choice.candidates] == [CandidateState.NO_ROOM] * 2
    assert choice.candidates[0].terms == ("lean",)
    (question,) = asked(stub, "You write reward functions")
    assert "number 2 of 2" in question
    assert "It leans." in question
    drafts = [CandidateRecords(record.iteration(2)).first(number).read_draft() for number in (1, 2)]
    assert [draft.config_changes for draft in drafts] == [{"gamma": 0.98}] * 2
    assert {row.role: row.iteration for row in session_models.costs(ws, session_id).rows}["reward_author"] == 2


def test_where_the_model_writes_none_its_problem_is_told(serve: Serve, tmp_path: Path) -> None:
    serve(by_prompt=script(Fault.REFUSAL, Fault.REFUSAL))
    ws, session_id = begun(tmp_path)
    with pytest.raises(ModelRefused):
        choose_reward(ws, session_id, 1)
