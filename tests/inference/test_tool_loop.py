"""One loop for all roles: what a model calls is answered, also when it cannot be done, and it comes to an end."""

from collections.abc import Callable
from pathlib import Path

import pytest
from wire_stub import TRANSPORT, Fault, Reply, Stub, calls, says

from p2p.contracts.base import Contract
from p2p.contracts.errors import BudgetExceeded
from p2p.contracts.inference import ImagePart, ModelRefused, ModelRequest, ReplyMalformed, ReplyTruncated, user
from p2p.contracts.session import EventName
from p2p.contracts.spending import Caps
from p2p.inference.client import SessionModels
from p2p.inference.tool_loop import MAX_RESULT, NoArguments, Tool, ToolOutput, converse
from p2p.store.events import EventLog

Serve = Callable[..., Stub]
Make = Callable[..., SessionModels]


MODEL = "anthropic:claude-opus-5-5"
DOT = ImagePart(media_type="image/png", data="iVBORw0KGgo=")


class Which(Contract):
    top_k: int = 3


def _break(_: NoArguments) -> str:
    raise RuntimeError("the disk is on fire")


TOOLS = (
    Tool("get_scores", "Scores.", Which, lambda which: {"scores": [0.1] * which.top_k}),
    Tool("get_picture", "A picture.", NoArguments, lambda _: ToolOutput("Here.", (DOT,))),
    Tool("get_book", "Very long.", NoArguments, lambda _: "word " * MAX_RESULT),
    Tool("break_it", "Breaks.", NoArguments, _break),
)

QUESTION = ModelRequest(system="You revise.", messages=(user("What now?"),))


def test_tools_are_called_until_the_model_answers(serve: Serve, session_models: Make, model_name: str) -> None:
    stub = serve(calls("get_scores", top_k=2), Reply(calls=(("get_picture", {}), ("get_scores", {}))), says("Go on."))
    talk = converse(session_models(model_name).for_role("reviser"), QUESTION, TOOLS)
    assert (talk.reply.text, talk.rounds) == ("Go on.", 2)
    assert "[0.1, 0.1]" in stub.seen[1].results[0].replace("\\", "")
    assert len(stub.seen[2].results) == 2
    assert stub.seen[2].pictures == 1
    assert stub.seen[0].tools == ("get_scores", "get_picture", "get_book", "break_it")


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (Fault.UNKNOWN_TOOL, "There is no tool 'no_such_tool'. Known: break_it"),
        (calls("break_it"), "RuntimeError: the disk is on fire"),
        (calls("get_scores", top_k="many"), "do not fit: top_k"),
        (calls("get_book"), "more characters]"),
    ],
)
def test_what_goes_wrong_is_told_to_the_model(
    serve: Serve, session_models: Make, model_name: str, step: Fault | Reply, told: str
) -> None:
    stub = serve(step, says("I see."))
    assert converse(session_models(model_name).for_role("reviser"), QUESTION, TOOLS).reply.text == "I see."
    assert told in stub.seen[1].results[0]


def test_a_tool_that_breaks_stops_none_that_was_called_beside_it(
    serve: Serve, session_models: Make, model_name: str
) -> None:
    beside = Reply(calls=(("break_it", {}), ("no_such_tool", {}), ("get_scores", {"top_k": 2})))
    stub = serve(beside, says("I see."))
    assert converse(session_models(model_name).for_role("reviser"), QUESTION, TOOLS).reply.text == "I see."
    broken, unknown, scores = stub.seen[1].results
    assert "on fire" in broken
    assert "no tool" in unknown
    assert "[0.1, 0.1]" in scores.replace("\\", "")


def test_a_reason_to_stop_that_nobody_has_heard_of_ends_it(serve: Serve, session_models: Make) -> None:
    stub = serve(calls("get_scores"), Reply(text="Enough.", stop="out_of_tea"))
    assert converse(session_models(MODEL).for_role("reviser"), QUESTION, TOOLS).reply.text == "Enough."
    assert stub.remaining() == 0


