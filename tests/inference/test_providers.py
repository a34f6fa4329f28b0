"""The real libraries of three vendors against a local server: one request and one answer, whoever gives it."""

import sys
import time
from collections.abc import Callable

import pytest
from wire_stub import TRANSPORT, Fault, Reply, Stub, calls, says

from p2p import registry
from p2p.contracts.errors import MissingExtra
from p2p.contracts.inference import (
    AuthenticationFailed,
    ImagePart,
    Message,
    ModelName,
    ModelProblem,
    ModelReply,
    ModelRequest,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
    ReplyMalformed,
    RequestRejected,
    StopReason,
    TextPart,
    ToolResult,
    ToolSpec,
    Usage,
    VideoPart,
    user,
)
from p2p.inference.access import access_to
from p2p.inference.client import PatientModel
from p2p.inference.deadline import until
from p2p.inference.pieces import listening
from p2p.inference.retry import Patience

Serve = Callable[..., Stub]
QUICK = Patience(attempts=3, first_pause_s=0.01, longest_pause_s=0.02, total_s=20)
SCORES = ToolSpec(
    name="get_scores",
    description="Scores of all iterations.",
    parameters={"type": "object", "properties": {"top_k": {"type": "integer"}}, "required": ["top_k"]},
)
DOT = ImagePart(media_type="image/png", data="iVBORw0KGgo=")


def complete(name: str, request: ModelRequest, silence_s: float = 0.5, limit_s: float = 20.0) -> ModelReply:
    parsed = ModelName.parse(name)
    provider = registry.load("provider", registry.PROVIDERS, parsed.provider)(
        parsed.model, access_to(parsed.provider, silence_s)
    )
    try:
        with until(time.monotonic() + limit_s):
            reply: ModelReply = provider.complete(request)
            return reply
    finally:
        provider.close()


def asked(**more: object) -> ModelRequest:
    return ModelRequest.model_validate({"system": "You are brief.", "messages": (user("Hello?"),), **more})


def test_words_come_whole_though_they_are_streamed_in_pieces(serve: Serve, model_name: str) -> None:
    stub = serve(says("Hello, and good morning."))
    reply = complete(model_name, asked())
    assert reply.text == "Hello, and good morning."
    assert (reply.stop, reply.model) == (StopReason.END, model_name)
    assert (stub.seen[0].system, stub.seen[0].last) == ("You are brief.", "Hello?")
    assert stub.seen[0].max_tokens == asked().max_tokens


def test_the_pieces_are_heard_as_they_come_and_thoughts_are_not(serve: Serve, model_name: str) -> None:
    serve(Reply(text="Hello, and good morning.", thought="Hm."), says("Again."))
    heard: list[str] = []
    with listening(heard.append):
        complete(model_name, asked(effort="high"))
    complete(model_name, asked())  # nobody listens
    assert "".join(heard) == "Hello, and good morning."
    assert len(heard) > 1


def test_a_patient_model_asks_again_and_tells_what_a_broken_answer_used(serve: Serve, model_name: str) -> None:
    serve(Fault.CUT, says("Whole."))
    problems: list[ModelProblem] = []
    model = PatientModel(ModelName.parse(model_name), QUICK, 0.5, problems.append, lambda _: None)
    assert model.complete(asked(), within_s=20).text == "Whole."
    model.close()
    assert [problem.transient for problem in problems] == [True]


def test_a_patient_model_waits_no_longer_than_it_is_told(serve: Serve, model_name: str) -> None:
    serve(Fault.HANG)
    problems: list[ModelProblem] = []
    model = PatientModel(ModelName.parse(model_name), QUICK, 30.0, problems.append, lambda _: None)
    with pytest.raises(ModelTimeout):
        model.complete(asked(), within_s=0.3)
    model.close()
    assert len(problems) == 1


def test_how_a_conversation_is_kept_is_no_part_of_what_is_asked() -> None:
    request = asked(tools=(SCORES,))
    long = request.model_copy(update={"long_conversation": True})
    assert request.digest("m") == long.digest("m")


def test_cached_and_thinking_tokens_are_counted_apart(serve: Serve, model_name: str) -> None:
    serve(Reply(text="Yes.", thought="Hm.", input_tokens=300, output_tokens=50, cached=700, thinking=40))
    reply = complete(model_name, asked(effort="high"))
    assert reply.usage == Usage(input=300, output=50, thinking=40, cache_read=700)
    assert reply.text == "Yes."


