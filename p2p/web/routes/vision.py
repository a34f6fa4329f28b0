"""Models that look at pictures, in the form that programs for Ollama speak."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput
from p2p.contracts.inference import ImagePart, Message, ModelReply, Part, ServedModelView, StopReason, TextPart
from p2p.service.judging.eyes import eyes_of
from p2p.service.machines.asking import ask_eyes
from p2p.service.machines.serving import served_models
from p2p.web.arguments import Ws, session_of
from p2p.web.router import Router

router = Router(prefix="/api/vlm", tags=["vision"])
_STARTS: dict[str, Literal["image/jpeg", "image/png"]] = {"/9j/": "image/jpeg", "iVBORw0KGgo": "image/png"}
"""How base64 of a picture begins."""


class VlmStatus(Contract):
    """Whether a model that looks at pictures is within reach."""

    available: bool
    """Whether one of this machine answers, or one is configured."""
    models: tuple[str, ...]
    """`provider:model` of those of this machine that answer."""
    eyes: str
    """The one that is configured, for a session where one was named; empty where none is."""


class ChatMessage(Contract):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str = Field(default="", max_length=100_000)
    images: tuple[str, ...] = Field(default=(), max_length=20)
    """JPEG or PNG, base64."""

    def parts(self) -> tuple[Part, ...]:
        """As the service takes them.

        Raises:
            InvalidInput: a picture is neither JPEG nor PNG.
        """
        return (*(TextPart(text=text) for text in (self.content,) if text), *map(_picture, self.images))


class ChatRequest(Contract):
    """A question, as Ollama's `/api/chat` takes it."""

    model: str = Field(default="", max_length=200)
    """`provider:model`; empty takes the session's eyes, or the model that was served last."""
    messages: tuple[ChatMessage, ...] = Field(min_length=1, max_length=100)
    stream: Literal[False] = False
    """Answers come whole."""
    session_id: str = Field(default="", max_length=64)
    """Within whose caps it is asked; empty allows models of this machine alone."""

    def conversation(self) -> tuple[str, tuple[Message, ...]]:
        """Instructions, and what was said.

        Raises:
            InvalidInput: a picture is neither JPEG nor PNG, or nobody asked anything.
        """
        system = "\n\n".join(one.content for one in self.messages if one.role == "system")
        said = tuple(Message(role=one.role, parts=one.parts()) for one in self.messages if one.role != "system")
        if not said or said[-1].role != "user" or not said[-1].parts:
            raise InvalidInput("The last message is the question: expected one of the user, with words or pictures.")
        return system, said


class ChatAnswer(Contract):
    """An answer, as Ollama gives it."""

    model: str
    message: ChatMessage
    done: bool = True
    done_reason: str
    prompt_eval_count: int
    """Tokens read."""
    eval_count: int
    """Tokens written."""

    @classmethod
    def of(cls, reply: ModelReply) -> "ChatAnswer":
        """A model's answer."""
        return cls(
            model=reply.model,
            message=ChatMessage(role="assistant", content=reply.text or reply.refusal),
            done_reason="length" if reply.stop is StopReason.MAX_TOKENS else "stop",
            prompt_eval_count=reply.usage.total - reply.usage.output,
            eval_count=reply.usage.output,
        )


class ModelTag(Contract):
    """A model, as Ollama lists it."""

    name: str
    model: str
    modified_at: str
    """When it was started (UTC, ISO 8601)."""


class ModelTags(Contract):
    """The models that are served."""

    models: tuple[ModelTag, ...]

    @classmethod
    def of(cls, servers: Iterable[ServedModelView]) -> "ModelTags":
        """Those of servers whose process lives."""
        return cls(
            models=tuple(
                ModelTag(name=one.name, model=one.model, modified_at=one.started_at)
                for one in servers
                if one.state != "ended"
            )
        )


def _picture(data: str) -> ImagePart:
    kind = next((kind for start, kind in _STARTS.items() if data.startswith(start)), None)
    if kind is None:
        raise InvalidInput("A picture is base64 of a JPEG or a PNG.")
    return ImagePart(media_type=kind, data=data)


@router.post("/api/chat")
def chat(ws: Ws, request: ChatRequest) -> ChatAnswer:
    """Ask a model. Without a session only models of this machine, which cost nothing; with one within its caps."""
    session_id = session_of(ws, request.session_id) if request.session_id else None
    system, messages = request.conversation()
    return ChatAnswer.of(ask_eyes(ws, messages, session_id, request.model, system))


@router.get("/api/tags")
def tags() -> ModelTags:
    """The models that p2p serves on this machine."""
    return ModelTags.of(served_models())


@router.get("/status")
def status(ws: Ws, session: str = "") -> VlmStatus:
    """Whether a model of this machine answers, and which one looks at a session's pictures."""
    ready = tuple(server.name for server in served_models() if server.state == "ready")
    eyes = eyes_of(ws, session_of(ws, session)) if session else ws.settings.model
    return VlmStatus(available=bool(ready or eyes), models=ready, eyes=eyes)
