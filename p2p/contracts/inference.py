"""A request to a language model, its answer, and the one Protocol every provider meets."""

import hashlib
from enum import StrEnum
from typing import Annotated, Literal, Protocol

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput
from p2p.contracts.usage import Usage

Effort = Literal["low", "medium", "high", "xhigh", "max", "off"]
"""How hard the model thinks; "off" leaves thinking and effort out of the request."""


GIVE_UP_AFTER = 3
"""Answers in a row that lead nowhere, before a conversation is given up."""


class ModelName(Contract):
    """Who answers: a provider and one of its models, written `provider:model`."""

    provider: str
    model: str

    @classmethod
    def parse(cls, text: str) -> "ModelName":
        """The name in `provider:model`; the model may hold further colons, as in `ollama:qwen3:32b`.

        Raises:
            InvalidInput: it is written otherwise.
        """
        provider, _, model = text.strip().partition(":")
        if not provider or not model:
            raise InvalidInput(
                f"{text!r} names no model. Write provider:model, for example anthropic:claude-opus-5-5, "
                "gemini:gemini-3.1-pro-preview or openai:gpt-5.4."
            )
        return cls(provider=provider, model=model)

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


class TextPart(Contract):
    """Words."""

    kind: Literal["text"] = "text"
    text: str


class ImagePart(Contract):
    """A picture."""

    kind: Literal["image"] = "image"
    media_type: Literal["image/jpeg", "image/png"]
    data: str
    """Base64."""


class VideoPart(Contract):
    """A video; of the providers only `gemini` and `vllm` take one."""

    kind: Literal["video"] = "video"
    media_type: Literal["video/mp4"] = "video/mp4"
    data: str
    """Base64."""
    fps: float | None = Field(default=None, gt=0)
    """Frames the model is to look at [1/s]; None leaves it to the provider."""


class ToolCall(Contract):
    """A tool that the model wants called."""

    kind: Literal["tool_call"] = "tool_call"
    call_id: str
    name: str
    arguments: dict[str, object] = {}
    problem: str = ""
    """Why it cannot be called as it came, for the model to read; empty where it can."""


class ToolResult(Contract):
    """What a tool answered."""

    kind: Literal["tool_result"] = "tool_result"
    call_id: str
    name: str
    text: str
    images: tuple[ImagePart, ...] = ()
    is_error: bool = False


Part = Annotated[TextPart | ImagePart | VideoPart | ToolCall | ToolResult, Field(discriminator="kind")]


class Echo(Contract):
    """An answer in its provider's own form, sent back unchanged: it carries thoughts and signatures."""

    model: str
    """`provider:model` that understands it."""
    content: object


class Message(Contract):
    """What one side said in one turn."""

    role: Literal["user", "assistant"]
    parts: tuple[Part, ...]
    echo: Echo | None = None
    """Of an answer; None for what we say."""

    @property
    def text(self) -> str:
        """Its words."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart) and part.text)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tools it calls, in its order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


class ToolSpec(Contract):
    """A tool as the model is told of it."""

    name: str = Field(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]{0,63}$")
    description: str
    parameters: dict[str, object] = {"type": "object", "properties": {}}
    """JSON Schema of an object."""


class ModelRequest(Contract):
    """What a model is asked."""

    system: str = ""
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    output_schema: dict[str, object] | None = None
    """JSON Schema that the answer follows; None for free text."""
    tool_choice: Literal["auto", "none"] = "auto"
    """"none": it may call none of them now, and answers in words."""
    effort: Effort | None = None
    """None leaves it to the session; without one, to the provider."""
    max_tokens: int = Field(default=16_000, ge=1)
    """Of the answer, thinking included."""
    long_conversation: bool = False
    """Trainings lie between its turns: what was read is cached for an hour, and a provider that can do so drops old
    results of tools once it has grown long. Changes how a request is kept, not what is asked."""
    sample: int = Field(default=0, ge=0)
    """Tells equal requests apart that are to be answered anew, such as for several candidates."""

    def digest(self, model: str) -> str:
        """Hash of the whole request to a model, under which its answer is found again."""
        return hashlib.sha256(f"{model}\n{self.model_dump_json(exclude={'long_conversation'})}".encode()).hexdigest()


class StopReason(StrEnum):
    """Why a model stopped."""

    END = "end"
    TOOL_CALLS = "tool_calls"
    MAX_TOKENS = "max_tokens"
    """Cut off at its length limit."""
    CONTEXT_FULL = "context_full"
    """The conversation has outgrown the model's context."""
    REFUSED = "refused"


class ModelReply(Contract):
    """What a model answered."""

    message: Message
    stop: StopReason
    usage: Usage
    model: str
    """`provider:model` that answered."""
    refusal: str = ""
    """Why, where it refused and said so."""

    @property
    def text(self) -> str:
        """Its words."""
        return self.message.text

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tools it wants called."""
        return self.message.tool_calls

    @property
    def empty(self) -> bool:
        """Whether it ended by itself and neither says nor calls anything."""
        return self.stop in (StopReason.END, StopReason.TOOL_CALLS) and not (self.text.strip() or self.tool_calls)

    @property
    def usable(self) -> bool:
        """Whether it is whole, and holds something."""
        return self.stop in (StopReason.END, StopReason.TOOL_CALLS) and not self.empty


class LanguageModel(Protocol):
    """Whoever answers requests: a provider's model, or one that is also counted and written down."""

    def complete(self, request: ModelRequest) -> ModelReply:
        """One answer.

        Raises:
            ModelProblem: there is none that can be used; its subclass says why.
        """
        ...


class Provider(LanguageModel, Protocol):
    """A vendor's model behind a connection."""

    def close(self) -> None:
        """Close the connection."""
        ...


def user(text: str, *images: ImagePart) -> Message:
    """A message of ours."""
    return Message(role="user", parts=(TextPart(text=text), *images))
