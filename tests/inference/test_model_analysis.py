"""Who reports on a session: its model, within the session's caps, or its numbers."""

from collections.abc import Callable
from pathlib import Path

import pytest
from recorded_intents import INTENTS
from session_attempts import ATTEMPTS
from wire_stub import Fault, Step, Stub, answers

from p2p.contracts.intent import Intent
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession
from p2p.contracts.spending import Caps
from p2p.contracts.training import IterationAggregation
from p2p.service.models.session_models import costs
from p2p.service.sessions.analyzing import analyze_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

SENTENCE = "do a backflip and land upright"
REPORT = answers({"analysis": "# Flip\n\nIt falls.", "key_findings": ["Best 0.60"], "recommendations": ["Go on."]})
AGGREGATION = IterationAggregation(
    best_config_id="baseline", best_run_id="baseline_seed_10", best_checkpoint=4096, configs={}
)
Serve = Callable[..., Stub]


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(Settings(runs_dir=tmp_path / "runs", model_silence_s=1))


def judged(ws: Workspace, author: str = "openai:gpt-5.4", caps: Caps | None = None, light: str = "") -> str:
    """A session of three judged iterations."""
    request = NewSession(
        prompt=SENTENCE, env_id="HalfCheetah-v5", author=author, light_model=light, caps=caps or Caps()
    )
    session_id = create_session(ws, request).session_id
    record = ws.record(session_id)
    record.save_criteria(
        Intent.model_validate(
            {"prompt": SENTENCE, "env_id": "HalfCheetah-v5", "criteria": INTENTS["HalfCheetah-v5", SENTENCE]}
        )
    )
    for attempt in ATTEMPTS:
        iteration = record.iteration(attempt.number)
        iteration.save_draft(RewardDraft(source=attempt.source))
        iteration.save_judgment(attempt.judgment)
        iteration.save_aggregation(AGGREGATION)
    return session_id


def test_the_lighter_model_writes_the_report_once_and_is_paid_by_the_session(serve: Serve, ws: Workspace) -> None:
    stub = serve(REPORT)
    session_id = judged(ws, light="openai:gpt-5.4-mini")
    report = analyze_session(ws, session_id)
    assert (report.written_by, report.fallback) == ("openai:gpt-5.4-mini", "")
    assert (report.iterations, report.key_findings) == (3, ("Best 0.60",))
    assert analyze_session(ws, session_id) == report
    assert stub.remaining() == 0
    assert [(row.role, row.calls) for row in costs(ws, session_id).rows] == [("session_analyzer", 1)]


@pytest.mark.parametrize("fault", [Fault.UNAUTHORIZED, Fault.REFUSAL], ids=["401", "refusal"])
def test_where_the_model_fails_the_numbers_speak_and_the_reason_is_told(
    fault: Step, serve: Serve, ws: Workspace
) -> None:
    serve(fault, repeat_last=True)
    report = analyze_session(ws, judged(ws))
    assert report.written_by == "builtin"
    assert report.fallback
    assert report.key_findings[0].startswith("Best: iteration 2")


def test_no_call_is_made_past_a_cap(serve: Serve, ws: Workspace) -> None:
    stub = serve(REPORT)
    session_id = judged(ws, caps=Caps(tokens=10))
    report = analyze_session(ws, session_id)
    assert report.written_by == "builtin"
    assert "token" in report.fallback
    assert stub.remaining() == 1
    assert costs(ws, session_id).total.calls == 0


def test_a_session_of_the_built_in_author_asks_nobody(ws: Workspace) -> None:
    report = analyze_session(ws, judged(ws, author="builtin"))
    assert (report.written_by, report.fallback) == ("builtin", "")
