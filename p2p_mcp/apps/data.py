"""What the dashboard shows: one session at a glance, small enough to be sent every two seconds."""

from p2p.contracts.base import Contract
from p2p.contracts.metrics import Curve
from p2p_mcp.views.answer import Answer


class CriterionLine(Contract):
    """One criterion with what was measured."""

    key: str
    title: str
    required: bool
    target: str
    """What it must reach, in words: "at least 3 m/s"."""
    unit: str
    value: float | None
    """Mean over the judged rollouts; while training, over the last evaluations of all runs."""
    met: bool | None
    """None before it was judged."""


class IterationLine(Contract):
    """One iteration, to choose from."""

    iteration: int
    score: float | None
    changes: tuple[str, ...]
    """What it changed, one line each."""


class Dashboard(Answer):
    """A session at a glance."""

    session_id: str
    sentence: str
    environment: str
    status: str
    finished: bool
    """True when nothing changes any more by itself."""
    live: bool
    """True while something is trained, or a process drives it; otherwise it waits for its caller."""
    iteration: int
    """The one that is shown; 0 before there is any."""
    iterations: tuple[IterationLine, ...]
    progress: float | None
    """Trained share of this iteration's steps, in [0, 1]; None before a training."""
    summary: str
    """How far it is, in words."""
    returns: tuple[Curve, ...]
    """Mean episode return of each run."""
    terms: tuple[Curve, ...]
    """Mean of each reward term per step, of one run: the best one once there is one."""
    criteria: tuple[CriterionLine, ...]
    verdict: str | None
    score: float | None
    """In [0, 1]; None without a verdict."""
    diagnosis: str
    pictures: int
    """How many pictures of this iteration there are; more of them mean that there are newer ones."""
    next_step: str
    """What to call next, and with what."""
