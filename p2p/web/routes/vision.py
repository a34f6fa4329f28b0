"""Models that look at pictures, in the form that programs for Ollama speak."""

from fastapi import APIRouter

from p2p.service.judging.eyes import eyes_of
from p2p.service.machines.asking import ask_eyes
from p2p.service.machines.serving import served_models
from p2p.web.arguments import Ws, session_of
from p2p.web.schemas import ChatAnswer, ChatRequest, ModelTags, VlmStatus

router = APIRouter(prefix="/api/vlm", tags=["vision"])


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
