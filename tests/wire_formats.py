"""Requests and streamed answers as the three vendors write them; `wire_stub` is what tests use."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One answer, whoever gives it.

    Args:
        text: what it says.
        calls: tools it calls, each with its arguments; arguments that are no object are sent as they are.
        stop: "max_tokens" or "refusal"; else it ends, or calls its tools.
        thought: what it thinks first.
        input_tokens: read anew.
        output_tokens: written, thinking included.
        cached: tokens found in the cache, besides `input_tokens`.
        thinking: those of `output_tokens` that were thought.
    """

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    stop: str = ""
    thought: str = ""
    input_tokens: int = 100
    output_tokens: int = 20
    cached: int = 0
    thinking: int = 0


@dataclass(frozen=True)
class Seen:
    """A request, whoever it was for."""

    provider: str
    model: str
    system: str
    messages: tuple[Json, ...]
    """As the vendor writes them, without the system prompt."""
    tools: tuple[str, ...]
    schema: Json | None
    effort: str | None
    max_tokens: int
    headers: Mapping[str, str]
    body: Json

    @property
    def text(self) -> str:
        """All words, the system prompt's first."""
        return "\n".join([self.system, *_words(list(self.messages))])

    @property
    def last(self) -> str:
        """Words of the last message."""
        return "\n".join(_words(self.messages[-1]))

    @property
    def results(self) -> list[str]:
        """Texts of the tool results that came last."""
        if self.provider == "anthropic":
            blocks = self.messages[-1]["content"]
            return ["\n".join(_words(block["content"])) for block in blocks if block["type"] == "tool_result"]
        if self.provider == "gemini":
            parts = self.messages[-1]["parts"]
            return [json.dumps(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]
        found: list[str] = []
        for message in reversed(self.messages):
            if message["role"] == "assistant":
                break
            if message["role"] == "tool":
                found.insert(0, "\n".join(_words(message["content"])))
        return found

    @property
    def pictures(self) -> int:
        """How many pictures and videos the request holds."""
        return len(re.findall(r'"(?:image_url|video_url|inlineData)": \{|"type": "image"', json.dumps(self.body)))


def seen(path: str, body: Json, headers: Mapping[str, str]) -> Seen:
    """A request as it came."""
    if path.endswith("/messages"):
        output = body.get("output_config") or {}
        return Seen(
            provider="anthropic",
            model=body["model"],
            system=body.get("system", ""),
            messages=tuple(body["messages"]),
            tools=tuple(tool["name"] for tool in body.get("tools", [])),
            schema=(output.get("format") or {}).get("schema"),
            effort=output.get("effort"),
            max_tokens=body["max_tokens"],
            headers=headers,
            body=body,
        )
    if "/models/" in path:
        config = body.get("generationConfig") or {}
        declared = [item for tool in body.get("tools", []) for item in tool.get("functionDeclarations", [])]
        return Seen(
            provider="gemini",
            model=path.split("/models/")[1].split(":")[0],
            system="\n".join(_words(body.get("systemInstruction", {}))),
            messages=tuple(body["contents"]),
            tools=tuple(item["name"] for item in declared),
            schema=config.get("responseJsonSchema") or config.get("responseSchema"),
            effort=(config.get("thinkingConfig") or {}).get("thinkingLevel"),
            max_tokens=config.get("maxOutputTokens", 0),
            headers=headers,
            body=body,
        )
    messages = list(body["messages"])
    system = messages.pop(0)["content"] if messages[0]["role"] in ("system", "developer") else ""
    return Seen(
        provider="openai",
        model=body["model"],
        system=system,
        messages=tuple(messages),
        tools=tuple(tool["function"]["name"] for tool in body.get("tools", [])),
        schema=((body.get("response_format") or {}).get("json_schema") or {}).get("schema"),
        effort=body.get("reasoning_effort"),
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens") or 0,
        headers=headers,
        body=body,
    )


def error(provider: str, status: int, message: str) -> Json:
    """The body of an HTTP error."""
    if provider == "anthropic":
        return {"type": "error", "error": {"type": "api_error", "message": message}}
    if provider == "gemini":
        return {"error": {"code": status, "message": message, "status": "UNKNOWN"}}
    return {"error": {"message": message, "type": "server_error", "code": None}}


def events(seen: Seen, reply: Reply) -> Iterator[bytes]:
    """An answer as the events of its stream; no more tokens are written than were granted."""
    written = min(reply.output_tokens, seen.max_tokens)
    reply = replace(reply, output_tokens=written, thinking=min(reply.thinking, written))
    for event in {"anthropic": _anthropic, "gemini": _gemini, "openai": _openai}[seen.provider](seen, reply):
        name = f"event: {event['type']}\n" if seen.provider == "anthropic" else ""
        yield f"{name}data: {json.dumps(event)}\n\n".encode()
    if seen.provider == "openai":
        yield b"data: [DONE]\n\n"


def _anthropic(seen: Seen, reply: Reply) -> Iterator[Json]:
    usage = {"input_tokens": reply.input_tokens, "output_tokens": 1, "cache_read_input_tokens": reply.cached}
    yield {
        "type": "message_start",
        "message": {
            "id": f"msg_{len(seen.messages)}",
            "type": "message",
            "role": "assistant",
            "model": seen.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        },
    }
    blocks: list[tuple[Json, list[Json]]] = []
    if reply.thought:
        deltas = [
            {"type": "thinking_delta", "thinking": reply.thought},
            {"type": "signature_delta", "signature": "sig"},
        ]
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if reply.text:
        deltas = [{"type": "text_delta", "text": half} for half in _halves(reply.text)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for number, (name, arguments) in enumerate(reply.calls):
        start = {"type": "tool_use", "id": f"toolu_{len(seen.messages)}_{number}", "name": name, "input": {}}
        blocks.append((start, [{"type": "input_json_delta", "partial_json": json.dumps(arguments)}]))
    for index, (start, deltas) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = reply.stop or ("tool_use" if reply.calls else "end_turn")
    used = {"output_tokens": reply.output_tokens, "output_tokens_details": {"thinking_tokens": reply.thinking}}
    yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": used}
    yield {"type": "message_stop"}


def _gemini(seen: Seen, reply: Reply) -> Iterator[Json]:
    used = {
        "promptTokenCount": reply.input_tokens + reply.cached,
        "cachedContentTokenCount": reply.cached,
        "candidatesTokenCount": reply.output_tokens - reply.thinking,
        "thoughtsTokenCount": reply.thinking,
        "totalTokenCount": reply.input_tokens + reply.cached + reply.output_tokens,
    }
    parts: list[Json] = [{"text": reply.thought, "thought": True}] if reply.thought else []
    parts += [{"text": half} for half in _halves(reply.text)] if reply.text else []
    signature = base64.b64encode(b"sig").decode()
    parts += [
        {"functionCall": {"name": name, "args": arguments}, "thoughtSignature": signature}
        for name, arguments in reply.calls
    ]
    for part in parts:
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0}
        yield {"candidates": [candidate], "usageMetadata": used, "modelVersion": seen.model}
    reason = {"max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}.get(reply.stop, "STOP")
    last = {"content": {"role": "model", "parts": []}, "finishReason": reason, "index": 0}
    yield {"candidates": [last], "usageMetadata": used, "modelVersion": seen.model}


def _openai(seen: Seen, reply: Reply) -> Iterator[Json]:
    def chunk(delta: Json, finish: str | None = None) -> Json:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    base = {"id": "chatcmpl", "object": "chat.completion.chunk", "created": 1, "model": seen.model}
    yield chunk({"role": "assistant", "content": ""})
    if reply.thought:
        yield chunk({"reasoning_content": reply.thought})
    for half in _halves(reply.text) if reply.text else []:
        yield chunk({"content": half})
    for number, (name, arguments) in enumerate(reply.calls):
        call_id, said = f"call_{len(seen.messages)}_{number}", json.dumps(arguments)
        start = {"index": number, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        yield chunk({"tool_calls": [start]})
        for half in _halves(said):
            yield chunk({"tool_calls": [{"index": number, "function": {"arguments": half}}]})
    if reply.stop == "refusal":
        yield chunk({"refusal": "I cannot help with that."})
    yield chunk({}, {"max_tokens": "length"}.get(reply.stop, "tool_calls" if reply.calls else "stop"))
    yield {
        **base,
        "choices": [],
        "usage": {
            "prompt_tokens": reply.input_tokens + reply.cached,
            "completion_tokens": reply.output_tokens,
            "total_tokens": reply.input_tokens + reply.cached + reply.output_tokens,
            "prompt_tokens_details": {"cached_tokens": reply.cached},
            "completion_tokens_details": {"reasoning_tokens": reply.thinking},
        },
    }


def _halves(text: str) -> list[str]:
    """Pieces of a text, so that whoever reads only one of them is found out."""
    middle = (len(text) + 1) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def _words(value: Any) -> list[str]:
    """Every text in a message or a part of one."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        return [word for item in value for word in _words(item)]
    if not isinstance(value, dict):
        return []
    found = [word for name in ("text", "content", "parts") if name in value for word in _words(value[name])]
    if "functionResponse" in value:
        found.append(json.dumps(value["functionResponse"].get("response")))
    return found
