"""Reported session state after each process is killed, as data for documentation and tests."""

from dataclasses import dataclass

from p2p.contracts.errors import InvalidInput, JobLost
from p2p.contracts.session import SessionStatus


@dataclass(frozen=True, slots=True)
class Death:
    """Reaction to the loss of one process (SIGKILL, or the machine's loss of it).

    Args:
        who: The process.
        when: What was going on.
        status: Of its session from then on, as every front end reports it.
        exit_code: Of `p2p run` or `p2p watch` that follows the session; None while there is something to follow.
        resume: What `p2p resume` does.
    """

    who: str
    when: str
    status: SessionStatus
    exit_code: int | None
    resume: str


BEGINS = "starts it"
READS = "goes on with the step it was at; finished steps stay"
REFUSES = "refuses: it has ended"
LOST = JobLost.exit_code

DEATHS = (
    Death("terminal", "before the driver was started", SessionStatus.PENDING, InvalidInput.exit_code, BEGINS),
    Death("terminal", "after the driver was started", SessionStatus.RUNNING, None, "follows it"),
    Death("driver", "before it wrote anything; a terminal starts it again", SessionStatus.INTERRUPTED, LOST, BEGINS),
    Death("supervisor", "before the driver wrote anything; the same", SessionStatus.INTERRUPTED, LOST, BEGINS),
    Death("driver", "while a reward is written or checked", SessionStatus.INTERRUPTED, LOST, READS),
    Death("supervisor", "while a reward is written or checked", SessionStatus.INTERRUPTED, LOST, READS),
    Death("driver", "while runs train, which go on", SessionStatus.INTERRUPTED, LOST, "adopts the runs"),
    Death("supervisor", "while runs train, which go on", SessionStatus.INTERRUPTED, LOST, "adopts the runs"),
    Death("driver", "after the session's end, while it is filmed", SessionStatus.PASSED, 0, REFUSES),
    Death("worker", "while it trains; the driver starts it again, twice", SessionStatus.RUNNING, None, "follows it"),
    Death("worker", "while it films after the session's end", SessionStatus.PASSED, 0, REFUSES),
    Death("caller", "of a tool, between two steps", SessionStatus.PENDING, 0, "goes on without the caller"),
    Death("training job", "while it trains for its caller", SessionStatus.INTERRUPTED, LOST, "adopts the runs"),
)


def table() -> str:
    """Markdown table of `DEATHS`."""
    rows = ["| killed | when | the session says | exit code | `p2p resume` |", "|---" * 5 + "|"]
    for death in DEATHS:
        code = "–" if death.exit_code is None else str(death.exit_code)
        rows.append(f"| {death.who} | {death.when} | {death.status} | {code} | {death.resume} |")
    return "\n".join(rows)
