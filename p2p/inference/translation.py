"""Translate vendors' errors into ours, and sanitise careless answers."""

import json
import math
import time
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from p2p.contracts.inference import (
    AuthenticationFailed,
    ModelProblem,
    ModelTimeout,
    ModelUnavailable,
    Part,
    RateLimited,
    ReplyMalformed,
    RequestRejected,
    ToolCall,
    Usage,
    VideoPart,
)
from p2p.redaction import redact_text

BAD_KEY = ("api_key_invalid", "api key not valid", "api key expired")
"""What Gemini says of a key, under the status of a bad request."""


def status_problem(status: int, message: str, headers: httpx2.Headers | None, model: str) -> ModelProblem:
    """Error for an HTTP status.

    Args:
        status: Of the response.
        message: What the provider said.
        headers: Of the response; None where there are none.
        model: `provider:model` that was asked.
    """
    said = f"HTTP {status}, {redact_text(message.strip()).rstrip('.')[:400] or 'no message'}."
    if status in (401, 402, 403) or any(words in message.lower() for words in BAD_KEY):
        return AuthenticationFailed(f"{model} refuses the key, or its account cannot pay: {said} Set a valid key.")
    if status == 404:
        return RequestRejected(f"{model} does not exist at its provider: {said} Choose another model.")
    if status == 429:
        return RateLimited(f"{model} gets too many requests: {said}", retry_after_s=retry_after(headers))
    if status in (408, 409, 425) or status >= 500:
        return ModelUnavailable(f"{model} cannot answer now: {said}", retry_after_s=retry_after(headers))
    return RequestRejected(f"{model} refuses the request: {said} A model without thinking needs the effort 'off'.")


def broken(error: Exception, model: str, used: Usage | None = None) -> ModelProblem:
    """Error for an answer that was cut, late, or malformed.

    Args:
        error: What the vendor's library, or the connection, raised.
        model: `provider:model` that was asked.
        used: Tokens of the part that came.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, httpx2.TimeoutException):
            return ModelTimeout(f"{model} took too long.", used)
        if isinstance(cause, httpx2.HTTPError):
            return ModelUnavailable(f"The connection to {model} failed ({type(cause).__name__}).", used)
        cause = cause.__cause__ or cause.__context__
    return ReplyMalformed(f"The answer of {model} cannot be read ({type(error).__name__}).", used, transient=True)


def no_answer(model: str) -> ReplyMalformed:
    """Error for a response of another kind, such as a proxy's page."""
    return ReplyMalformed(
        f"The reply is not an answer of {model}; is there a proxy between this machine and the provider?",
        transient=True,
    )


def cut(model: str, used: Usage | None = None) -> ModelUnavailable:
    """Error for an answer without its end."""
    return ModelUnavailable(f"The connection to {model} was cut in the middle of an answer.", used)


def retry_after(headers: httpx2.Headers | None) -> float | None:
    """Delay the provider asks for [s], from `Retry-After` as seconds or date; None if absent."""
    if headers is None:
        return None
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            value = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if math.isfinite(value):
            return max(value, 0.0)
    try:
        return max(parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time(), 0.0)
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def tool_call(call_id: str, name: str, arguments: Any) -> ToolCall:
    """Parse a tool call: arguments as an object or as its JSON text, else a call with a `problem`."""
    for _ in range(2):  # some encode what is encoded already
        if isinstance(arguments, str):
            with suppress(ValueError, RecursionError):
                arguments = json.loads(arguments) if arguments.strip() else {}
    if arguments is None:
        arguments = {}
    if isinstance(arguments, dict):
        return ToolCall(call_id=call_id, name=name, arguments=arguments)
    problem = f"The input of {name} must be an object, got {json.dumps(arguments, default=str)[:200]}."
    return ToolCall(call_id=call_id, name=name, problem=problem)


def count(value: Any) -> int:
    """Token count; 0 for missing or invalid values."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def refuse_video(part: Part, model: str) -> None:
    """Raise for a video part.

    Raises:
        RequestRejected: it is one, and the model takes none.
    """
    if isinstance(part, VideoPart):
        raise RequestRejected(f"{model} takes no videos. Send it pictures, or use a gemini: or vllm: model.")
