"""Between the tools of a server and the types of a language model."""

import base64
import json
from collections.abc import Iterable, Sequence

from mcp.types import (
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
)

from p2p.contracts.inference import ImagePart, Message, Part, TextPart, ToolCall, ToolResult, ToolSpec

PICTURES = ("image/jpeg", "image/png")
MAX_TEXT = 60_000
"""Characters of one result, about 20,000 tokens."""
CLEARED = "[picture cleared after judging; call view_rollout or judge_videos to see it again]"


def tool_specs(tools: Iterable[Tool]) -> tuple[ToolSpec, ...]:
    """The tools as the model is told of them."""
    return tuple(
        ToolSpec(name=tool.name, description=tool.description or tool.title or "", parameters=tool.input_schema)
        for tool in tools
    )


def tool_result(call: ToolCall, result: CallToolResult) -> ToolResult:
    """The answer to a call; the structured part stands in where the server sent no text."""
    texts = [text for item in result.content if (text := _text(item)) is not None]
    if result.structured_content is not None and not any(isinstance(item, TextContent) for item in result.content):
        texts.append(json.dumps(result.structured_content))
    return ToolResult(
        call_id=call.call_id,
        name=call.name,
        text=_short("\n".join(texts)),
        images=tuple(
            ImagePart.model_validate({"media_type": item.mime_type, "data": item.data})
            for item in result.content
            if isinstance(item, ImageContent) and _readable(item)
        ),
        is_error=bool(result.is_error),
    )


def failed_call(call: ToolCall, text: str) -> ToolResult:
    """The answer to a call that was not made, or went wrong."""
    return ToolResult(call_id=call.call_id, name=call.name, text=_short(text), is_error=True)


def without_pictures(messages: Sequence[Message]) -> list[Message]:
    """The messages with a line in the place of each picture."""
    return [message.model_copy(update={"parts": tuple(map(_cleared, message.parts))}) for message in messages]


def holds_pictures(messages: Sequence[Message]) -> bool:
    """Whether any picture is left."""
    return any(
        isinstance(part, ImagePart) or (isinstance(part, ToolResult) and part.images)
        for message in messages
        for part in message.parts
    )


def _cleared(part: Part) -> Part:
    if isinstance(part, ImagePart):
        return TextPart(text=CLEARED)
    if isinstance(part, ToolResult) and part.images:
        text = "\n".join([part.text, *[CLEARED] * len(part.images)])
        return part.model_copy(update={"text": text, "images": ()})
    return part


def _short(text: str) -> str:
    if len(text) > MAX_TEXT:
        text = f"{text[:MAX_TEXT]}\n[cut: {len(text) - MAX_TEXT:,} more characters]"
    return text or "(nothing)"


def _text(item: ContentBlock) -> str | None:
    """What an item says; None for a picture that the model can see."""
    if isinstance(item, TextContent):
        return item.text
    if isinstance(item, ImageContent):
        return None if _readable(item) else f"[picture left out: {item.mime_type} that cannot be read]"
    if isinstance(item, ResourceLink):
        return f"[{item.name}: {item.uri}{f', {item.mime_type}' if item.mime_type else ''}]"
    if isinstance(item, EmbeddedResource):
        if isinstance(item.resource, TextResourceContents):
            return item.resource.text
        return f"[{item.resource.uri}, {item.resource.mime_type or 'bytes'}]"
    return f"[{item.type} left out: {item.mime_type}]"


def _readable(item: ImageContent) -> bool:
    try:
        base64.b64decode(item.data, validate=True)
    except ValueError:
        return False
    return item.mime_type in PICTURES
