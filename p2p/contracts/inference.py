"""Language models: requests and replies, usage, caps, problems, and servers on this machine."""

import hashlib
from enum import StrEnum
from typing import Annotated, Literal, Protocol

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput, P2PError
from p2p.contracts.spending import MILLION, Caps, Effort, Price


class Usage(Contract):
    """Tokens of one answer, as the provider counted them."""

    input: int = Field(default=0, ge=0)
    """Read for the first time."""
    output: int = Field(default=0, ge=0)
    """Written, those of thinking included."""
    thinking: int = Field(default=0, ge=0)
    """Those of `output` that were spent on thinking."""
    cache_read: int = Field(default=0, ge=0)
    cache_write_5m: int = Field(default=0, ge=0)
    cache_write_1h: int = Field(default=0, ge=0)

    @property
    def total(self) -> int:
        """All input and output tokens."""
        return self.input + self.output + self.cached

    @property
    def cached(self) -> int:
        """Tokens read from the provider's cache, or written to it."""
        return self.cache_read + self.cache_write_5m + self.cache_write_1h

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})


def cost(usage: Usage, price: Price) -> float:
    """Price of an answer [US dollars]."""
    return (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + usage.cache_write_5m * price.cache_write_5m
        + usage.cache_write_1h * price.cache_write_1h
    ) / MILLION


GIVE_UP_AFTER = 3
"""Answers in a row that lead nowhere, before a conversation is given up."""


class ModelName(Contract):
    """Who answers: a provider and one of its models, written `provider:model`."""

    provider: str
    model: str

    @classmethod
    def parse(cls, text: str) -> "ModelName":
        """Parse `provider:model`; the model may hold further colons, as in `ollama:qwen3:32b`.

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
        """Tool calls, in order."""
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
    """Distinguishes equal requests that need separate answers, such as for several candidates."""

    def digest(self, model: str) -> str:
        """Hash of the whole request to a model: the key of its answer."""
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
        """Whether it ended by itself, without text and calls."""
        return self.stop in (StopReason.END, StopReason.TOOL_CALLS) and not (self.text.strip() or self.tool_calls)

    @property
    def usable(self) -> bool:
        """Whether it is whole and not empty."""
        return self.stop in (StopReason.END, StopReason.TOOL_CALLS) and not self.empty


class LanguageModel(Protocol):
    """Anything that answers requests: a provider's model, or one whose calls are also counted and logged."""

    def complete(self, request: ModelRequest) -> ModelReply:
        """Ask for one answer.

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
    """Message from us to the model."""
    return Message(role="user", parts=(TextPart(text=text), *images))


class ModelProblem(P2PError):
    """A language model gave no answer that could be used.

    Args:
        message: What happened.
        usage: Tokens that were used all the same.
        retry_after_s: How long the provider asks to wait [s]; None where it does not say.
    """

    exit_code = 3
    transient = False
    """Whether the same request may be answered when it is made again."""

    def __init__(self, message: str, usage: Usage | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()
        self.retry_after_s = retry_after_s


class AuthenticationFailed(ModelProblem):
    """The provider refuses the key, or the account cannot pay."""

    exit_code = 4


class RequestRejected(ModelProblem):
    """The provider refuses the request, or knows no such model."""

    exit_code = 2


class RateLimited(ModelProblem):
    """The provider had too many requests of this account, also after waiting."""

    transient = True


class ModelUnavailable(ModelProblem):
    """The provider is overloaded, failing or out of reach."""

    transient = True


class ModelTimeout(ModelProblem):
    """No answer came within the time limit."""

    transient = True


class ModelRefused(ModelProblem):
    """The provider's filter, or the model itself, refuses to answer."""


class ReplyTruncated(ModelProblem):
    """The answer was cut off at its length limit, so that it is not whole."""


class ReplyMalformed(ModelProblem):
    """The answer is empty, cannot be read, or holds what it may not.

    Args:
        message: What is wrong with it.
        usage: Tokens that were used all the same.
        transient: Whether it was broken on the way, so that asking again may help.
    """

    def __init__(self, message: str, usage: Usage | None = None, transient: bool = False) -> None:
        super().__init__(message, usage)
        self.transient = transient


