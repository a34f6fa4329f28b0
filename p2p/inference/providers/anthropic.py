"""Claude, over Anthropic's Messages interface, streamed."""

from typing import Any

import anthropic

from p2p.contracts.inference import (
    Echo,
    ImagePart,
    Message,
    ModelReply,
    ModelRequest,
    Part,
    StopReason,
    TextPart,
    ToolCall,
    ToolResult,
    Usage,
)
from p2p.inference.access import Access
from p2p.inference.http_connection import http_client
from p2p.inference.pieces import tell_piece
from p2p.inference.translation import broken, count, cut, no_answer, refuse_video, status_problem, tool_call

STOPS = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "pause_turn": StopReason.END,
    "tool_use": StopReason.TOOL_CALLS,
    "max_tokens": StopReason.MAX_TOKENS,
    "model_context_window_exceeded": StopReason.CONTEXT_FULL,
    "refusal": StopReason.REFUSED,
}
CONTEXT_EDITING = {
    "edits": [
        {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": 100_000},
            "keep": {"type": "tool_uses", "value": 8},
            "exclude_tools": ["create_session", "describe_environment"],
        }
    ]
}
"""The provider drops old results of tools by itself once a long conversation has grown."""
CONTEXT_EDITING_BETA = "context-management-2025-06-27"


class AnthropicModel:
    """A Claude model.

    Args:
        model: Its name, without the provider.
        access: How it is reached.
    """

    def __init__(self, model: str, access: Access) -> None:
        self._model = model
        self._name = f"anthropic:{model}"
        self._client = anthropic.Anthropic(
            api_key=access.key.get_secret_value(),
            base_url=access.base_url,
            max_retries=0,  # ours are told of, counted and limited
            http_client=http_client(access),
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def complete(self, request: ModelRequest) -> ModelReply:
        """Ask for one answer; see `LanguageModel.complete` for errors."""
        snapshot = None
        finished = False
        parameters = self._parameters(request)
        try:
            with self._client.messages.stream(**parameters) as stream:
                for event in stream:
                    if event.type == "text":
                        tell_piece(event.text)
                    finished = finished or event.type == "message_stop"
                    snapshot = stream.current_message_snapshot
        except anthropic.APIStatusError as error:
            status = error.status_code if error.status_code >= 400 else 500
            raise status_problem(
                status, error.api_message or error.message, error.response.headers, self._name
            ) from error
        except Exception as error:  # this library raises JSONDecodeError, AssertionError and others of its inside
            raise broken(error, self._name, _usage(snapshot) if snapshot else None) from error
        if snapshot is None:
            raise no_answer(self._name)
        if not finished or snapshot.stop_reason is None:
            raise cut(self._name, _usage(snapshot))
        return self._reply(snapshot)

    def _parameters(self, request: ModelRequest) -> dict[str, Any]:
        output: dict[str, Any] = {}
        parameters: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_tokens,
            "messages": [self._message(message) for message in request.messages],
        }
        if request.system:
            parameters["system"] = request.system
        if request.tools:  # a conversation: each turn reads what the turns before have read
            parameters["cache_control"] = {"type": "ephemeral"}
            if request.long_conversation:  # trainings take longer than the five minutes of the cheaper cache
                parameters["cache_control"]["ttl"] = "1h"
                parameters["extra_body"] = {"context_management": CONTEXT_EDITING}
                parameters["extra_headers"] = {"anthropic-beta": CONTEXT_EDITING_BETA}
            parameters["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in request.tools
            ]
            parameters["tool_choice"] = {"type": request.tool_choice}
        if request.effort not in (None, "off"):
            parameters["thinking"] = {"type": "adaptive"}
            output["effort"] = request.effort
        if request.output_schema is not None:
            output["format"] = {"type": "json_schema", "schema": anthropic.transform_schema(request.output_schema)}
        return {**parameters, "output_config": output} if output else parameters

    def _message(self, message: Message) -> dict[str, Any]:
        if message.echo is not None and message.echo.model == self._name:
            return {"role": message.role, "content": message.echo.content}
        return {"role": message.role, "content": [self._block(part) for part in message.parts]}

    def _block(self, part: Part) -> dict[str, Any]:
        refuse_video(part, self._name)
        if isinstance(part, TextPart):
            return {"type": "text", "text": part.text or "(nothing)"}
        if isinstance(part, ToolCall):
            return {"type": "tool_use", "id": part.call_id, "name": part.name, "input": part.arguments}
        if isinstance(part, ToolResult):
            content = [{"type": "text", "text": part.text or "(nothing)"}, *(_picture(image) for image in part.images)]
            return {
                "type": "tool_result",
                "tool_use_id": part.call_id,
                "content": content,
                "is_error": part.is_error,
            }
        assert isinstance(part, ImagePart)
        return _picture(part)

    def _reply(self, snapshot: Any) -> ModelReply:
        parts: list[Part] = []
        echo: list[dict[str, Any]] = []
        for block in snapshot.content:
            plain = block.to_dict(mode="json", warnings=False)
            native = {key: value for key, value in plain.items() if value is not None and key != "parsed_output"}
            if native.get("type") == "text" and native.get("text"):
                parts.append(TextPart(text=str(native["text"])))
            elif native.get("type") == "tool_use":
                call = tool_call(str(native.get("id")), str(native.get("name")), native.get("input"))
                parts.append(call)
                native["input"] = call.arguments
            elif native.get("type") == "text":
                continue  # an empty text is not taken back
            echo.append(native)
        details = snapshot.stop_details
        return ModelReply(
            message=Message(
                role="assistant", parts=tuple(parts), echo=Echo(model=self._name, content=echo) if echo else None
            ),
            stop=STOPS.get(str(snapshot.stop_reason), StopReason.END),
            usage=_usage(snapshot),
            model=self._name,
            refusal=": ".join(said for said in (details.category, details.explanation) if said) if details else "",
        )


def _picture(image: ImagePart) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": image.data}}


def _usage(message: Any) -> Usage:
    """Tokens of an answer; cache writes without a lifetime count as five minutes."""
    usage = message.usage
    written = count(usage.cache_creation_input_tokens)
    hour = min(written, count(usage.cache_creation.ephemeral_1h_input_tokens)) if usage.cache_creation else 0
    details = usage.output_tokens_details
    return Usage(
        input=count(usage.input_tokens),
        output=count(usage.output_tokens),
        thinking=count(details.thinking_tokens) if details else 0,
        cache_read=count(usage.cache_read_input_tokens),
        cache_write_5m=written - hour,
        cache_write_1h=hour,
    )
