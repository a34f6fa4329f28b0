"""Authors of a session: the built-in one, or a language model with the session's budget."""

from p2p import registry
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import P2PError
from p2p.contracts.intent import Intent
from p2p.contracts.protocols import Author, AuthorLimits
from p2p.contracts.session import NewSession
from p2p.service.models.session_models import session_models, steps_done
from p2p.service.rewards.variants import n_variants
from p2p.service.training.environments import environment_of
from p2p.service.training.plan import terrain_of
from p2p.service.wording import reward_constraints
from p2p.service.workspace import Workspace
from p2p.store.sessions import SessionRecord
from p2p.training.tuning import without_hyperparameters

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
        constraints=rules_of(ws, session, record.read_criteria()),
        steps_left=None if cap is None else max(0, cap - steps_done(record)),
        reward_only=session.reward_only,
        n_runs=session.n_seeds * len(session.configs),
        n_variants=n_variants(session),
        taken=tuple(session.configs),
    )
    author: Author = registry.load("author", registry.AUTHORS, MODEL)(models, record, limits)
    return author


def rules_of(ws: Workspace, session: NewSession, intent: Intent | None) -> str:
    """What a writer of rewards for a session has to know, with settings that are known to teach its sentence."""
    spec = environment_of(ws, session, intent)
    settings = known_settings(ws, intent, spec) if intent is not None else {}
    if session.reward_only:
        settings = without_hyperparameters(settings)
    return reward_constraints(spec, terrain=terrain_of(session), settings=settings)


def known_settings(ws: Workspace, intent: Intent, spec: EnvSpec) -> dict[str, object]:
    """Configuration changes that the built-in author trains a sentence with; empty where it does not know it.

    Without weights that change: they are of the terms of its own reward.
    """
    try:
        found = dict(ws.author("builtin").write(intent, spec).config_changes)
    except P2PError:
        return {}
    curriculum = found.pop("curriculum", None)
    if isinstance(curriculum, dict) and (kept := {part: curriculum[part] for part in curriculum if part != "weights"}):
        found["curriculum"] = kept
    return found


def wishes_are_read(record: SessionRecord) -> bool:
    """Whether the next reward's author is a model or a caller, who can read wishes.

    One that a process has driven and no model writes for goes on by itself; without one, its caller writes.
    """
    return writes_by_model(record.read_session()) or not record.driver_dir.exists()
