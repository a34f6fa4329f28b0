"""Gemini, over Google's library, streamed."""

import base64
import logging
import re
from typing import Any

from google.genai import Client, errors, types

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
    VideoPart,
)
from p2p.contracts.spending import Effort
from p2p.inference.access import Access
from p2p.inference.http_connection import http_client
from p2p.inference.pieces import tell_piece
from p2p.inference.translation import broken, count, cut, no_answer, status_problem, tool_call

logging.getLogger("google_genai").setLevel(logging.ERROR)  # it warns of answers that call tools
LEVELS: dict[Effort, str] = {"low": "LOW", "medium": "MEDIUM", "high": "HIGH", "xhigh": "HIGH", "max": "HIGH"}
MALFORMED = ("MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "OTHER")
"""Reasons to stop that leave nothing to read; asking again may help."""
ENDED = ("STOP", "MAX_TOKENS", "CONTINUATION")
RETRY_DELAY = re.compile(r"'retryDelay': '(\d+(?:\.\d+)?)s'")


class GeminiModel:
    """A Gemini model.

    Args:
        model: Its name, without the provider.
        access: How it is reached.
    """

    def __init__(self, model: str, access: Access) -> None:
        self._model = model
        self._name = f"gemini:{model}"
        self._http = http_client(access)
        options = types.HttpOptions(
            base_url=access.base_url,
            retry_options=types.HttpRetryOptions(attempts=1),
            httpx_client=self._http,
        )
        self._client = Client(api_key=access.key.get_secret_value(), vertexai=False, http_options=options)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
        self._http.close()

    def complete(self, request: ModelRequest) -> ModelReply:
        """Ask for one answer; see `LanguageModel.complete` for errors."""
        parts: list[Any] = []
        usage = None
        finish = ""
        refusal = ""
        begun = False
        contents = [self._content(message) for message in request.messages]
        try:
            for chunk in self._client.models.generate_content_stream(
                model=self._model, contents=contents, config=_config(request)
            ):
                begun = begun or bool(chunk.candidates or chunk.prompt_feedback or chunk.usage_metadata)
                usage = _usage(chunk.usage_metadata) or usage
                feedback = chunk.prompt_feedback
                if feedback is not None and feedback.block_reason:
                    refusal = str(feedback.block_reason.value)
                candidate = chunk.candidates[0] if chunk.candidates else None
                if candidate is not None:
                    new = (candidate.content.parts or []) if candidate.content else []
                    tell_piece("".join(part.text for part in new if part.text and not part.thought))
                    parts += new
                    finish = candidate.finish_reason.value if candidate.finish_reason else finish
        except errors.APIError as error:
            headers = getattr(error.response, "headers", None)
            problem = status_problem(error.code or 500, str(error.message or error.status or ""), headers, self._name)
            if problem.retry_after_s is None and (asked := RETRY_DELAY.search(str(error.details))):
                problem.retry_after_s = float(asked[1])
            raise problem from error
        except Exception as error:  # pydantic's, for what does not fit its types; JSON's; those of the connection
            raise broken(error, self._name, usage) from error
        if not begun:
            raise no_answer(self._name)
        if finish in MALFORMED:
            raise broken(ValueError(finish), self._name, usage)
        if not finish and not refusal:
            raise cut(self._name, usage)
        return self._reply(parts, finish, refusal, usage or Usage())

    def _reply(self, parts: list[Any], finish: str, refusal: str, usage: Usage) -> ModelReply:
        said: list[Part] = []
        if text := "".join(part.text for part in parts if part.text and not part.thought):
            said.append(TextPart(text=text))
        calls = [part.function_call for part in parts if part.function_call]
        for number, call in enumerate(calls):
            call.id = call.id or f"call_{usage.total}_{number}"
            said.append(tool_call(call.id, call.name or "unnamed", call.args))
        stop = StopReason.TOOL_CALLS if calls else StopReason.END
        if finish in ("MAX_TOKENS", "CONTINUATION"):
            stop = StopReason.MAX_TOKENS
        elif refusal or finish not in ENDED:
            stop = StopReason.REFUSED
        # Text, calls and signatures are sent back; thoughts without a signature are not.
        kept = [p for p in parts if p.function_call or p.thought_signature or (p.text and not p.thought)]
        content = types.Content(role="model", parts=kept)
        echo = Echo(model=self._name, content=content.model_dump(mode="json", exclude_none=True))
        return ModelReply(
            message=Message(role="assistant", parts=tuple(said), echo=echo if content.parts else None),
            stop=stop,
            usage=usage,
            model=self._name,
            refusal=refusal or (finish if stop is StopReason.REFUSED else ""),
        )

    def _content(self, message: Message) -> types.Content:
        if message.echo is not None and message.echo.model == self._name:
            return types.Content.model_validate(message.echo.content)
        parts = [piece for part in message.parts for piece in _parts(part)]
        return types.Content(role="model" if message.role == "assistant" else "user", parts=parts)


def _config(request: ModelRequest) -> types.GenerateContentConfig:
    declared = [
        types.FunctionDeclaration(name=tool.name, description=tool.description, parameters_json_schema=tool.parameters)
        for tool in request.tools
    ]
    level = LEVELS.get(request.effort) if request.effort else None
    mode = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode(request.tool_choice.upper()))
    return types.GenerateContentConfig(
        system_instruction=request.system or None,
        max_output_tokens=request.max_tokens,
        tools=[types.Tool(function_declarations=declared)] if declared else None,
        tool_config=types.ToolConfig(function_calling_config=mode) if declared else None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        thinking_config=types.ThinkingConfig(thinking_level=types.ThinkingLevel(level)) if level else None,
        response_mime_type="application/json" if request.output_schema is not None else None,
        response_json_schema=request.output_schema,
    )


def _parts(part: Part) -> list[types.Part]:
    if isinstance(part, TextPart):
        return [types.Part(text=part.text or "(nothing)")]
    if isinstance(part, ImagePart):
        return [_picture(part)]
    if isinstance(part, VideoPart):
        blob = types.Blob(data=base64.b64decode(part.data), mime_type=part.media_type)
        rate = types.VideoMetadata(fps=part.fps) if part.fps else None
        return [types.Part(inline_data=blob, video_metadata=rate)]
    if isinstance(part, ToolCall):
        return [types.Part(function_call=types.FunctionCall(id=part.call_id, name=part.name, args=part.arguments))]
    assert isinstance(part, ToolResult)
    response = {"error" if part.is_error else "output": part.text}
    answer = types.FunctionResponse(id=part.call_id, name=part.name, response=response)
    return [types.Part(function_response=answer), *(_picture(image) for image in part.images)]


def _picture(image: ImagePart) -> types.Part:
    return types.Part(inline_data=types.Blob(data=base64.b64decode(image.data), mime_type=image.media_type))


def _usage(usage: Any) -> Usage | None:
    if usage is None:
        return None
    cached = count(usage.cached_content_token_count)
    thinking = count(usage.thoughts_token_count)
    read = count(usage.prompt_token_count) + count(usage.tool_use_prompt_token_count)
    return Usage(
        input=max(read - cached, 0),
        output=count(usage.candidates_token_count) + thinking,
        thinking=thinking,
        cache_read=cached,
    )
