"""The result of a tool: the same facts as text and as structure, and pictures within a budget of bytes."""

import json
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcp.types import CallToolResult, ImageContent, TextContent

from p2p.service.pictures.artefacts import read_picture
from p2p_mcp.remedies import data_in_tools
from p2p_mcp.views.answer import Answer, untrusted_text

PICTURE_BYTES = 700_000
"""JPEG bytes of one result: Claude Desktop takes 1 MiB, and base64 makes four bytes of three."""


def reply(
    answer: Answer, pictures: Sequence[Path] = (), meta: dict[str, Any] | None = None, *, ours: bool = False
) -> CallToolResult:
    """A result of an answer and pictures; those that do not fit are left out, the last first.

    Some clients show a model the structure alone, others the text alone: both hold everything. Fields that have their
    default are left out of both. Remedies in its texts are worded as tools. First comes which of the texts that follow
    others wrote.

    Args:
        answer: What is told.
        pictures: Files, in their order.
        meta: `_meta` of the result, which clients read and models do not.
        ours: Every text of it is p2p's own.
    """
    data = data_in_tools(answer.model_dump(mode="json", exclude_defaults=True))
    if not ours and (others := untrusted_text(data)):
        data = {"untrusted_text": list(others), **data}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    blocks: list[TextContent | ImageContent] = [TextContent(type="text", text=text)]
    blocks += [picture_block(path) for path in fitting(pictures)]
    return CallToolResult(content=list(blocks), structured_content=data, _meta=meta)


def fitting(pictures: Sequence[Path], budget: int = PICTURE_BYTES) -> list[Path]:
    """The pictures that fit into the budget together, in their order."""
    chosen = []
    for path in pictures:
        size = path.stat().st_size
        if size <= budget:
            chosen.append(path)
            budget -= size
    return chosen


def picture_block(path: Path) -> ImageContent:
    """A picture as content."""
    kind = "image/png" if path.suffix == ".png" else "image/jpeg"
    return ImageContent(type="image", data=b64encode(read_picture(path)).decode(), mime_type=kind)
