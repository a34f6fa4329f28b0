"""Tool loop for all roles that call tools."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from p2p.contracts.base import Contract
from p2p.contracts.errors import BudgetExceeded
from p2p.contracts.inference import (
    GIVE_UP_AFTER,
    ImagePart,
    Message,
    ModelProblem,
    ModelReply,
    ModelRequest,
    ReplyTruncated,
    StopReason,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
    user,
)
from p2p.inference.client import SessionModel
from p2p.inference.replies import usable

MAX_RESULT = 40_000
"""Characters of one result, about 13,000 tokens."""
FEW_ROUNDS = 3
"""From so many rounds left on, the model is told how many there are."""
FINAL = "There are no more rounds of tools. Give your final answer now, from what you know."
EMPTY = "Your answer was empty. Call a tool, or give your final answer."
CUT = "It was not called: your answer was cut off at its length limit. Say less, and call it again."


@dataclass(frozen=True)
class ToolOutput:
    """Result of a tool with pictures."""

    text: str
    images: tuple[ImagePart, ...] = ()


@dataclass(frozen=True)
class Tool:
    """Tool that a model may call.

    Args:
        name: Its name.
        description: What it does, for the model to read.
        arguments: Type of its arguments; what does not fit is sent back to the model.
        handler: Called with the arguments; returns a text, a `ToolOutput`, a contract, or plain data. What it raises
            is told to the model.
    """

    name: str
    description: str
    arguments: type[Contract]
    handler: Callable[[Any], object]

    @property
    def spec(self) -> ToolSpec:
        """Tool description for the model."""
        return ToolSpec(name=self.name, description=self.description, parameters=self.arguments.model_json_schema())


@dataclass(frozen=True)
class ToolLoopResult:
    """Finished conversation with tools."""

    reply: ModelReply
    """The final answer, which is whole and says something."""
    messages: tuple[Message, ...]
    """All of it, the final answer included."""
    rounds: int
    """How often tools were called."""


class NoArguments(Contract):
    """Arguments of a tool that takes none."""


def converse(model: SessionModel, request: ModelRequest, tools: Sequence[Tool], max_rounds: int = 16) -> ToolLoopResult:
    """Let a model call tools until it answers; force an answer after `max_rounds`.

    An unknown tool, arguments that do not fit and a handler that raises become results that the model can act on.

    Args:
        model: Who answers.
        request: What is asked; its tools are set here.
        tools: What may be called.
        max_rounds: Answers that may call tools.

    Raises:
        BudgetExceeded: a cap would be passed.
        ModelProblem: the model refuses, or does not come to an end.
    """
    request = request.model_copy(update={"tools": tuple(tool.spec for tool in tools)})
    known = {tool.name: tool for tool in tools}
    stumbles = 0
    for round_number in range(1, max_rounds + 1):
        reply = model.complete(request)
        if reply.stop is StopReason.MAX_TOKENS or reply.empty:
            stumbles += 1
            if stumbles >= GIVE_UP_AFTER or not (reply.tool_calls or reply.empty):
                usable(reply)
            request = _continued(request, reply, _after_stumble(reply))
            continue
        usable(reply)
        if not reply.tool_calls:
            return ToolLoopResult(reply, (*request.messages, reply.message), round_number - 1)
        stumbles = 0
        results = [_call(known, call) for call in reply.tool_calls]
        # With the results, the remaining rounds and the caps are told when few are left.
        rounds_left = max_rounds - round_number
        left = model.what_is_left()
        reminders = [f"Rounds of tools left: {rounds_left}."] if 0 < rounds_left <= FEW_ROUNDS else []
        reminders += [left] if left else []
        told = Message(role="user", parts=(*results, *(TextPart(text=line) for line in reminders)))
        request = _continued(request, reply, told)
    # Ask for the final answer, without tools.
    messages = _joined(request.messages, user(FINAL))
    last = request.model_copy(update={"tool_choice": "none", "messages": messages})
    reply = usable(model.complete(last))
    if not reply.text.strip():
        raise ReplyTruncated(f"{reply.model} used all its {max_rounds} rounds of tools without giving an answer.")
    return ToolLoopResult(reply, (*last.messages, reply.message), max_rounds)


def _call(known: dict[str, Tool], call: ToolCall) -> ToolResult:
    """Run one tool call; errors become results for the model, except those that end the session."""
    tool = known.get(call.name)
    if tool is None:
        return _error(call, f"There is no tool {call.name!r}. Known: {', '.join(sorted(known))}.")
    if call.problem:
        return _error(call, call.problem)
    try:
        arguments = tool.arguments.model_validate(call.arguments)
    except ValidationError as error:
        said = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5])
        return _error(call, f"The arguments of {call.name} do not fit: {said}.")
    try:
        output = tool.handler(arguments)
    except (BudgetExceeded, ModelProblem):
        raise
    except Exception as error:
        return _error(call, f"{call.name} failed: {type(error).__name__}: {error}")
    made = output if isinstance(output, ToolOutput) else ToolOutput(_text(output))
    return ToolResult(call_id=call.call_id, name=call.name, text=_short(made.text), images=made.images)


def _error(call: ToolCall, text: str) -> ToolResult:
    return ToolResult(call_id=call.call_id, name=call.name, text=_short(text), is_error=True)


def _text(output: object) -> str:
    if isinstance(output, str):
        return output
    return output.model_dump_json() if isinstance(output, Contract) else json.dumps(output, default=str)


def _short(text: str) -> str:
    return (
        text if len(text) <= MAX_RESULT else f"{text[:MAX_RESULT]}\n[cut: {len(text) - MAX_RESULT:,} more characters]"
    )


def _after_stumble(reply: ModelReply) -> Message:
    """Reply to a truncated or empty answer."""
    if not reply.tool_calls:
        return user(EMPTY)
    return Message(role="user", parts=tuple(_error(call, CUT) for call in reply.tool_calls))


def _continued(request: ModelRequest, reply: ModelReply, answer: Message) -> ModelRequest:
    said = request.messages if reply.empty else (*request.messages, reply.message)
    return request.model_copy(update={"messages": _joined(said, answer)})


def _joined(messages: tuple[Message, ...], message: Message) -> tuple[Message, ...]:
    """Append our message; merge it with a preceding one of ours, since vendors require alternation."""
    if messages and messages[-1].role == message.role == "user":
        joined = messages[-1].model_copy(update={"parts": (*messages[-1].parts, *message.parts)})
        return (*messages[:-1], joined)
    return (*messages, message)
