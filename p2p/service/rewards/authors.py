"""Authors of a session: the built-in one, or a language model with the session's budget."""

from p2p import registry
from p2p.contracts.protocols import Author, AuthorLimits
from p2p.contracts.session import NewSession
from p2p.service.models.session_models import session_models, steps_done
from p2p.service.rewards.variants import n_variants
from p2p.service.training.environments import environment_of
from p2p.service.training.plan import terrain_of
from p2p.service.wording import reward_constraints
from p2p.service.workspace import Workspace
from p2p.store.sessions import SessionRecord

MODEL = "model"
"""Name under which the author that asks a language model is registered."""


def writes_by_model(session: NewSession) -> bool:
    """Whether the session's author is a language model, named `provider:model`."""
    return ":" in session.author


def author_of(ws: Workspace, record: SessionRecord) -> Author:
    """Author of a session's criteria, rewards and revisions.

    Raises:
        InvalidInput: `provider:model` names no model.
        UnknownName: there is no such author, or provider.
    """
    session = record.read_session()
    if not writes_by_model(session):
        return ws.author(session.author)
    models = session_models(record, ws.settings.model_patience_s, ws.settings.model_silence_s)
    cap = session.caps.environment_steps
    limits = AuthorLimits(
        constraints=reward_constraints(
            environment_of(ws, session, record.read_criteria()), terrain=terrain_of(session)
        ),
        steps_left=None if cap is None else max(0, cap - steps_done(record)),
        reward_only=session.reward_only,
        n_runs=session.n_seeds * len(session.configs),
        n_variants=n_variants(session),
        taken=tuple(session.configs),
    )
    author: Author = registry.load("author", registry.AUTHORS, MODEL)(models, record, limits)
    return author


def wishes_are_read(record: SessionRecord) -> bool:
    """Whether the next reward's author is a model or a caller, who can read wishes.

    One that a process has driven and no model writes for goes on by itself; without one, its caller writes.
    """
    return writes_by_model(record.read_session()) or not record.driver_dir.exists()
