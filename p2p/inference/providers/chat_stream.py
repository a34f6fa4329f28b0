"""Assemble a streamed chat completion."""

import json
import math
from typing import Any

from p2p.contracts.inference import ModelRequest, Part, TextPart, ToolCall, Usage
from p2p.inference.estimate import CHARACTERS_PER_TOKEN, estimate_tokens
from p2p.inference.pieces import tell_piece
from p2p.inference.translation import count, tool_call


class ChatStream:
    """Answer received so far.

    Args:
        request: What was asked; its size is what a broken answer is charged with.
    """

    def __init__(self, request: ModelRequest) -> None:
        self._request = request
        self._text: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self.begun = False
        self.finish: str | None = None
        self.refusal = ""
        self.usage: Usage | None = None

    def add(self, chunk: Any) -> None:
        """Add a chunk."""
        for choice in chunk.choices or []:
            self.begun = True
            self.finish = choice.finish_reason or self.finish
            delta = choice.delta
            if delta is None:
                continue
            self._text.append(delta.content or "")
            tell_piece(delta.content or "")
            self.refusal += delta.refusal or ""
            for piece in delta.tool_calls or []:
                index = piece.index if piece.index is not None else len(self._calls)
                call = self._calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
                call["id"] = piece.id or call["id"]
                if piece.function is not None:
                    call["name"] = piece.function.name or call["name"]
                    call["arguments"] += piece.function.arguments or ""
        if chunk.usage is not None:
            asked = chunk.usage.prompt_tokens_details
            said = chunk.usage.completion_tokens_details
            cached = count(asked.cached_tokens) if asked else 0
            written = count(getattr(asked, "cache_write_tokens", 0)) if asked else 0
            self.usage = Usage(
                input=max(count(chunk.usage.prompt_tokens) - cached - written, 0),
                output=count(chunk.usage.completion_tokens),
                thinking=count(said.reasoning_tokens) if said else 0,
                cache_read=cached,
                cache_write_5m=written,
            )

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Tool calls."""
        return tuple(
            tool_call(call["id"] or f"call_{index}", call["name"] or "unnamed", call["arguments"])
            for index, call in sorted(self._calls.items())
        )

    def parts(self) -> tuple[Part, ...]:
        """Text and tool calls."""
        text = "".join(self._text)
        return (*([TextPart(text=text)] if text else []), *self.calls)

    def usage_so_far(self) -> Usage | None:
        """Tokens of a broken answer: counted, else estimated; None before it began."""
        if self.usage is not None or not self.begun:
            return self.usage
        written = sum(map(len, self._text)) + sum(len(call["arguments"]) for call in self._calls.values())
        return Usage(input=estimate_tokens(self._request), output=math.ceil(written / CHARACTERS_PER_TOKEN))


def encode(arguments: dict[str, object]) -> str:
    """Encode a call's arguments as JSON text."""
    return json.dumps(arguments)