@pytest.mark.parametrize(
    ("effort", "sent"),
    [
        ("low", {"anthropic": "low", "gemini": "LOW", "openai": "low"}),
        ("max", {"anthropic": "max", "gemini": "HIGH", "openai": "max"}),
        ("off", {}),
        (None, {}),
    ],
)
def test_effort_is_said_in_each_vendor_s_words(
    serve: Serve, model_name: str, effort: str | None, sent: dict[str, str]
) -> None:
    stub = serve(says("Yes."))
    complete(model_name, asked(effort=effort))
    expected = sent.get(model_name.split(":")[0])
    told = stub.seen[0].effort or (stub.seen[0].body.get("generationConfig", {}).get("thinkingConfig") or {}).get(
        "thinking_level"
    )
    assert told == expected
    if expected is None:
        assert "thinking" not in str(stub.seen[0].body).lower()


def test_a_tool_is_called_and_its_answer_and_the_thoughts_before_it_go_back(serve: Serve, model_name: str) -> None:
    stub = serve(Reply(calls=(("get_scores", {"top_k": 3}),), thought="I must look."), says("Done."))
    request = asked(tools=(SCORES,), effort="medium")
    first = complete(model_name, request)
    assert first.stop is StopReason.TOOL_CALLS
    (call,) = first.tool_calls
    assert (call.name, call.arguments, call.problem) == ("get_scores", {"top_k": 3}, "")
    result = ToolResult(call_id=call.call_id, name=call.name, text="0.1 0.9", images=(DOT,))
    answer = Message(role="user", parts=(result,))
    again = request.model_copy(update={"messages": (*request.messages, first.message, answer)})
    assert complete(model_name, again).text == "Done."
    assert any("0.1 0.9" in words for words in stub.seen[1].results)
    assert stub.seen[1].pictures == 1
    if not model_name.startswith("openai"):
        assert "sig" in str(stub.seen[1].messages) or "c2ln" in str(stub.seen[1].messages)


def test_what_one_vendor_s_model_said_can_be_told_to_another_s(serve: Serve, model_name: str) -> None:
    stub = serve(calls("get_scores", top_k=1), says("Done."), says("Done."))
    first = complete("anthropic:claude-opus-5-5", asked(tools=(SCORES,)))
    result = ToolResult(call_id=first.tool_calls[0].call_id, name="get_scores", text="0.7")
    messages = (*asked().messages, first.message, Message(role="user", parts=(result,)))
    assert complete(model_name, asked(tools=(SCORES,), messages=messages)).text == "Done."
    assert any("0.7" in words for words in stub.seen[-1].results)


def test_pictures_and_a_schema_are_sent(serve: Serve, model_name: str) -> None:
    stub = serve(says('{"a": 1}'))
    schema = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}
    complete(model_name, asked(messages=(user("What is it?", DOT),), output_schema=schema))
    assert stub.seen[0].pictures == 1
    assert stub.seen[0].schema is not None
    assert stub.seen[0].schema["properties"]["a"]["type"] == "number"


def test_tools_can_be_forbidden_for_a_last_answer(serve: Serve, model_name: str) -> None:
    stub = serve(says("Done."))
    complete(model_name, asked(tools=(SCORES,), tool_choice="none"))
    assert stub.seen[0].tools == ("get_scores",)
    assert "none" in str(stub.seen[0].body).replace("None", "").lower()


def test_only_some_models_take_a_video(serve: Serve, model_name: str) -> None:
    stub = serve(says("It hops."), says("It hops."))
    shown = Message(role="user", parts=(TextPart(text="Watch."), VideoPart(data="AAAA", fps=10)))
    request = asked(messages=(shown,))
    if model_name.startswith("gemini"):
        assert complete(model_name, request).text == "It hops."
        assert stub.seen[0].pictures == 1
    else:
        with pytest.raises(RequestRejected, match="takes no videos"):
            complete(model_name, request)
    assert complete("vllm:Qwen/Qwen3-VL", request).text == "It hops."


