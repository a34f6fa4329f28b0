"""What the model is sent again with each turn, kept small."""

import json
import math
from collections.abc import Sequence
from typing import Any

from p2p_mcp.agent.converter import Block, text_block

PICTURE_TOKENS = 1_600
"""The most a picture counts."""
CHARACTERS_PER_TOKEN = 3
"""Fewer than in English prose, since JSON and code make more tokens; an estimate must not be too low."""
CLEARED = "[picture cleared after judging; call view_rollout or judge_videos to see it again]"
TRIGGER_TOKENS, KEPT_TOOL_USES = 100_000, 8

EDITING: dict[str, Any] = {
    "edits": [
        {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": TRIGGER_TOKENS},
            "keep": {"type": "tool_uses", "value": KEPT_TOOL_USES},
            "exclude_tools": ["create_session", "describe_environment"],
        }
    ]
}
"""The provider forgets old results by itself once the conversation is long."""


def without_pictures(messages: Sequence[Block]) -> list[Block]:
    """The conversation with a line in the place of each picture."""
    return [{**message, "content": _clear(message["content"])} for message in messages]


def holds_pictures(messages: Sequence[Block]) -> bool:
    """Whether any picture is left."""
    return any(_count_pictures(message["content"]) for message in messages)


def estimate_tokens(*parts: Any) -> int:
    """How many tokens the parts of a request are at most, about."""
    pictures = sum(_count_pictures(part) for part in parts)
    characters = sum(len(json.dumps(_clear(part), ensure_ascii=False)) for part in parts)
    return math.ceil(characters / CHARACTERS_PER_TOKEN) + PICTURE_TOKENS * pictures


def _clear(value: Any) -> Any:
    if isinstance(value, list):
        return [_clear(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "image":
        return text_block(CLEARED)
    return {key: _clear(item) for key, item in value.items()} if "content" in value else value


def _count_pictures(value: Any) -> int:
    if isinstance(value, list):
        return sum(_count_pictures(item) for item in value)
    if not isinstance(value, dict):
        return 0
    return 1 if value.get("type") == "image" else _count_pictures(value.get("content"))
