"""A session's models: caps, the ledger, answers that are kept, and keys that are not."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from wire_stub import CANARY, TRANSPORT, Fault, Reply, Stub, calls, files_with, says

from p2p.contracts.errors import BudgetExceeded, InvalidInput
from p2p.contracts.inference import (
    AuthenticationFailed,
    ImagePart,
    ModelProblem,
    ModelRefused,
    ModelRequest,
    ModelTimeout,
    RateLimited,
    ReplyMalformed,
    ReplyTruncated,
    user,
)
from p2p.contracts.session import EventName
from p2p.contracts.spending import Caps
from p2p.inference.client import SessionModels
from p2p.inference.retry import Patience
from p2p.store.events import EventLog

Serve = Callable[..., Stub]
Make = Callable[..., SessionModels]


def asked(text: str = "Hello?", **more: Any) -> ModelRequest:
    return ModelRequest(system="You are brief.", messages=(user(text),), **more)


def test_every_call_is_an_event_that_leads_to_its_whole_text(
    serve: Serve, session_models: Make, model_name: str, tmp_path: Path
) -> None:
    serve(Reply(text="Yes.", input_tokens=1_000, output_tokens=500, cached=2_000, thinking=300))
    models = session_models(model_name)
    models.for_role("reward_author", 2).ask(asked())
    (event,) = EventLog(tmp_path / "events.jsonl").read()
    assert (event.event, event.iteration) == (EventName.LLM_CALL, 2)
    assert event.duration_ms is not None
    assert f"{event.data['provider']}:{event.data['model']}" == model_name
    assert event.data["role"] == "reward_author"
    assert event.data["tokens"]["thinking"] == 300  # type: ignore[index]
    (line,) = models.ledger.lines()
    assert event.data["dollars"] == line.dollars
    assert line.dollars == pytest.approx(sum(_dollars(model_name)))
    record = models.ledger.read(int(str(event.data["number"])))
    assert record is not None
    assert record.reply is not None
    assert (record.request.messages, record.reply.text) == (asked().messages, "Yes.")


def _dollars(model_name: str) -> tuple[float, float, float]:
    """1000 tokens read, 500 written, 2000 from the cache, at the prices of the table [dollars]."""
    return {
        "anthropic": (0.004, 0.010, 0.0004),
        "gemini": (0.002, 0.006, 0.0004),
        "openai": (0.0025, 0.0075, 0.0005),
    }[model_name.split(":")[0]]


def test_the_same_request_is_paid_once_also_by_another_process(
    serve: Serve, session_models: Make, model_name: str, tmp_path: Path
) -> None:
    stub = serve(says("Once."), says("Twice."))
    assert session_models(model_name).for_role("reviewer").ask(asked()).text == "Once."
    assert session_models(model_name).for_role("reviewer").ask(asked()).text == "Once."
    assert len(stub.seen) == 1
    assert session_models(model_name).for_role("reviewer").ask(asked(sample=1)).text == "Twice."
    told = [event.data for event in EventLog(tmp_path / "events.jsonl").read()]
    assert [(data["reused"], data["dollars"] == 0) for data in told] == [(False, False), (True, True), (False, False)]


@pytest.mark.parametrize("fault", [Fault.REFUSAL, Fault.TRUNCATED])
def test_a_bad_answer_is_not_kept_for_the_next_time(serve: Serve, session_models: Make, fault: Fault) -> None:
    serve(fault, says("Well then."))
    model = session_models().for_role("reviewer")
    with pytest.raises((ModelRefused, ReplyTruncated)):
        model.ask(asked())
    assert model.ask(asked()).text == "Well then."


def test_an_empty_answer_is_asked_for_once_more(serve: Serve, session_models: Make, model_name: str) -> None:
    serve(Fault.EMPTY, says("Sorry: yes."), Fault.EMPTY, Fault.EMPTY)
    model = session_models(model_name).for_role("reviewer")
    assert model.ask(asked()).text == "Sorry: yes."
    with pytest.raises(ReplyMalformed, match="empty"):
        model.ask(asked("Once more?"))


@pytest.mark.parametrize("fault", TRANSPORT)
def test_a_fault_that_passes_is_waited_for(serve: Serve, session_models: Make, model_name: str, fault: Fault) -> None:
    stub = serve(fault, says("Here I am."))
    models = session_models(model_name, silence_s=0.3)
    assert models.for_role("reviewer").ask(asked()).text == "Here I am."
    assert len(stub.seen) == 2
    record = models.ledger.read(1)
    assert record is not None
    assert len(record.retries) == 1


@pytest.mark.parametrize("fault", TRANSPORT)
def test_a_fault_that_stays_ends_in_an_error_with_its_name(
    serve: Serve, session_models: Make, model_name: str, fault: Fault
) -> None:
    stub = serve(fault, repeat_last=True)
    models = session_models(model_name, silence_s=1.0)
    with pytest.raises(ModelProblem):
        models.for_role("reviewer").ask(asked())
    assert len(stub.seen) == 3
    (line,) = models.ledger.lines()
    assert line.state == "failed"
    assert line.problem


def test_a_wrong_key_is_not_tried_again(serve: Serve, session_models: Make, model_name: str) -> None:
    stub = serve(Fault.UNAUTHORIZED, repeat_last=True)
    with pytest.raises(AuthenticationFailed):
        session_models(model_name).for_role("reviewer").ask(asked())
    assert len(stub.seen) == 1


def test_a_wait_that_is_longer_than_the_patience_is_not_begun(serve: Serve, session_models: Make) -> None:
    serve(Fault.RATE_LIMITED, retry_after_s=3600)
    with pytest.raises(RateLimited, match="limit of 20 s"):
        session_models().for_role("reviewer").ask(asked())


def test_an_answer_that_trickles_in_is_given_up_in_time(serve: Serve, session_models: Make, model_name: str) -> None:
    serve(Fault.DRIP, repeat_last=True)
    beats: list[int] = []
    models = session_models(model_name, patience=Patience(attempts=3, total_s=0.5), heartbeat=lambda: beats.append(1))
    with pytest.raises(ModelTimeout):
        models.for_role("reviewer").ask(asked())


def test_no_call_is_made_that_might_pass_the_cap_in_dollars(
    serve: Serve, session_models: Make, model_name: str
) -> None:
    stub = serve(Reply(text="Yes.", input_tokens=15_000, output_tokens=9_000), repeat_last=True)
    models = session_models(model_name, caps=Caps(dollars=0.5))

    def ask_on() -> None:
        for number in range(50):
            models.for_role("reviewer").ask(asked(f"Number {number}? {'word ' * 11_000}", max_tokens=10_000))

    with pytest.raises(BudgetExceeded, match=r"\$0\.5 is reached"):
        ask_on()
    assert 1 < len(stub.seen) < 10
    assert sum(line.dollars or 0 for line in models.ledger.lines()) <= 0.5


def test_the_last_answer_is_as_long_as_the_cap_leaves(serve: Serve, session_models: Make) -> None:
    stub = serve(Reply(text="Yes.", input_tokens=10, output_tokens=2_000), Fault.TRUNCATED)
    models = session_models(caps=Caps(tokens=4_000))
    models.for_role("reviewer").ask(asked(max_tokens=3_000))
    with pytest.raises(BudgetExceeded, match="cut off"):
        models.for_role("reviewer").ask(asked("More?", max_tokens=3_000))
    assert stub.seen[1].max_tokens < 2_000
    with pytest.raises(BudgetExceeded, match="tokens"):
        models.for_role("reviewer").ask(asked("Even more?" * 500, max_tokens=3_000))


def test_calls_and_time_are_capped_too(serve: Serve, session_models: Make) -> None:
    stub = serve(says("Yes."), repeat_last=True)
    models = session_models(caps=Caps(calls=1))
    models.for_role("reviewer").ask(asked())
    with pytest.raises(BudgetExceeded, match="1 calls"):
        models.for_role("reviewer").ask(asked("Again?"))
    late = session_models(caps=Caps(minutes=1), seconds_at_work=lambda: 61.0)
    with pytest.raises(BudgetExceeded, match="1 minutes"):
        late.for_role("reviewer").ask(asked("Again?"))
    assert len(stub.seen) == 1


def test_a_model_without_a_price_needs_a_cap_in_tokens(serve: Serve, session_models: Make) -> None:
    serve(says("Yes."))
    with pytest.raises(InvalidInput, match="<<set_cap cap=tokens>>"):
        session_models("openai:gpt-99").for_role("reviewer").ask(asked())
    models = session_models("openai:gpt-99", caps=Caps(tokens=50_000))
    models.for_role("reviewer").ask(asked())
    assert models.ledger.lines()[-1].dollars is None


def test_small_tasks_go_to_the_lighter_model(serve: Serve, session_models: Make) -> None:
    stub = serve(says("Yes."), says("Yes."))
    models = session_models(light_model="gemini:gemini-3-flash-preview")
    models.for_role("lesson_writer", light=True).ask(asked())
    models.for_role("reward_author").ask(asked())
    assert [seen.model for seen in stub.seen] == ["gemini-3-flash-preview", "claude-opus-5-5"]


def test_no_key_and_no_picture_reaches_a_file(
    serve: Serve, session_models: Make, model_name: str, tmp_path: Path
) -> None:
    serve(says(f"Your key is {CANARY}."), Fault.UNAUTHORIZED, calls("steal", key=CANARY))
    models = session_models(model_name)
    picture = ImagePart(media_type="image/jpeg", data="cGljdHVyZQ" * 50)
    request = ModelRequest(system=f"Never say {CANARY}", messages=(user(f"My key is {CANARY}", picture),))
    models.for_role("reviewer").ask(request)
    with pytest.raises(AuthenticationFailed):
        models.for_role("reviewer").ask(asked("Again?"))
    models.for_role("reviewer").complete(asked("And again?"))
    assert not files_with(CANARY, tmp_path)
    assert not files_with("cGljdHVyZQ" * 50, tmp_path)
    assert files_with("_API_KEY]", tmp_path)


def test_the_instructions_of_a_process_that_is_killed_are_counted_at_their_most(
    serve: Serve, session_models: Make, tmp_path: Path
) -> None:
    stub = serve(Fault.HANG, says("Yes."))
    code = f"""
        from pathlib import Path
        from p2p.contracts.inference import ModelChoice
        from p2p.contracts.spending import Caps
        from p2p.contracts.inference import ModelRequest, user
        from p2p.inference.client import SessionModels
        from p2p.store.calls import CallLedger
        from p2p.store.events import EventLog
        here = Path({str(tmp_path)!r})
        choice = ModelChoice(model="anthropic:claude-opus-5-5", caps=Caps())
        models = SessionModels(choice, CallLedger(here), EventLog(here / "events.jsonl"))
        request = ModelRequest(system="You are brief.", messages=(user("Hello?"),))
        models.for_role("reviewer").ask(request)
    """
    killed = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
    while not stub.seen:
        assert killed.poll() is None
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    models = session_models()
    (line,) = models.ledger.lines()
    assert line.state == "begun"
    assert line.usage.output == asked().max_tokens
    assert models.for_role("reviewer").ask(asked()).text == "Yes."
    both = models.ledger.lines()
    assert [line.number for line in both] == [1, 2]
    assert (both[0].dollars or 0) > (both[1].dollars or 0) > 0


def test_a_crash_between_the_answer_and_the_ledger_loses_neither(
    serve: Serve, session_models: Make, tmp_path: Path
) -> None:
    stub = serve(says("Kept."), says("Paid again."))
    models = session_models()
    models.for_role("reviewer").ask(asked())
    ledger = next(tmp_path.rglob("ledger.jsonl"))
    lines = ledger.read_text().splitlines()
    ledger.write_text(lines[0] + "\n" + lines[1][: len(lines[1]) // 2])
    again = session_models()
    assert again.for_role("reviewer").ask(asked()).text == "Kept."
    assert len(stub.seen) == 1
    assert again.ledger.lines()[0].state == "ended"
    assert again.for_role("reviewer").ask(asked("Next?")).text == "Paid again."
    assert json.loads(ledger.read_text().splitlines()[-1])["number"] == 2
