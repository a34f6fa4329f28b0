"""Who writes in a session: the built-in author, or a language model with the session's own budget."""

from p2p import registry
from p2p.contracts.protocols import Author, AuthorLimits
from p2p.contracts.session import NewSession
from p2p.service.authoring.models import session_models, steps_done
from p2p.service.authoring.variants import n_variants
from p2p.service.catalog import Catalog
from p2p.service.wording import reward_constraints
from p2p.store.sessions import SessionRecord

MODEL = "model"
"""Name under which the author that asks a language model is registered."""


def writes_by_model(session: NewSession) -> bool:
    """Whether the session's author is a language model, named `provider:model`."""
    return ":" in session.author


class Authors(Catalog):
    """The authors of sessions."""

    def author_of(self, record: SessionRecord) -> Author:
        """Who writes criteria, rewards and revisions of a session.

        Raises:
            InvalidInput: `provider:model` names no model.
            UnknownName: there is no such author, or provider.
        """
        session = record.read_session()
        if not writes_by_model(session):
            return self.author(session.author)
        models = session_models(record, self.settings.model_patience_s, self.settings.model_silence_s)
        cap = session.caps.environment_steps
        limits = AuthorLimits(
            constraints=reward_constraints(self.describe_environment(session.env_id)),
            steps_left=None if cap is None else max(0, cap - steps_done(record)),
            reward_only=session.reward_only,
            n_runs=session.n_seeds * len(session.configs),
            n_variants=n_variants(session),
            taken=tuple(session.configs),
        )
        author: Author = registry.load("author", registry.AUTHORS, MODEL)(models, record, limits)
        return author
