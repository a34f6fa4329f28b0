"""One answer of Claude: asked for as a stream, checked, and asked for again where the connection broke."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import anthropic
import anyio
import httpx2

from p2p.contracts.agent import AgentEnding, AgentRequest
from p2p.contracts.errors import EnvironmentProblem, InvalidInput
from p2p.contracts.usage import Usage
from p2p_mcp.agent.context import EDITING
from p2p_mcp.agent.converter import Block
from p2p_mcp.agent.ending import Ended
from p2p_mcp.agent.reading import Unfinished, content_of, usage_of

BETAS: list[Any] = ["context-management-2025-06-27"]
ATTEMPTS = 4
"""Streams begun for one answer at most; each may itself be tried again by the SDK before it begins."""
RETRIES = 4
"""Of the SDK, for 408, 409, 429, 5xx and 529, and where no connection could be made."""
SILENCE_S = 120.0
"""A stream that says nothing for so long is broken [s]; the provider sends pings every few seconds."""
ANSWER_S = 900.0
"""An answer that takes longer is given up [s]."""


@dataclass(frozen=True)
class Answer:
    """What the model said."""

    content: list[Block]
    """Blocks as they are sent back with the next turn."""
    stop_reason: str
    refusal: str
    """Why it was refused, where it was."""


class Watcher(Protocol):
    """Who wants to know how an answer goes."""

    def text(self, piece: str) -> None:
        """A piece of it has come."""

    def problem(self, what: str) -> None:
        """It broke, and is asked for again."""

    def usage(self, usage: Usage) -> None:
        """What it, or the part of one that broke, used."""


@dataclass(frozen=True)
class Question:
    """What the model is sent."""

    system: str
    tools: Sequence[Block]
    messages: Sequence[Block]
    max_tokens: int


class Claude:
    """A model behind the Messages interface.

    Args:
        request: names the model and its effort.
        key: of the provider.
        pause: waits the given time [s] before a broken answer is asked for again.
    """

    def __init__(
        self, request: AgentRequest, key: str, pause: Callable[[float], Awaitable[None]] = anyio.sleep
    ) -> None:
        self._model, self._effort = request.model, request.effort
        self._client = anthropic.AsyncAnthropic(
            api_key=key,
            max_retries=RETRIES,
            timeout=httpx2.Timeout(SILENCE_S, connect=20.0),
        )
        self._pause = pause

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def ask(self, question: Question, watcher: Watcher) -> Answer:
        """One answer.

        Raises:
            Ended: the provider does not answer, or not in its own format.
            EnvironmentProblem: the key is refused, or has no credit.
            InvalidInput: the provider refuses the request.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with anyio.fail_after(ANSWER_S):
                    return await self._stream(question, watcher)
            except (anthropic.APIError, httpx2.HTTPError, Unfinished, TimeoutError) as error:
                _give_up_if_final(error, self._model)
                if attempt == ATTEMPTS:
                    raise Ended(AgentEnding.PROBLEM, f"The provider could not be reached: {_say(error)}") from error
                watcher.problem(f"{_say(error)} Asking again ({attempt + 1} of {ATTEMPTS}).")
                await self._pause(2.0 ** (attempt - 1))
        raise AssertionError("the loop returns or raises")

    async def _stream(self, question: Question, watcher: Watcher) -> Answer:
        """One attempt; what it used is told also when it breaks."""
        finished, snapshot = False, None
        try:
            async with self._client.beta.messages.stream(**self._parameters(question)) as stream:
                async for event in stream:
                    if event.type == "text":
                        watcher.text(event.text)
                    finished = finished or event.type == "message_stop"
                    snapshot = stream.current_message_snapshot
        except (ValueError, AssertionError, RuntimeError, AttributeError, IndexError, TypeError) as error:
            raise Unfinished(f"The answer cannot be read ({type(error).__name__}).") from error
        finally:
            if snapshot is not None:
                watcher.usage(usage_of(snapshot))
        if snapshot is None:
            raise Unfinished("The answer is no stream of messages; is something between us and the provider?")
        if not finished or snapshot.stop_reason is None:
            raise Unfinished("The connection was cut in the middle of an answer.")
        details = snapshot.stop_details
        return Answer(content_of(snapshot), snapshot.stop_reason, _refusal(details) if details else "")

    def _parameters(self, question: Question) -> dict[str, Any]:
        thinking: dict[str, Any] = {}
        if self._effort != "off":
            thinking = {"thinking": {"type": "adaptive"}, "output_config": {"effort": self._effort}}
        return {
            "model": self._model,
            "max_tokens": question.max_tokens,
            "system": question.system,
            "tools": list(question.tools),
            "messages": list(question.messages),
            # trainings take longer than the five minutes of the cheaper cache
            "cache_control": {"type": "ephemeral", "ttl": "1h"},
            "context_management": EDITING,
            "betas": BETAS,
            **thinking,
        }


def _give_up_if_final(error: Exception, model: str) -> None:
    """Raise what a person can act on for an error that asking again does not mend."""
    if isinstance(error, anthropic.AuthenticationError | anthropic.PermissionDeniedError):
        raise EnvironmentProblem(f"The provider refuses ANTHROPIC_API_KEY: {_say(error)} Set a valid key.") from error
    if isinstance(error, anthropic.PaymentRequiredError):
        raise EnvironmentProblem(f"The account of ANTHROPIC_API_KEY cannot pay: {_say(error)}") from error
    if isinstance(error, anthropic.NotFoundError):
        raise InvalidInput(f"The provider knows no model {model!r}. Choose another with --model.") from error
    if isinstance(
        error, anthropic.BadRequestError | anthropic.UnprocessableEntityError | anthropic.ContentTooLargeError
    ):
        raise InvalidInput(
            f"The provider refuses the request: {_say(error)} A model without adaptive thinking needs --effort off."
        ) from error


def _say(error: Exception) -> str:
    if isinstance(error, anthropic.APIStatusError):
        body = error.body if isinstance(error.body, dict) else {}
        inner = body.get("error")
        text = inner.get("message") if isinstance(inner, dict) else None
        return f"HTTP {error.status_code}, {text or 'no message'}."
    if isinstance(error, TimeoutError | anthropic.APITimeoutError | httpx2.TimeoutException):
        return "The provider took too long."
    if isinstance(error, Unfinished):
        return str(error)
    return f"The connection failed ({type(error).__name__})."


def _refusal(details: Any) -> str:
    return ": ".join(part for part in (details.category, details.explanation) if part)
