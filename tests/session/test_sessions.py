import time
from typing import Any

import pytest
from shared_sessions import BALANCE

from p2p.contracts.errors import InvalidConfig, InvalidInput, UnknownName, UnknownPhrase
from p2p.contracts.intent import Category, Comparison, Criterion, Predicate, Statistic
from p2p.contracts.session import Event, EventName, NewSession, SessionStatus, SessionView
from p2p.service.progress.listing import list_sessions
from p2p.service.progress.metrics import metrics
from p2p.service.progress.session_view import view_session
from p2p.service.rewards.caller_revision import revision_brief
from p2p.service.rewards.criteria import intent_of
from p2p.service.sessions.driving import resume_session, start_session, stop_session
from p2p.service.sessions.lifecycle import create_session, preview
from p2p.service.workspace import Workspace

TINY = {"total_timesteps": 4_000, "num_evals": 2, "n_eval_episodes": 3}
PENDULUM = NewSession(prompt=BALANCE, env_id="InvertedPendulum-v5", n_report_rollouts=10, config=TINY, max_iterations=2)


def _to_end(ws: Workspace, session_id: str) -> SessionView:
    view = start_session(ws, session_id)
    while view.alive:
        time.sleep(0.1)
        view = view_session(ws, session_id)
    return view


@pytest.mark.parametrize(
    ("request_", "error", "message"),
    [
        (NewSession(prompt="", env_id="HalfCheetah-v5"), InvalidInput, "Say what to do"),
        (NewSession(prompt="run", env_id="HalfCheetha-v5"), InvalidInput, "Did you mean 'HalfCheetah-v5'"),
        (NewSession(prompt="juggle", env_id="HalfCheetah-v5"), UnknownPhrase, "juggle"),
        (NewSession(prompt="jump", env_id="Swimmer-v5"), UnknownPhrase, "jump"),
        (NewSession(prompt="run", config={"learning_rte": 1}), InvalidConfig, "did you mean 'learning_rate'"),
        (NewSession(prompt="run", config={"gamma": 2}), InvalidConfig, "gamma"),
        (NewSession(prompt="run", configs={"a": {"n_envs": 0}}), InvalidConfig, "n_envs"),
        (NewSession(prompt="run", author="oracle"), UnknownName, "author"),
        (NewSession(prompt="run", config={"end_when": ["pich >= 1"]}), InvalidConfig, "Did you mean 'pitch'"),
        (NewSession(prompt="run", config={"end_when": ["command_velocity_x >= 1"]}), InvalidConfig, "does not measure"),
        (
            NewSession(prompt="run", config={"start_states": {"planned": {"goal": ["pich >= 1"]}}}),
            InvalidConfig,
            "start_states.planned.goal: 'pich', which HalfCheetah-v5 does not measure",
        ),
    ],
)
def test_a_request_that_cannot_work_is_refused_and_leaves_nothing(
    ws: Workspace, request_: NewSession, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        create_session(ws, request_)
    assert list_sessions(ws) == ()
    assert [path for path in ws.runs.path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    "asked",
    [
        {"prompt": "follow velocity commands"},
        {"prompt": "do as told", "author": "openai:gpt-5.4"},
        {"prompt": "run", "config": {"commands": {"velocity_x": [0.0, 1.0]}}},
    ],
)
def test_trainings_may_end_by_a_command_where_there_is_one_or_may_be(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    ends = {"end_when": ["velocity_error - command_velocity_x >= 1"], **asked.get("config", {})}
    request = NewSession.model_validate({"env_id": "Hopper-v5", **asked, "config": ends})
    assert preview(ws, request).env_id == "Hopper-v5"
    assert create_session(ws, request).config == ends


def test_without_a_sentence_no_verdict_can_be_clear(ws: Workspace) -> None:
    with pytest.raises(InvalidInput, match="Give a sentence, or leave out stop_when_clear"):
        create_session(ws, NewSession(author="given", stop_when_clear=True), reward="x = 1\n")
    assert list_sessions(ws) == ()


@pytest.mark.parametrize(
    ("asked", "ends"),
    [
        ({"prompt": "walk forward"}, True),
        ({"prompt": "run forward as fast as you can"}, False),
        ({"prompt": "jump as high as you can, then stand still"}, False),
        ({"prompt": "walk forward", "stop_when_clear": False}, False),
        ({"prompt": "run forward as fast as you can", "stop_when_clear": True}, True),
        ({"prompt": "walk forward", "author": "given"}, False),
    ],
)
def test_trainings_end_when_their_verdict_is_clear_unless_more_is_better(
    ws: Workspace, asked: dict[str, str | bool], ends: bool
) -> None:
    request = NewSession.model_validate({"env_id": "Hopper-v5", **asked})
    session = create_session(ws, request, reward="x = 1\n" if request.author == "given" else None)
    assert session.stop_when_clear is ends
    assert preview(ws, request).config["stop_at_score"] == (0.8 if ends else None)


@pytest.mark.slow
def test_what_does_not_pass_is_revised_by_at_most_two_changes_and_ends_without_passing(ws: Workspace) -> None:
    request = NewSession(
        prompt="run forward as fast as you can for 2 seconds",
        n_seeds=1,
        n_report_rollouts=10,
        config=TINY,
        max_iterations=2,
    )
    session_id = create_session(ws, request).session_id
    view = _to_end(ws, session_id)
    assert view.status is SessionStatus.MAX_ITERATIONS
    assert [entry.verdict for entry in view.history] == ["failed", "failed"]
    assert 1 <= len(view.history[1].changes) <= 2
    assert view.history[1].based_on == 1
    reports = [ws.record(session_id).iteration(n).report.read_evaluation() for n in (1, 2)]
    seeds = [rollout.seed for report in reports if report is not None for rollout in report.rollouts]
    assert len(set(seeds)) == 20, "no iteration is judged on starts that an earlier one was judged on"
    lineage = ws.record(session_id).read_lineage()
    assert [entry.parent for entry in lineage.iterations.values()] == [None, 1]
    with pytest.raises(InvalidInput, match="has ended as max_iterations"):
        resume_session(ws, session_id)


@pytest.mark.slow
@pytest.mark.nightly
def test_a_session_whose_verdict_is_clear_early_saves_steps_and_is_judged_as_always(ws: Workspace) -> None:
    request = PENDULUM.model_copy(
        update={
            "config": {"total_timesteps": 8_000, "num_evals": 4, "n_eval_episodes": 16},
            "n_seeds": 1,
            "stop_when_clear": True,
        }
    )
    slow_cart = Predicate(
        statistic=Statistic.MAX,
        feature="velocity_x",
        comparison=Comparison.AT_MOST,
        threshold=1e6,
        unit="m/s",
        margin=1.0,
    )
    easy = Criterion(key="slow", title="slow", description="", category=Category.STABILITY, predicate=slow_cart)
    intent = intent_of(ws, request.prompt, request.env_id, (easy,), 1.0)
    session_id = create_session(ws, request, intent=intent).session_id
    view = _to_end(ws, session_id)
    assert view.status is SessionStatus.PASSED
    (run,), (line,) = view.runs, view.history
    assert run.early_stop is not None
    assert (run.step, line.steps_saved) == (run.early_stop.step, run.early_stop.steps_saved)
    assert run.early_stop.step < 8_000 <= run.early_stop.planned
    assert view.judgment is not None
    assert view.judgment.n_rollouts == 10
    judged = [event.data["clear"] for event in _events(ws, session_id, EventName.CHECKPOINT_JUDGED)]
    assert judged == [True, True]
    assert revision_brief(ws, session_id).early_stop == run.early_stop
    assert metrics(ws, session_id).runs[0].early_stop == run.early_stop


def _events(ws: Workspace, session_id: str, name: EventName) -> list[Event]:
    return [event for event in ws.record(session_id).events.read() if event.event is name]


@pytest.mark.slow
def test_a_stopped_session_goes_on_where_it_was(ws: Workspace) -> None:
    longer = PENDULUM.model_copy(
        update={"config": {**TINY, "total_timesteps": 16_000}, "max_iterations": 1, "n_seeds": 1}
    )
    session_id = create_session(ws, longer).session_id
    start_session(ws, session_id)
    while not any(run.step for run in view_session(ws, session_id).runs):
        time.sleep(0.1)
    stopped = stop_session(ws, session_id)
    assert stopped.status is SessionStatus.CANCELLED
    assert not stopped.alive
    assert {run.state for run in stopped.runs} == {"cancelled"}
    resume_session(ws, session_id)
    assert _to_end(ws, session_id).status in (SessionStatus.PASSED, SessionStatus.MAX_ITERATIONS)
    names = [event.event for event in ws.record(session_id).events.read()]
    assert names.count(EventName.REWARD_END) == 1
    assert EventName.SESSION_RESUMED in names


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param("def reward_fn(obs, action, next_obs, info:\n", "line 1", id="syntax"),
        pytest.param(
            "def reward_fn(obs, action, next_obs, info):\n    return np.nan, {'bad': np.nan}\n", "bad", id="nan"
        ),
    ],
)
def test_a_bad_reward_is_named_and_never_trained(ws: Workspace, source: str, message: str) -> None:
    request = NewSession(env_id="HalfCheetah-v5", author="given", max_iterations=1, config=TINY)
    session_id = create_session(ws, request, reward=source).session_id
    view = _to_end(ws, session_id)
    assert view.status is SessionStatus.INVALID_CODE
    assert message in (view.error or "")
    assert view.runs == ()


@pytest.mark.slow
def test_a_reward_that_breaks_while_training_ends_the_session_with_its_term_and_step(ws: Workspace) -> None:
    source = (
        "def reward_fn(obs, action, next_obs, info):\n"
        "    late = np.nan if info['time'] > 4.8 else 1.0\n"
        "    return late, {'late': late}\n"
    )
    request = NewSession(env_id="HalfCheetah-v5", author="given", max_iterations=1, config={**TINY, "episode_s": 5.0})
    session_id = create_session(ws, request, reward=source).session_id
    view = _to_end(ws, session_id)
    assert view.status in (SessionStatus.ERROR, SessionStatus.INVALID_CODE)
    assert "late" in (view.error or "")