class ModelChoice(Contract):
    """Which models work for a session, and within which caps."""

    model: str
    """`provider:model`."""
    light_model: str = ""
    """For small tasks; empty means `model`."""
    effort: Effort = "medium"
    price: Price | None = None
    """Of a `model` that the price table does not know."""
    caps: Caps = Caps()


class CallLine(Contract):
    """One line of a session's ledger: a call has begun, or ended; the last line of a number counts."""

    number: int
    """From 1."""
    state: Literal["begun", "ended", "failed"]
    at: str
    """UTC, ISO 8601."""
    role: str
    iteration: int | None
    model: str
    """`provider:model`."""
    digest: str
    """Hash of the request, under which its answer is found again."""
    prompt_hash: str
    """Hash of the instructions alone: which version of a prompt was used."""
    usage: Usage
    """While it has only begun: the most that it can use."""
    dollars: float | None
    """None where the price is not known."""
    seconds: float = 0.0
    reusable: bool = False
    """Whether its answer serves the same request again."""
    problem: str = ""


class CallRecord(Contract):
    """The whole of one call (`calls/<number>.json`), secrets and pictures left out."""

    line: CallLine
    request: ModelRequest
    reply: ModelReply | None
    retries: tuple[str, ...] = ()
    """What went wrong before the answer came."""


class Cost(Contract):
    """What a role spent in an iteration."""

    role: str
    iteration: int | None
    """None for what belongs to the session as a whole."""
    calls: int
    failed: int
    usage: Usage
    dollars: float | None
    """None where a price is not known."""
    seconds: float
    """Waiting for models."""


class TrainingCost(Contract):
    """What the trainings of an iteration took."""

    iteration: int
    candidates: int = 0
    """Short trainings that its reward was chosen by; 0 for those of the reward itself."""
    environment_steps: int
    """With those that were simulated to plan the motions that episodes begin in."""
    seconds: float


class SessionCosts(Contract):
    """Where the tokens, dollars and seconds of a session went."""

    session_id: str
    caps: Caps
    models: tuple[str, ...]
    """`provider:model` of all that answered."""
    rows: tuple[Cost, ...]
    """In the order of their first calls."""
    trainings: tuple[TrainingCost, ...]
    total: Cost
    open_calls: int
    """Calls that have begun and not ended, counted at the most they can use: under way, or lost in a crash."""
    seconds_at_work: float
    """From the session's start to its end, breaks left out."""


HOST = "127.0.0.1"
"""Nobody but this machine reaches them."""


class VllmOptions(Contract):
    """What a vLLM server serves, and how."""

    model: str = Field(min_length=1)
    port: int = Field(default=8000, ge=1, le=65_535)
    max_model_len: int = Field(default=32_768, ge=1)
    """Longest conversation [tokens]."""
    gpu_memory_share: float = Field(default=0.9, gt=0, le=1)
    devices: str | None = None
    """`CUDA_VISIBLE_DEVICES`; None leaves all."""
    start_s: float = Field(default=600.0, gt=0)
    """How long it may take until it answers [s]: it loads the model."""


class ServedModel(Contract):
    """A server that was started here and runs in the background."""

    model: str
    port: int
    key: str = Field(repr=False)
    """API key generated for this server alone."""
    pid: int
    """Leader of its process group."""
    began: str
    """Start time of that process, to tell it from a later one with the same id."""
    log: str
    """File its output goes to."""
    started_at: str
    """UTC, ISO 8601."""

    @property
    def base_url(self) -> str:
        """Address in the form of OpenAI's library."""
        return f"http://{HOST}:{self.port}/v1"


class ServedModels(Contract):
    """All of them, the one that was started last at the end (`served_models.json`)."""

    servers: tuple[ServedModel, ...] = ()


class ServedModelView(Contract):
    """How a server stands."""

    model: str
    name: str
    """What `--model` calls it."""
    base_url: str
    state: Literal["ready", "silent", "ended"]
    """It answers and serves the model; it lives and does not; its process is gone."""
    pid: int
    log: str
    started_at: str
    """UTC, ISO 8601."""
