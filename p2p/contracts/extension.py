"""What a session goes on from."""

from p2p.contracts.base import Contract


class Extension(Contract):
    """What a session goes on from."""

    session_id: str
    iteration: int
    """Whose reward its first iteration trains."""