def test_every_round_of_a_conversation_is_an_event_that_names_its_role(
    serve: Serve, session_models: Make, tmp_path: Path
) -> None:
    serve(calls("get_scores"), says("Go on."))
    converse(session_models().for_role("reviser"), QUESTION, TOOLS)
    rounds = [event for event in EventLog(tmp_path / "events.jsonl").read() if event.event is EventName.LLM_CALL]
    assert [event.data["role"] for event in rounds] == ["reviser", "reviser"]


def test_input_that_is_no_object_is_told_to_the_model(serve: Serve, session_models: Make) -> None:
    stub = serve(Fault.TOOL_INPUT_STRING, says("I see."))
    assert converse(session_models().for_role("reviser"), QUESTION, TOOLS).reply.text == "I see."
    assert "must be an object" in stub.seen[1].results[0]


def test_after_the_last_round_an_answer_is_demanded(serve: Serve, session_models: Make, model_name: str) -> None:
    stub = serve(*[calls("get_scores", top_k=n) for n in range(4)], says("Enough."))
    talk = converse(session_models(model_name).for_role("reviser"), QUESTION, TOOLS, max_rounds=4)
    assert (talk.reply.text, talk.rounds) == ("Enough.", 4)
    assert "Rounds of tools left: 1." in stub.seen[3].last
    assert "final answer now" in stub.seen[4].last
    assert "none" in str(stub.seen[4].body.get("tool_choice", stub.seen[4].body.get("toolConfig"))).lower()


def test_a_model_that_never_answers_is_given_up(serve: Serve, session_models: Make) -> None:
    serve(calls("get_scores"), repeat_last=True)
    with pytest.raises(ReplyTruncated, match="2 rounds"):
        converse(session_models().for_role("reviser"), QUESTION, TOOLS, max_rounds=2)


def test_an_empty_answer_is_asked_about_and_three_are_too_many(
    serve: Serve, session_models: Make, model_name: str
) -> None:
    stub = serve(Fault.EMPTY, says("Sorry."), *[Fault.EMPTY] * 3)
    model = session_models(model_name).for_role("reviser")
    assert converse(model, QUESTION, TOOLS).reply.text == "Sorry."
    assert "Your answer was empty" in stub.seen[1].last
    with pytest.raises(ReplyMalformed):
        converse(model, QUESTION.model_copy(update={"sample": 1}), TOOLS)


def test_a_call_that_was_cut_off_is_not_made(serve: Serve, session_models: Make, model_name: str) -> None:
    stub = serve(Reply(calls=(("break_it", {}),), stop="max_tokens"), says("Shorter."))
    assert converse(session_models(model_name).for_role("reviser"), QUESTION, TOOLS).reply.text == "Shorter."
    assert "cut off at its length limit" in stub.seen[1].results[0]


def test_a_refusal_ends_the_conversation(serve: Serve, session_models: Make, model_name: str) -> None:
    serve(calls("get_scores"), Fault.REFUSAL)
    with pytest.raises(ModelRefused):
        converse(session_models(model_name).for_role("reviser"), QUESTION, TOOLS)


@pytest.mark.parametrize("fault", TRANSPORT)
def test_a_fault_in_the_middle_loses_no_round(
    serve: Serve, session_models: Make, model_name: str, fault: Fault
) -> None:
    stub = serve(calls("get_scores"), fault, says("Still here."))
    models = session_models(model_name, silence_s=0.3)
    assert converse(models.for_role("reviser"), QUESTION, TOOLS).reply.text == "Still here."
    assert len(stub.seen) == 3


def test_a_conversation_that_is_repeated_after_a_crash_is_not_paid_again(
    serve: Serve, session_models: Make, model_name: str
) -> None:
    stub = serve(calls("get_scores", top_k=1), says("Go on."))
    first = converse(session_models(model_name).for_role("reviser"), QUESTION, TOOLS)
    again = converse(session_models(model_name).for_role("reviser"), QUESTION, TOOLS)
    assert first.reply == again.reply
    assert len(stub.seen) == 2


def test_the_cap_ends_it_and_the_model_was_told_that_it_would(serve: Serve, session_models: Make) -> None:
    stub = serve(calls("get_scores"), repeat_last=True)
    models = session_models(caps=Caps(calls=4))
    with pytest.raises(BudgetExceeded):
        converse(models.for_role("reviser"), QUESTION, TOOLS, max_rounds=9)
    assert "Left of the session's caps: 1 calls." in stub.seen[3].last
