"""Language model of an agent that uses the tools, with the agent's own caps."""

from collections.abc import Callable

from p2p.contracts.inference import ModelName, ModelProblem, ModelRequest
from p2p.inference.client import PatientModel
from p2p.inference.estimate import estimate_tokens
from p2p.inference.retry import Patience
from p2p.settings import Settings

PATIENCE = Patience()
"""How often one answer is asked for; `Settings.model_patience_s` says how long."""


def agent_model(
    settings: Settings, model: str, problem: Callable[[ModelProblem], None], piece: Callable[[str], None]
) -> PatientModel:
    """Open a connection to a model; the caller closes it.

    Args:
        settings: How long an answer is waited for.
        model: `provider:model`.
        problem: Called with each error, also the last.
        piece: Called with each piece of text as it comes.

    Raises:
        InvalidInput: it names no model.
        MissingExtra: its library is not installed.
        AuthenticationFailed: it needs a key, and there is none.
    """
    patience = PATIENCE.model_copy(update={"total_s": settings.model_patience_s})
    return PatientModel(ModelName.parse(model), patience, settings.model_silence_s, problem, piece)


def tokens_to_read(request: ModelRequest) -> int:
    """Estimated input tokens of a request, rounded up generously."""
    return estimate_tokens(request)
