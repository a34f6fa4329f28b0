"""An answer of the SDK as plain data, with what a careless provider may put into it made harmless."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p2p.contracts.usage import Usage
from p2p_mcp.agent.converter import Block

if TYPE_CHECKING:  # `p2p agent --dry-run` comes here without the SDK
    from anthropic.types.beta import BetaMessage

OURS = ("parsed_output",)
"""Keys that the SDK adds to blocks, and the provider does not take back."""


class Unfinished(Exception):
    """An answer that broke off, or is none."""


@dataclass(frozen=True)
class Call:
    """A tool that the model wants called."""

    call_id: str
    name: str
    arguments: dict[str, Any]
    problem: str
    """Why it cannot be called; empty where it can."""


def content_of(message: "BetaMessage") -> list[Block]:
    """The blocks of an answer as they are sent back; the input of a tool is always an object in them."""
    return [_sendable(block.to_dict(mode="json", warnings=False)) for block in message.content]


def calls_of(content: list[Block]) -> list[Call]:
    """The tools that an answer calls, in its order."""
    return [_call(block) for block in content if block.get("type") == "tool_use"]


def text_of(content: list[Block]) -> str:
    """What an answer says."""
    return "\n".join(str(block["text"]) for block in content if block.get("type") == "text" and block.get("text"))


def usage_of(message: "BetaMessage") -> Usage:
    """The tokens of an answer; what is not said to be kept for an hour was kept for five minutes."""
    usage = message.usage
    written = usage.cache_creation_input_tokens or 0
    hour = min(written, usage.cache_creation.ephemeral_1h_input_tokens or 0) if usage.cache_creation else 0
    return Usage(
        input=usage.input_tokens or 0,
        output=usage.output_tokens or 0,
        cache_read=usage.cache_read_input_tokens or 0,
        cache_write_5m=written - hour,
        cache_write_1h=hour,
    )


def _sendable(block: dict[str, Any]) -> Block:
    block = {key: value for key, value in block.items() if value is not None and key not in OURS}
    if block.get("type") == "tool_use":
        block["input"] = _object(block.get("input"))
    return block


def _object(value: Any) -> dict[str, Any]:
    """An object, also where it came as the text of one; anything else is kept under a name no tool knows."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {WRONG: value}
    return value if isinstance(value, dict) else {WRONG: value}


WRONG = "input_was_no_object"


def _call(block: Block) -> Call:
    arguments = block["input"]
    problem = ""
    if WRONG in arguments:
        problem = f"The input of {block['name']} must be an object, and was {json.dumps(arguments[WRONG])[:200]}."
    return Call(str(block["id"]), str(block["name"]), arguments, problem)
