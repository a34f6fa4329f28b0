"""How a session stands; apart from its contracts, so that a list needs no pydantic."""

from enum import StrEnum


class SessionStatus(StrEnum):
    """The life of a session."""

    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    """Its process waits for its turn, or all its trainings for cores; never written, but derived when read."""
    INTERRUPTED = "interrupted"
    """Nothing drives it any more, and it has not ended; never written, but derived when read."""
    PASSED = "passed"
    COMPLETED = "completed"
    """A training without an intent has ended: there was nothing to pass."""
    MAX_ITERATIONS = "max_iterations"
    """Ended without passing."""
    CANCELLED = "cancelled"
    INVALID_CODE = "invalid_code"
    """No reward that loads and runs could be written."""
    RATE_LIMITED = "rate_limited"
    """The model's provider took no more requests, even after waiting; the session can be resumed later."""
    AUTH_ERROR = "auth_error"
    """The model's provider refuses the key, or the account cannot pay."""
    BUDGET = "budget"
    """A cap was reached; the session can be resumed with a larger one."""
    ERROR = "error"

    @property
    def finished(self) -> bool:
        """True once the loop has ended."""
        return self not in UNFINISHED


TOLD = (SessionStatus.WAITING, SessionStatus.INTERRUPTED)
"""Found out by whoever looks, and never written."""
UNFINISHED = (SessionStatus.PENDING, SessionStatus.RUNNING, *TOLD)
