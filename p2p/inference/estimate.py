"""Upper estimate of a request's tokens."""

import json
import math

from p2p.contracts.inference import ImagePart, ModelRequest, Part, TextPart, ToolCall, ToolResult

CHARACTERS_PER_TOKEN = 3
"""Fewer than in English prose, since JSON and code make more tokens; an estimate must not be too low."""
PICTURE_TOKENS = 1_600
"""The most a picture counts."""
VIDEO_TOKENS = 20_000
"""More than ten seconds of video count."""


def estimate_tokens(request: ModelRequest) -> int:
    """Estimate the tokens of a request, rather too high than too low."""
    texts = [request.system, *(tool.model_dump_json() for tool in request.tools)]
    texts.append(json.dumps(request.output_schema) if request.output_schema else "")
    pictures = 0
    for message in request.messages:
        if message.echo is not None:
            texts.append(json.dumps(message.echo.content, default=str))
            continue
        for part in message.parts:
            text, weight = _weigh(part)
            texts.append(text)
            pictures += weight
    return math.ceil(sum(map(len, texts)) / CHARACTERS_PER_TOKEN) + pictures


def _weigh(part: Part) -> tuple[str, int]:
    """Text of a part, and tokens of its pictures."""
    if isinstance(part, TextPart):
        return part.text, 0
    if isinstance(part, ToolCall):
        return json.dumps(part.arguments, default=str), 0
    if isinstance(part, ToolResult):
        return part.text, PICTURE_TOKENS * len(part.images)
    return "", PICTURE_TOKENS if isinstance(part, ImagePart) else VIDEO_TOKENS