def test_another_maker_s_server_is_asked_in_the_words_it_knows(serve: Serve) -> None:
    stub = serve(says("Yes."), says("Yes."))
    complete("vllm:Qwen/Qwen3-VL", asked(effort="max"))
    complete("ollama:qwen3:32b", asked())
    assert stub.seen[0].body["max_tokens"] == asked().max_tokens
    assert stub.seen[0].body["reasoning_effort"] == "high"
    assert (stub.seen[1].model, "reasoning_effort" in stub.seen[1].body) == ("qwen3:32b", False)


WHAT_IT_BECOMES: dict[Fault, type[ModelProblem] | tuple[type[ModelProblem], ...]] = {
    Fault.RATE_LIMITED: RateLimited,
    Fault.OVERLOADED: ModelUnavailable,
    Fault.SERVER_ERROR: ModelUnavailable,
    Fault.HANG: ModelTimeout,
    Fault.CUT: ModelUnavailable,
    Fault.BROKEN_JSON: ReplyMalformed,
    Fault.HTML: ReplyMalformed,
    Fault.UNAUTHORIZED: AuthenticationFailed,
    Fault.DRIP: ModelTimeout,
}


@pytest.mark.parametrize("fault", WHAT_IT_BECOMES)
def test_a_failed_connection_has_a_name(serve: Serve, model_name: str, fault: Fault) -> None:
    stub = serve(fault, retry_after_s=7)
    with pytest.raises(WHAT_IT_BECOMES[fault]) as raised:
        complete(model_name, asked(), silence_s=0.3, limit_s=1.0)
    assert len(stub.seen) == 1, "the libraries' own retries are off"
    assert raised.value.transient == (fault in TRANSPORT or fault is Fault.DRIP)
    assert raised.value.retry_after_s == (7 if fault is Fault.RATE_LIMITED else None)
    assert "sk-" not in str(raised.value)


@pytest.mark.parametrize(
    ("fault", "stop"),
    [
        (Fault.TRUNCATED, StopReason.MAX_TOKENS),
        (Fault.EMPTY, StopReason.END),
        (Fault.REFUSAL, StopReason.REFUSED),
        (Fault.UNKNOWN_TOOL, StopReason.TOOL_CALLS),
    ],
)
def test_a_bad_answer_is_told_from_a_good_one(serve: Serve, model_name: str, fault: Fault, stop: StopReason) -> None:
    serve(fault)
    reply = complete(model_name, asked(tools=(SCORES,)))
    assert reply.stop is stop
    assert reply.empty == (fault is Fault.EMPTY)
    assert reply.usable == (fault is Fault.UNKNOWN_TOOL)


def test_the_input_of_a_tool_may_come_as_anything(serve: Serve, model_name: str) -> None:
    serve(Fault.TOOL_INPUT_STRING, Reply(calls=(("get_scores", '{"top_k": 2}'),)))
    if model_name.startswith("gemini"):  # its library takes nothing but objects
        with pytest.raises(ReplyMalformed):
            complete(model_name, asked(tools=(SCORES,)))
        return
    reply = complete(model_name, asked(tools=(SCORES,)))
    assert "must be an object" in reply.tool_calls[0].problem
    assert complete(model_name, asked(tools=(SCORES,))).tool_calls[0].arguments == {"top_k": 2}


def test_a_provider_without_a_key_says_which_variable_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with pytest.raises(AuthenticationFailed, match="GEMINI_API_KEY"):
        access_to("gemini")


def test_a_key_is_not_in_what_is_shown_of_its_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary-1234567890")
    assert "canary" not in f"{access_to('anthropic')!r} {access_to('anthropic')}"


@pytest.mark.parametrize(
    ("provider", "library", "extra"),
    [("anthropic", "anthropic", "anthropic"), ("gemini", "google.genai", "gemini"), ("vllm", "openai", "openai")],
)
def test_a_missing_library_is_answered_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, provider: str, library: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, registry.PROVIDERS[provider].split(":")[0], raising=False)
    with pytest.raises(MissingExtra, match=rf"pip install 'p2p-mcp\[{extra}\]'"):
        registry.load("provider", registry.PROVIDERS, provider)


def test_a_redirect_carries_no_key_anywhere(serve: Serve, model_name: str) -> None:
    stub = serve(Fault.REDIRECT, says("I am somebody else."))
    with pytest.raises(ModelProblem):
        complete(model_name, asked())
    assert len(stub.seen) == 1
