import io
import json
import queue
from contextlib import suppress

import pytest
from agent_runs import KEY, AgentRuns
from scripted_claude import Raw, Turn, calls, found, overloaded, results, said, says, text, use

from p2p.contracts.agent import AgentEnding, AgentLimits
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.inference import GIVE_UP_AFTER, AuthenticationFailed, Message, RequestRejected, ToolCall
from p2p.service.progress.listing import list_sessions
from p2p.service.sessions.steering import wishes
from p2p.service.sessions.transcripts import append_transcript, read_transcript
from p2p_mcp.agent.calling import LOOP

LOOK = calls("list_environments")
CREATE = calls("create_session", intent="hop forward without falling", environment="Hopper-v5")
DONE = says("That is all.")


def test_the_model_gets_tools_thinking_effort_a_cache_and_editing_of_its_context(agent: AgentRuns) -> None:
    agent.run(LOOK, DONE, effort="high")
    body = agent.claude.bodies[0]
    assert "list_environments" in {tool["name"] for tool in body["tools"]}
    assert "run_session" not in {tool["name"] for tool in body["tools"]}
    assert body["thinking"] == {"type": "adaptive"}
    assert body["output_config"] == {"effort": "high"}
    assert body["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert body["context_management"]["edits"][0]["type"] == "clear_tool_uses_20250919"
    assert "thread" not in body
    assert agent.claude.headers[0]["authorization"] == f"Bearer {KEY}"


def test_every_tool_of_the_loop_exists(agent: AgentRuns) -> None:
    agent.run(DONE)
    assert {tool["name"] for tool in agent.claude.bodies[0]["tools"]} == set(LOOP)


def test_effort_off_leaves_thinking_out(agent: AgentRuns) -> None:
    agent.run(DONE, effort="off")
    assert "thinking" not in agent.claude.bodies[0]
    assert "output_config" not in agent.claude.bodies[0]


def test_the_result_of_a_tool_reaches_the_model_under_the_id_of_its_call(agent: AgentRuns) -> None:
    agent.run(Turn([text("Let me see."), use("list_environments", {}, "toolu_7")]), DONE)
    (result,) = results(agent.claude.bodies[1])
    assert result["tool_use_id"] == "toolu_7"
    assert "Hopper-v5" in said(result)


def test_what_a_tool_answered_is_shown_in_a_line_and_not_as_json(agent: AgentRuns) -> None:
    refused = calls("write_reward", source="x = (", session_id="none")
    agent.run(
        calls("list_environments"), CREATE, calls("describe_environment", env_id="Hopper-v5"), refused, DONE, DONE
    )
    environments, created, described, failed = agent.texts("result")
    assert environments.endswith(" environments")
    assert ", Hopper-v5: pending, iteration 0 of " in created
    assert described == "Hopper-v5: 11 observations, 3 actuators"
    assert failed.startswith("failed: ")


def test_the_words_of_the_model_are_shown_as_they_come(agent: AgentRuns) -> None:
    agent.run(says("I am done."), says("Really."))
    assert agent.texts("text") == ["I am done.", "Really."]


def test_a_model_that_stops_too_early_is_reminded_once(agent: AgentRuns) -> None:
    report = agent.run(CREATE, says("I leave it."), says("I do leave it."))
    assert "has not passed" in agent.claude.bodies[2]["messages"][-1]["content"][0]["text"]
    assert report.ending is AgentEnding.STOPPED
    assert report.summary == "I do leave it."
    assert report.session_id


def test_an_unknown_tool_and_one_that_is_not_allowed_are_answered_with_those_there_are(agent: AgentRuns) -> None:
    agent.run(Turn([use("fly", {}), use("run_session", {})]), DONE)
    first, second = results(agent.claude.bodies[1])
    assert first["is_error"]
    assert second["is_error"]
    assert "There is no tool 'run_session' here. Known: " in said(second)


def test_only_named_tools_are_offered(agent: AgentRuns) -> None:
    agent.run(DONE, tools=("list_environments",))
    assert [tool["name"] for tool in agent.claude.bodies[0]["tools"]] == ["list_environments"]


def test_a_tool_that_does_not_exist_cannot_be_allowed(agent: AgentRuns) -> None:
    with pytest.raises(UnknownName, match="fly"):
        agent.run(DONE, tools=("fly",))


def test_the_failure_of_a_tool_is_told_in_words(agent: AgentRuns) -> None:
    agent.run(calls("get_session", session_id="nothing"), DONE)
    (result,) = results(agent.claude.bodies[1])
    assert result["is_error"]
    assert "nothing" in said(result)


@pytest.mark.parametrize("value", ["not an object", ["a", "list"], 7])
def test_a_tool_input_that_is_no_object_is_refused_and_sent_back_as_one(agent: AgentRuns, value: object) -> None:
    agent.run(Turn([use("list_environments", value)]), DONE)
    last = agent.claude.bodies[1]["messages"]
    assert isinstance(last[-2]["content"][0]["input"], dict)
    (result,) = results(agent.claude.bodies[1])
    assert result["is_error"]
    assert "must be an object" in said(result)


def test_a_tool_input_that_is_the_text_of_an_object_is_taken_as_one(agent: AgentRuns) -> None:
    agent.run(Turn([use("list_environments", json.dumps({}))]), DONE)
    assert not results(agent.claude.bodies[1])[0]["is_error"]


def test_an_overloaded_provider_is_asked_again(agent: AgentRuns) -> None:
    report = agent.run(overloaded(), overloaded(), LOOK, DONE)
    assert len(agent.claude.bodies) == 5
    assert report.spending.turns == 3


def test_a_cut_connection_is_asked_again_and_what_it_used_is_counted(agent: AgentRuns) -> None:
    cut = Turn([text("half an ans")], "end_turn", input_tokens=1000, cut_after=3)
    report = agent.run(cut, DONE)
    assert "cut in the middle" in agent.texts("problem")[0]
    assert report.spending.tokens >= 1000 + 2 * 120


@pytest.mark.parametrize(
    "reply",
    [
        Raw(200, "<html>Sign in</html>", "text/html"),
        Raw(200, "<html>Sign in</html>", "text/event-stream"),
        Raw(200, '{"id":"m","type":"mess'),
        Raw(200, 'event: message_start\ndata: {"type": "mess\n\n', "text/event-stream"),
        Raw(200, 'event: message_start\ndata: {"type": "message_start", "message": 3}\n\n', "text/event-stream"),
    ],
)
def test_what_is_no_message_ends_as_a_problem_after_a_few_attempts(agent: AgentRuns, reply: Raw) -> None:
    report = agent.run(reply)
    assert report.ending is AgentEnding.PROBLEM
    assert len(agent.claude.bodies) == 4


def test_an_error_in_the_stream_is_asked_again(agent: AgentRuns) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    agent.run(Raw(200, f"event: error\ndata: {json.dumps(error)}\n\n", "text/event-stream"), DONE)
    assert "Overloaded" in agent.texts("problem")[0]


def test_a_refused_key_is_a_problem_of_this_machine(agent: AgentRuns) -> None:
    error = {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
    with pytest.raises(AuthenticationFailed, match="invalid x-api-key"):
        agent.run(Raw(401, json.dumps(error)))


def test_an_unknown_model_is_named(agent: AgentRuns) -> None:
    error = {"type": "error", "error": {"type": "not_found_error", "message": "model: claude-x"}}
    with pytest.raises(
        RequestRejected, match=r"anthropic:claude-x does not exist at its provider.* Choose another model"
    ):
        agent.run(Raw(404, json.dumps(error)), model="claude-x", token_cap_given=True)


def test_a_refused_answer_is_left_out_and_the_model_asked_to_go_on(agent: AgentRuns) -> None:
    report = agent.run(Turn([text("I can")], "refusal"), LOOK, DONE)
    roles = [message["role"] for message in agent.claude.bodies[1]["messages"]]
    assert roles == ["user"]
    assert "simulated robot" in agent.claude.bodies[1]["messages"][0]["content"][-1]["text"]
    assert report.ending is AgentEnding.STOPPED


def test_a_provider_that_goes_on_refusing_ends_it(agent: AgentRuns) -> None:
    report = agent.run(Turn([], "refusal"))
    assert report.ending is AgentEnding.REFUSED
    assert len(agent.claude.bodies) == GIVE_UP_AFTER


def test_an_answer_cut_at_its_length_calls_nothing(agent: AgentRuns) -> None:
    agent.run(Turn([use("create_session", {"prompt": "ho"})], "max_tokens"), DONE)
    (result,) = results(agent.claude.bodies[1])
    assert "cut off" in said(result)
    assert list_sessions(agent.ws) == ()


def test_a_paused_turn_goes_on(agent: AgentRuns) -> None:
    report = agent.run(Turn([text("wait")], "pause_turn"), LOOK, DONE)
    assert [message["role"] for message in agent.claude.bodies[1]["messages"]] == ["user", "assistant", "user"]
    assert report.spending.turns == 4


def test_an_empty_answer_is_asked_again(agent: AgentRuns) -> None:
    agent.run(Turn([], "end_turn"), DONE)
    assert "empty" in agent.claude.bodies[1]["messages"][-1]["content"][-1]["text"]


def test_thinking_is_sent_back_as_it_came(agent: AgentRuns) -> None:
    agent.run(Turn([{"type": "thinking", "thinking": "hm"}, use("list_environments", {})]), DONE)
    block = agent.claude.bodies[1]["messages"][-2]["content"][0]
    assert block == {"type": "thinking", "thinking": "hm", "signature": "sig"}


def test_the_cap_on_turns_ends_it(agent: AgentRuns) -> None:
    report = agent.run(LOOK, limits=AgentLimits(turns=3))
    assert report.ending is AgentEnding.BUDGET
    assert "--max-turns" in report.reason
    assert len(agent.claude.bodies) == 3


def test_the_cap_on_tokens_ends_it_before_it_is_passed(agent: AgentRuns) -> None:
    report = agent.run(Turn([use("list_environments", {})], input_tokens=10_000), limits=AgentLimits(tokens=60_000))
    assert report.ending is AgentEnding.BUDGET
    assert "--max-tokens" in report.reason
    assert 10_000 < report.spending.tokens <= 60_000
    assert all(body["max_tokens"] <= 60_000 for body in agent.claude.bodies)


def test_the_cap_on_dollars_ends_it_before_it_is_passed(agent: AgentRuns) -> None:
    report = agent.run(Turn([use("list_environments", {})], output_tokens=5_000), limits=AgentLimits(dollars=0.5))
    assert report.ending is AgentEnding.BUDGET
    assert "--max-cost" in report.reason
    assert 0.1 < (report.spending.dollars or 0) <= 0.5


def test_the_cap_on_time_ends_it_in_the_middle_of_an_answer(agent: AgentRuns) -> None:
    never: queue.Queue[None] = queue.Queue()

    def wait(_: dict[str, object]) -> Turn:
        with suppress(queue.Empty):
            never.get(timeout=5)
        return DONE

    report = agent.run(wait, limits=AgentLimits(minutes=0.01))
    never.put(None)
    assert report.ending is AgentEnding.BUDGET
    assert "--max-minutes" in report.reason


def test_little_left_of_a_cap_is_told_to_the_model(agent: AgentRuns) -> None:
    agent.run(LOOK, limits=AgentLimits(turns=4))
    assert "Left of your caps: 1 turns" in agent.claude.bodies[3]["messages"][-1]["content"][-1]["text"]


def test_a_model_without_a_price_needs_a_price_or_a_cap_on_tokens(agent: AgentRuns) -> None:
    with pytest.raises(InvalidInput, match="--price"):
        agent.run(DONE, model="claude-new-9")
    report = agent.run(DONE, model="claude-new-9", token_cap_given=True)
    assert report.spending.dollars is None


def test_a_line_typed_meanwhile_reaches_the_next_turn_and_the_session(agent: AgentRuns) -> None:
    report = agent.run(CREATE, DONE, lines=io.StringIO("bend the knees more\n\n"))
    sent = json.dumps(agent.claude.bodies)
    assert "The person watching says: bend the knees more" in sent
    assert agent.texts("wish") == ["bend the knees more"]
    assert report.session_id
    assert "bend the knees more" in str(wishes(agent.ws, report.session_id).wishes)


def test_the_transcript_lies_beside_the_session_and_holds_no_key(agent: AgentRuns) -> None:
    report = agent.run(CREATE, calls("get_session", session_id=KEY), DONE)
    file = agent.ws.settings.runs_dir / str(report.session_id) / "transcript.jsonl"
    written = file.read_text()
    assert KEY not in written
    assert "[ANTHROPIC_API_KEY]" in written
    kinds = [entry.kind for entry in read_transcript(agent.ws, report.transcript_id)]
    assert kinds[0] == "start"
    assert kinds[-1] == "end"
    assert not list((agent.ws.settings.runs_dir / "transcripts").iterdir())


def test_a_conversation_goes_on_from_its_transcript(agent: AgentRuns) -> None:
    first = agent.run(CREATE, DONE, limits=AgentLimits(turns=1))
    assert first.ending is AgentEnding.BUDGET
    second = agent.run(LOOK, DONE, sentence="", resume=first.transcript_id, limits=AgentLimits(turns=10))
    messages = agent.claude.bodies[0]["messages"]
    assert messages[0]["content"][0]["text"].startswith("Train this behaviour: hop")
    assert "goes on after a break" in messages[-1]["content"][-1]["text"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert second.session_id == first.session_id
    assert second.spending.turns > first.spending.turns
    assert second.spending.tokens > first.spending.tokens


def test_a_call_that_was_never_answered_is_answered_on_resumption(agent: AgentRuns) -> None:
    first = agent.run(CREATE, DONE, limits=AgentLimits(turns=2))
    entries = read_transcript(agent.ws, first.transcript_id)
    call = ToolCall(call_id="toolu_lost", name="get_session", arguments={"session_id": first.session_id})
    message = Message(role="assistant", parts=(call,))
    append_transcript(
        agent.ws, first.transcript_id, entries[-1].model_copy(update={"kind": "message", "message": message})
    )
    agent.run(DONE, sentence="", resume="latest")
    last = agent.claude.bodies[0]["messages"][-1]["content"]
    assert last[0]["tool_use_id"] == "toolu_lost"
    assert last[0]["is_error"]


def test_the_newest_found_value_is_taken_by_scripts() -> None:
    block = {"type": "tool_result", "content": [text(json.dumps({"session_id": "s"}))]}
    assert found({"messages": [{"content": [block]}]}, "session_id") == "s"
