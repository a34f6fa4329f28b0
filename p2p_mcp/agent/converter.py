"""Between the tools of a server and the Messages interface: names in, blocks out."""

import base64
import json
from collections.abc import Iterable, Sequence
from typing import Any

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

Block = dict[str, Any]
"""A content block as the Messages interface takes it."""

PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
MAX_TEXT = 60_000
"""Characters of one text, about 20,000 tokens."""


def tool_params(tools: Iterable[Tool]) -> list[Block]:
    """The tools as the model is told of them."""
    return [
        {"name": tool.name, "description": tool.description or tool.title or "", "input_schema": tool.input_schema}
        for tool in tools
    ]


def text_block(text: str) -> Block:
    """A text, cut where it is longer than a model should read."""
    if len(text) > MAX_TEXT:
        text = f"{text[:MAX_TEXT]}\n[cut: {len(text) - MAX_TEXT:,} more characters]"
    return {"type": "text", "text": text or "(nothing)"}


def result_blocks(result: CallToolResult) -> list[Block]:
    """What a tool returned; the structured part stands in where the server sent no text."""
    blocks = [_block(item) for item in result.content]
    if result.structured_content is not None and not any(isinstance(item, TextContent) for item in result.content):
        blocks.append(text_block(json.dumps(result.structured_content)))
    return blocks or [text_block("")]


def tool_result(call_id: str, blocks: Sequence[Block], is_error: bool = False) -> Block:
    """The answer to one call."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": list(blocks), "is_error": is_error}


def _block(item: ContentBlock) -> Block:
    if isinstance(item, TextContent):
        return text_block(item.text)
    if isinstance(item, ImageContent):
        return _picture(item)
    if isinstance(item, ResourceLink):
        return text_block(f"[{item.name}: {item.uri}{f', {item.mime_type}' if item.mime_type else ''}]")
    if isinstance(item, EmbeddedResource):
        return _resource(item)
    return text_block(f"[{item.type} left out: {item.mime_type}]")


def _picture(item: ImageContent) -> Block:
    try:
        base64.b64decode(item.data, validate=True)
    except ValueError:
        return text_block("[picture left out: it is not base64]")
    if item.mime_type not in PICTURES:
        return text_block(f"[picture left out: {item.mime_type} cannot be read]")
    return {"type": "image", "source": {"type": "base64", "media_type": item.mime_type, "data": item.data}}


def _resource(item: EmbeddedResource) -> Block:
    if isinstance(item.resource, TextResourceContents):
        return text_block(item.resource.text)
    return text_block(f"[{item.resource.uri}, {item.resource.mime_type or 'bytes'}]")
