"""Wishes sent while a session runs."""

from pydantic import ValidationError

from p2p.contracts.brief import Steering, Wish
from p2p.contracts.errors import InvalidInput
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import SessionStatus
from p2p.service.rewards.authors import wishes_are_read
from p2p.service.workspace import Workspace
from p2p.store.clock import now

MAX_WISHES = 50
OVER = (SessionStatus.PASSED, SessionStatus.COMPLETED, SessionStatus.MAX_ITERATIONS)
"""Ends after which no reward is written any more."""


def steer(ws: Workspace, session_id: str, wish: str) -> Steering:
    """Save a wish for the author of the next reward.

    Raises:
        InvalidInput: nobody who writes for the session reads wishes; it is empty, or longer than 300 characters;
            the session has ended, or holds 50 already.
    """
    record = ws.record(session_id)
    session = record.read_session()
    status = record.read_status()
    if status is not None and status.status in OVER:
        if not session.prompt:
            instead = "To pursue the wish, create another session with a sentence."
        elif wishes_are_read(record):
            by_wish = Remedy.EXTEND_BY_WISH.of(session=session_id)
            instead = f"A linked session pursues it ({by_wish}), or create another session."
        else:
            instead = (
                "A linked session pursues it, by criteria that say it "
                f"({Remedy.EXTEND_BY_CRITERIA.of(session=session_id)}) or by a model that reads wishes "
                f"({Remedy.EXTEND_BY_MODEL.of(session=session_id)}); or create another session."
            )
        raise InvalidInput(
            f"{session_id} has ended as {status.status}, and no further reward is written in it. {instead}"
        )
    if not wishes_are_read(record):
        who = "trains a reward that was handed in" if session.author == "given" else "is written by the built-in author"
        raise InvalidInput(
            f"{session_id} {who}, so no model reads wishes, and this one would change nothing. Use instead: "
            f"a sentence that says it ({Remedy.CREATE.of()}), a model that reads wishes "
            f"({Remedy.CREATE_WITH_MODEL.of()}), or the reward changed by hand ({Remedy.WRITE_REWARD.of()}), begun "
            f"from reward_fn.py in {record.path}. Once it has ended: "
            f"{Remedy.EXTEND_BY_CRITERIA.of(session=session_id)}, or {Remedy.EXTEND_BY_MODEL.of(session=session_id)}."
        )
    if len(record.read_wishes()) >= MAX_WISHES:
        raise InvalidInput(f"{session_id} holds {MAX_WISHES} wishes already. Create another session that says all.")
    record.append_wish(wish_of(wish, len(record.iteration_records())))
    return wishes(ws, session_id)


def wishes(ws: Workspace, session_id: str) -> Steering:
    """All wishes and settings changes so far."""
    record = ws.record(session_id)
    wishes = tuple(wish.text for wish in record.read_wishes())
    return Steering(session_id=session_id, wishes=wishes, settings_changes=record.read_settings_changes())


def wish_of(text: str, iteration: int) -> Wish:
    """Wish in its stored form.

    Args:
        text: As it was said.
        iteration: The newest one then.

    Raises:
        InvalidInput: it is empty, or longer than 300 characters.
    """
    short = " ".join(text.split())
    try:
        return Wish(text=short, iteration=iteration, said_at=now())
    except ValidationError as error:
        raise InvalidInput(
            f"A wish has 1 … 300 characters, got {len(short)}. Say it in a sentence, for example: land softer."
        ) from error
