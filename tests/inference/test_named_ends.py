"""How a session ends when its model fails it, and that it goes on from there once the cause is gone.

Nothing is trained: the cap on environment steps ends it where the reward is there.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pole_answers import UP, UPRIGHT, WRONG
from shared_sessions import BALANCE
from wire_formats import Reply
from wire_stub import Fault, Stub, answers

from p2p.contracts.session import NewSession, SessionStatus
from p2p.contracts.spending import Caps
from p2p.service.models.session_models import costs, set_caps
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.session.run_session import drive
from p2p.settings import Settings

pytestmark = pytest.mark.slow
Serve = Callable[..., Stub]
CRITERIA = answers({"criteria": [UP], "episode_s": 5.0})
GOOD = answers({"source": UPRIGHT, "reasoning": "up"})
APPROVED = answers({"approved": True, "reasoning": "fine"})
FORBIDDEN = ("os", "sys", "socket", "subprocess", "shutil", "pathlib")
"""Imports of six rewards, each refused by its check."""


def script(*rewards: Reply | Fault, elicitor: Reply | None = CRITERIA) -> Mapping[str, Any]:
    """What each role answers."""
    return {
        "You turn one sentence": [elicitor] if elicitor else [],
        "You write reward functions": list(rewards),
        "You review a reward": [APPROVED],
    }


def refused(module: str) -> Reply:
    return answers({"source": WRONG.replace("import os", f"import {module}"), "reasoning": "alive"})


def begun(tmp_path: Path, calls: int = 100) -> tuple[Workspace, str]:
    ws = Workspace(Settings(runs_dir=tmp_path / "runs", model_patience_s=5, model_silence_s=2))
    request = NewSession(
        prompt=BALANCE,
        env_id="InvertedPendulum-v5",
        author="openai:gpt-5.4",
        n_seeds=1,
        caps=Caps(environment_steps=1, calls=calls),
    )
    return ws, create_session(ws, request).session_id


def end_of(ws: Workspace, session_id: str) -> tuple[SessionStatus, str]:
    drive(ws, session_id)
    status = ws.record(session_id).read_status()
    assert status is not None
    return status.status, status.error or ""


def goes_on(ws: Workspace, session_id: str, serve: Serve, *rewards: Reply) -> None:
    """Drives it again, with a model that answers: the criteria are not asked for again, and the reward is accepted."""
    stub = serve(by_prompt=script(*rewards, elicitor=None))
    assert end_of(ws, session_id)[0] is SessionStatus.BUDGET
    report = ws.record(session_id).iteration(1).read_reward_report()
    assert report is not None
    assert report.accepted
    assert stub.remaining() <= 1  # a repair is not reviewed
    paid = {row.role: row.calls - row.failed for row in costs(ws, session_id).rows}
    assert paid["intent_elicitor"] == 1


@pytest.mark.parametrize(
    ("fault", "status"),
    [(Fault.UNAUTHORIZED, SessionStatus.AUTH_ERROR), (Fault.RATE_LIMITED, SessionStatus.RATE_LIMITED)],
    ids=["401", "429"],
)
def test_a_provider_that_does_not_serve_ends_it_by_name(
    fault: Fault, status: SessionStatus, serve: Serve, tmp_path: Path
) -> None:
    serve(by_prompt=script(fault), repeat_last=True, retry_after_s=3600)
    ws, session_id = begun(tmp_path)
    assert end_of(ws, session_id)[0] is status
    assert ws.record(session_id).read_criteria() is not None
    goes_on(ws, session_id, serve, GOOD)


def test_a_cap_ends_it_before_the_call_that_would_pass_it(serve: Serve, tmp_path: Path) -> None:
    stub = serve(by_prompt=script(GOOD))
    ws, session_id = begun(tmp_path, calls=1)
    status, error = end_of(ws, session_id)
    assert (status, stub.remaining()) == (SessionStatus.BUDGET, 2)
    assert "calls" in error
    set_caps(ws, session_id, calls=100)
    goes_on(ws, session_id, serve, GOOD)


@pytest.mark.nightly
def test_five_mended_rewards_that_are_refused_end_it_as_invalid_code(serve: Serve, tmp_path: Path) -> None:
    stub = serve(by_prompt=script(*map(refused, FORBIDDEN)))
    ws, session_id = begun(tmp_path)
    status, error = end_of(ws, session_id)
    assert (status, stub.remaining()) == (SessionStatus.INVALID_CODE, 0)
    assert "pathlib" in error
    goes_on(ws, session_id, serve, GOOD)


@pytest.mark.nightly
def test_a_repeated_mistake_is_paid_once_until_the_session_is_resumed(serve: Serve, tmp_path: Path) -> None:
    serve(by_prompt=script(refused("os")), repeat_last=True)
    ws, session_id = begun(tmp_path)
    assert end_of(ws, session_id)[0] is SessionStatus.INVALID_CODE
    author = next(row for row in costs(ws, session_id).rows if row.role == "reward_author")
    assert author.calls == 2
    goes_on(ws, session_id, serve, GOOD)
