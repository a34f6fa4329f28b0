"""Free questions to the models that look at pictures."""

from p2p.contracts.errors import InvalidInput
from p2p.contracts.inference import Message, ModelName, ModelReply, ModelRequest
from p2p.contracts.remedies import Remedy
from p2p.service.judging.eyes import vision_models
from p2p.service.machines.serving import served_models
from p2p.service.models.agent_model import agent_model
from p2p.service.workspace import Workspace

ROLE = "question"
LOCAL = ("vllm", "ollama")
"""Providers that nobody is paid for."""
LONGEST_ANSWER = 4_000
"""[tokens]."""
WITHIN_S = 300.0
"""How long an answer is waited for [s]."""


def ask_eyes(
    ws: Workspace, messages: tuple[Message, ...], session_id: str | None = None, model: str = "", system: str = ""
) -> ModelReply:
    """Ask a model that looks at pictures.

    Args:
        ws: The workspace.
        messages: What was said so far, with pictures; the last is the question.
        session_id: Within whose caps, and in whose ledger; None allows models of this machine alone.
        model: `provider:model`; empty takes the session's eyes, or the model that was served last.
        system: Instructions.

    Raises:
        UnknownName: there is no such session.
        InvalidInput: no model is configured, or none that costs nothing.
        ModelProblem: it gives no answer that can be used.
        BudgetExceeded: it would cost more than the session may.
    """
    request = ModelRequest(system=system, messages=messages, max_tokens=LONGEST_ANSWER)
    if session_id is not None:
        return vision_models(ws, ws.record(session_id), model).for_role(ROLE).complete(request)
    name = model or next((server.name for server in reversed(served_models()) if server.state == "ready"), "")
    if not name:
        raise InvalidInput(f"No model is served on this machine: {Remedy.LIST_SERVED.of()}. Or name a session.")
    if ModelName.parse(name).provider not in LOCAL:
        raise InvalidInput(
            f"{name} costs money, and without a session nothing caps it. Name a session, or a model of this machine "
            f"({', '.join(f'{provider}:MODEL' for provider in LOCAL)})."
        )
    answering = agent_model(ws.settings, name, problem=lambda _: None, piece=lambda _: None)
    try:
        return answering.complete(request, WITHIN_S)
    finally:
        answering.close()
