"""How a session stands, in words and in a style."""

from p2p.contracts.status import SessionStatus

ENDINGS = {
    SessionStatus.PASSED: ("passed", "bold green"),
    SessionStatus.COMPLETED: ("trained", "bold green"),
    SessionStatus.MAX_ITERATIONS: ("ended without passing", "bold red"),
    SessionStatus.CANCELLED: ("stopped", "bold yellow"),
    SessionStatus.INVALID_CODE: ("no reward that can be trained", "bold red"),
    SessionStatus.RATE_LIMITED: ("the model's provider takes no more requests for now", "bold yellow"),
    SessionStatus.AUTH_ERROR: ("the model's provider refuses the key", "bold red"),
    SessionStatus.BUDGET: ("a cap was reached", "bold yellow"),
    SessionStatus.ERROR: ("failed", "bold red"),
    SessionStatus.RUNNING: ("running", "bold cyan"),
    SessionStatus.WAITING: ("waiting", "bold yellow"),
    SessionStatus.PENDING: ("not started", "bold"),
    SessionStatus.INTERRUPTED: ("interrupted", "bold yellow"),
}


def standing(status: SessionStatus, by_caller: bool) -> tuple[str, str]:
    """Words and style for the status of a session; `by_caller` tells whether its caller asks for each step."""
    if by_caller and status is SessionStatus.PENDING:
        return "waiting for the caller", "bold"
    return ENDINGS[status]
