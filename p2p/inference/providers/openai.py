"""OpenAI's models, and servers with its Chat Completions interface (vLLM, Ollama), streamed."""

from typing import Any

import openai

from p2p.contracts.inference import (
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
    VideoPart,
)
from p2p.contracts.spending import Effort
from p2p.inference.access import Access
from p2p.inference.http_connection import http_client
from p2p.inference.providers.chat_stream import ChatStream, encode
from p2p.inference.translation import broken, cut, no_answer, refuse_video, status_problem

STOPS = {
    "stop": StopReason.END,
    "tool_calls": StopReason.TOOL_CALLS,
    "function_call": StopReason.TOOL_CALLS,
    "length": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSED,
}
LOCAL_EFFORT: dict[Effort, str] = {"xhigh": "high", "max": "high"}
"""Servers of other makers know no effort above "high"."""


class OpenAIModel:
    """An OpenAI model.

    Args:
        model: Its name, without the provider.
        access: How it is reached.
    """

    provider = "openai"
    local = False
    """Whether it is another maker's server, which knows fewer parameters, and may take videos."""

    def __init__(self, model: str, access: Access) -> None:
        self._model = model
        self._name = f"{self.provider}:{model}"
        self._client = openai.OpenAI(
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
        heard = ChatStream(request)
        parameters = self._parameters(request)
        try:
            with self._client.chat.completions.create(**parameters) as stream:
                for chunk in stream:
                    heard.add(chunk)
        except openai.APIStatusError as error:
            raise status_problem(error.status_code, error.message, error.response.headers, self._name) from error
        except Exception as error:  # broken JSON comes as JSONDecodeError, broken chunks as errors of its inside
            raise broken(error, self._name, heard.usage_so_far()) from error
        if not heard.begun:
            raise no_answer(self._name)
        if heard.finish is None:
            raise cut(self._name, heard.usage_so_far())
        stop = StopReason.REFUSED if heard.refusal else STOPS.get(heard.finish, StopReason.END)
        if stop is StopReason.END and heard.calls:
            stop = StopReason.TOOL_CALLS
        return ModelReply(
            message=Message(role="assistant", parts=heard.parts()),
            stop=stop,
            usage=heard.usage or Usage(),
            model=self._name,
            refusal=heard.refusal,
        )

    def _parameters(self, request: ModelRequest) -> dict[str, Any]:
        messages: list[dict[str, Any]] = [{"role": "system", "content": request.system}] if request.system else []
        for message in request.messages:
            messages += self._messages(message)
        parameters: dict[str, Any] = {
            "model": self._model,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens" if self.local else "max_completion_tokens": request.max_tokens,
        }
        if request.tools:
            parameters["tools"] = [{"type": "function", "function": tool.model_dump()} for tool in request.tools]
            parameters["tool_choice"] = request.tool_choice
        if request.effort is not None and request.effort != "off":
            known = LOCAL_EFFORT if self.local else {}
            parameters["reasoning_effort"] = known.get(request.effort, request.effort)
        if request.output_schema is not None:
            schema = {"name": "answer", "schema": request.output_schema, "strict": False}
            parameters["response_format"] = {"type": "json_schema", "json_schema": schema}
        return parameters

    def _messages(self, message: Message) -> list[dict[str, Any]]:
        """Convert one message into one or more: each tool result is its own, followed by its pictures."""
        if message.role == "assistant":
            said: dict[str, Any] = {"role": "assistant", "content": message.text or None}
            if message.tool_calls:
                said["tool_calls"] = [_call(call) for call in message.tool_calls]
            return [said]
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        content = [self._part(part) for part in message.parts if not isinstance(part, ToolResult)]
        content += [_picture(image) for result in results for image in result.images]
        answers: list[dict[str, Any]] = [
            {"role": "tool", "tool_call_id": result.call_id, "content": result.text or "(nothing)"}
            for result in results
        ]
        return [*answers, {"role": "user", "content": content}] if content else answers

    def _part(self, part: Part) -> dict[str, Any]:
        if isinstance(part, VideoPart) and self.local:
            return {"type": "video_url", "video_url": {"url": f"data:{part.media_type};base64,{part.data}"}}
        refuse_video(part, self._name)
        if isinstance(part, ImagePart):
            return _picture(part)
        assert isinstance(part, TextPart)
        return {"type": "text", "text": part.text or "(nothing)"}


class VllmModel(OpenAIModel):
    """A model behind a vLLM server."""

    provider = "vllm"
    local = True


class OllamaModel(OpenAIModel):
    """A model behind Ollama."""

    provider = "ollama"
    local = True


def _picture(image: ImagePart) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{image.data}"}}


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": encode(call.arguments)}
    return {"id": call.call_id, "type": "function", "function": function}
