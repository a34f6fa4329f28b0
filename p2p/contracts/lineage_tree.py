"""The tree of attempts of a session, as it is drawn."""

from p2p.contracts.base import Contract
from p2p.contracts.extension import Extension
from p2p.contracts.judgment import Verdict
from p2p.contracts.reward import Change, Lesson
from p2p.contracts.start_policy import StartPolicy


class LineageNode(Contract):
    """An iteration in the tree of attempts."""

    iteration: int
    parent: int | None
    """Iteration whose reward it changed; None for the first."""
    verdict: Verdict | None
    """None while it is written, trained or judged."""
    score: float | None
    success_rate: float | None
    success_low: float | None = None
    """Lower end of its 95 % interval."""
    success_high: float | None = None
    n_rollouts: int = 0
    """Judged; 0 before its verdict."""
    star: bool
    """Whether it was the best so far."""
    best: bool
    """Whether it is the best of all."""
    changes: tuple[Change, ...]
    """How it differs from its parent: the edge's label."""
    lesson: str
    """What its parent had taught, which it was written by."""
    diagnosis: str
    failure_tags: tuple[str, ...]
    best_run_id: str | None
    best_checkpoint: int | None
    final_return: float | None
    """Of the best run; returns of different rewards cannot be compared."""
    from_policy: StartPolicy | None = None
    """The policy that its runs went on from; None from zero."""
    elapsed_s: float | None
    """Time at work [s]; None before its verdict."""


class LineageTree(Contract):
    """All iterations begun so far, and what they taught."""

    session_id: str
    nodes: tuple[LineageNode, ...]
    """In their order; each parent comes before its children."""
    lessons: tuple[Lesson, ...]
    """Oldest first, each with its tier."""
    extends: Extension | None
    """The iteration of an earlier session whose reward the first one trains."""
