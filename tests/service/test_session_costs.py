"""Which models work for a session, what they may cost, and where it went."""

from pathlib import Path

import pytest
from made_up import run_summary
from typer.testing import CliRunner
from wire_stub import CANARY, Reply, Stub, files_with

from p2p.cli.app import app
from p2p.contracts.errors import BudgetExceeded, InvalidInput, UnknownName
from p2p.contracts.inference import AuthenticationFailed, ModelRequest, user
from p2p.contracts.session import Event, EventName, NewSession
from p2p.contracts.spending import Caps
from p2p.service.models.session_models import (
    costs,
    model_variables,
    models_of,
    require_planned_steps,
    seconds_at_work,
    set_caps,
)
from p2p.service.progress.listing import list_sessions
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

PENDULUM = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", model="openai:gpt-5.4")


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, CANARY)
    return Workspace(Settings(runs_dir=tmp_path / "runs", model_silence_s=1))


def test_costs_are_told_by_role_and_iteration(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = create_session(ws, PENDULUM).session_id
    stub = Stub([Reply("Yes.", input_tokens=1_000_000, cached=10, thinking=7), Reply("No."), Reply("Well.")])
    with stub.serving():
        for name, value in stub.environment().items():
            monkeypatch.setenv(name, value)
        models = models_of(ws, session_id)
        for number, (role, iteration) in enumerate([("intent_elicitor", None), ("judge", 1), ("judge", 1)]):
            request = ModelRequest(system="Brief.", messages=(user(f"{number}"),), max_tokens=1_000)
            models.for_role(role, iteration).ask(request)
    found = costs(ws, session_id)
    assert [(row.role, row.iteration, row.calls) for row in found.rows] == [
        ("intent_elicitor", None, 1),
        ("judge", 1, 2),
    ]
    assert found.rows[0].dollars == pytest.approx(2.5, rel=0.01)
    assert (found.total.usage.cached, found.total.usage.thinking, found.total.calls) == (10, 7, 3)
    assert found.models == ("openai:gpt-5.4",)
    shown = CliRunner().invoke(app, ["show", session_id, "--costs", "--runs-dir", str(ws.runs.path)])
    assert shown.exit_code == 0
    assert "intent_elicitor" in shown.output
    assert "$2.50" in shown.output
    assert not files_with(CANARY, ws.runs.path)


def test_a_cap_can_be_raised_and_lifted(ws: Workspace) -> None:
    session_id = create_session(ws, PENDULUM).session_id
    assert set_caps(ws, session_id, dollars=20, calls=None).caps == Caps(dollars=20, calls=None)
    with pytest.raises(InvalidInput, match="caps"):
        set_caps(ws, session_id, dollars=-1)


def test_environment_steps_are_capped_with_those_already_made(ws: Workspace) -> None:
    session = PENDULUM.model_copy(update={"caps": Caps(environment_steps=10_000)})
    session_id = create_session(ws, session).session_id
    require_planned_steps(ws, session_id, 10_000)
    run = ws.record(session_id).iteration(1).run("baseline", 10)
    run.save_summary(run_summary(total_timesteps=3_000, planned_steps=1_000))
    require_planned_steps(ws, session_id, 6_000)
    with pytest.raises(BudgetExceeded, match="4,000 done, 6,001 planned"):
        require_planned_steps(ws, session_id, 6_001)
    assert costs(ws, session_id).trainings[0].environment_steps == 4_000


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        ("gpt-5.4", InvalidInput, "provider:model"),
        ("openia:gpt-5.4", UnknownName, "Did you mean 'openai'"),
        ("openai:gpt-99", InvalidInput, "<<say_price>>"),
        ("gemini:gemini-3-flash-preview", AuthenticationFailed, "GEMINI_API_KEY"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused_before_anything_is_written(
    ws: Workspace, model: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        create_session(ws, PENDULUM.model_copy(update={"model": model}))
    assert list_sessions(ws) == ()


def test_a_driver_is_passed_the_keys_of_its_models_and_no_others() -> None:
    names = model_variables(PENDULUM)
    assert {"OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTPS_PROXY"} <= set(names)
    assert "ANTHROPIC_API_KEY" not in names
    assert model_variables(NewSession(prompt="run")) == ()


def test_time_at_work_leaves_out_the_breaks() -> None:
    times = [("00", EventName.SESSION_STARTED), ("10", EventName.TRAIN_START), ("50", EventName.SESSION_RESUMED)]
    events = [
        Event(seq=number, timestamp=f"2026-01-01T00:00:{second}+00:00", event=name)
        for number, (second, name) in enumerate(times, start=1)
    ]
    assert seconds_at_work(events) == 10
    assert seconds_at_work(events, "2026-01-01T00:00:55+00:00") == 15
    assert seconds_at_work([]) == 0
