"""What a person says while a session is under way."""

from pydantic import ValidationError

from p2p.contracts.brief import Steering, Wish
from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import SessionStatus
from p2p.service.wiring import Wiring
from p2p.store.clock import now

MAX_WISHES = 50
OVER = (SessionStatus.PASSED, SessionStatus.COMPLETED, SessionStatus.MAX_ITERATIONS)
"""Ends after which no reward is written any more."""


class Steers(Wiring):
    """Wishes: every later brief shows them, and criteria stay as they are."""

    def steer(self, session_id: str, wish: str) -> Steering:
        """Keep a wish for whoever writes the next reward.

        The built-in author does not read wishes; a model that writes rewards does.

        Raises:
            InvalidInput: it is empty, or longer than 300 characters; the session has ended, or holds 50 already.
        """
        record = self.record(session_id)
        status = record.read_status()
        if status is not None and status.status in OVER:
            raise InvalidInput(
                f"{session_id} has ended as {status.status}, and no further reward is written. "
                "To pursue the wish, create another session."
            )
        if len(record.read_wishes()) >= MAX_WISHES:
            raise InvalidInput(f"{session_id} holds {MAX_WISHES} wishes already. Create another session that says all.")
        text = " ".join(wish.split())
        try:
            said = Wish(text=text, iteration=len(record.iteration_records()), said_at=now())
        except ValidationError as error:
            raise InvalidInput(
                f"A wish has 1 … 300 characters, got {len(text)}. Say it in a sentence, for example: land softer."
            ) from error
        record.append_wish(said)
        return self.wishes(session_id)

    def wishes(self, session_id: str) -> Steering:
        """All wishes so far."""
        wishes = self.record(session_id).read_wishes()
        return Steering(session_id=session_id, wishes=tuple(wish.text for wish in wishes))
