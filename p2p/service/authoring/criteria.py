"""Criteria that a caller sets, before anything is trained."""

from collections.abc import Sequence
from difflib import get_close_matches

from pydantic import ValidationError

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput
from p2p.contracts.events import EventName
from p2p.contracts.intent import Criterion, Intent
from p2p.service.catalog import Catalog
from p2p.store.candidates import all_runs


class Criteria(Catalog):
    """What a session is judged by, as far as its caller decides it."""

    def derive_intent(self, prompt: str, env_id: str) -> Intent:
        """The criteria that the built-in author makes of a sentence; nothing is kept.

        Raises:
            UnknownPhrase: it does not understand the sentence.
        """
        return self.author("builtin").elicit(prompt.strip(), self.describe_environment(env_id))

    def intent_of(
        self, prompt: str, env_id: str, criteria: Sequence[Criterion], episode_s: float | None = None
    ) -> Intent:
        """A sentence with criteria of the caller's own.

        Raises:
            InvalidInput: a criterion reads a feature the environment does not have, or they contradict each other.
        """
        spec = self.describe_environment(env_id)
        _check_features(criteria, spec)
        length = {} if episode_s is None else {"episode_s": episode_s}
        try:
            return Intent.model_validate(
                {"prompt": prompt, "env_id": env_id, "criteria": [c.model_dump() for c in criteria], **length}
            )
        except ValidationError as error:
            raise InvalidInput(f"These criteria do not go together: {error.errors()[0]['msg']}.") from error

    def clarify(self, session_id: str, answer: str) -> None:
        """Add a person's answer to the sentence of a session whose criteria are not fixed yet.

        Raises:
            InvalidInput: the criteria are fixed, or the answer is empty.
        """
        record = self.record(session_id)
        if record.read_criteria() is not None or not answer.strip():
            raise InvalidInput(
                f"The sentence of {session_id} is not changed: its criteria are fixed, or nothing was said."
            )
        session = record.read_session()
        record.save_session(session.model_copy(update={"prompt": f"{session.prompt} ({' '.join(answer.split())})"}))

    def replace_criteria(
        self, session_id: str, criteria: Sequence[Criterion], extend: bool = False, episode_s: float | None = None
    ) -> Intent:
        """Judge a session by other criteria, as long as nothing of it has been trained.

        Args:
            session_id: Which session.
            criteria: At most eight, with those there are already when they are extended.
            extend: Whether to keep the present ones; one of the same key is replaced.
            episode_s: Length of the judged episodes [s]; None leaves it.

        Raises:
            InvalidInput: a training has begun, or the criteria cannot be judged.
        """
        record = self.record(session_id)
        session, present = record.read_session(), record.read_criteria()
        begun = [iteration.number for iteration in record.iteration_records() if all_runs(iteration)]
        if begun:
            raise InvalidInput(
                f"Iteration {begun[0]} of {session_id} has been trained under its criteria, which stay as they are. "
                "To be judged by others, create another session."
            )
        new = {criterion.key: criterion for criterion in criteria}
        kept = [c for c in present.criteria if c.key not in new] if extend and present is not None else []
        length = episode_s if episode_s is not None else (present.episode_s if present is not None else None)
        intent = self.intent_of(session.prompt, session.env_id, (*kept, *criteria), length)
        record.save_criteria(intent)
        record.events.emit(EventName.INTENT_ELICITED, criteria=[criterion.title for criterion in intent.criteria])
        return intent


def _check_features(criteria: Sequence[Criterion], spec: EnvSpec) -> None:
    known = spec.feature_names
    for criterion in criteria:
        for name in criterion.predicate.names() if criterion.predicate is not None else ():
            if name not in known:
                close = get_close_matches(name, known, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise InvalidInput(
                    f"Criterion {criterion.key!r} reads {name!r}, which {spec.env_id} does not measure.{hint} "
                    f"It measures: {', '.join(known)}."
                )
