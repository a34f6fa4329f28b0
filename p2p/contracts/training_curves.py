"""Curves of trainings for charts: thinned to what a screen can show."""

from p2p.contracts.base import Contract
from p2p.contracts.metrics import Curve

MAX_POINTS = 5000
"""Most points of one curve."""


class EvaluationPoint(Contract):
    """An evaluation of a run while it trains, on its selection rollouts: criteria over training."""

    run_id: str
    step: int
    mean_return: float | None
    """Under the trained reward."""
    intent_score: float | None
    """In [0, 1]; None without criteria."""
    success_rate: float | None
    """In [0, 1]; None without criteria."""
    criteria: dict[str, float | None]
    """Measured value per criterion."""
    criteria_met: dict[str, float | None]
    """Share of the rollouts that met each criterion."""


class RunCurves(Contract):
    """Curves of one run."""

    run_id: str
    config_id: str
    seed: int
    step: int
    """Environment steps made."""
    total_timesteps: int
    rows: int
    """Rows of metrics so far: while it is the same, so are the curves."""
    names: tuple[str, ...]
    """All that there is a curve of, in alphabetical order."""
    curves: tuple[Curve, ...]
    """Of the names asked for. The first and the last value of each are always kept, and between them what is largest
    and smallest, or what changes the shape most. None stands for a number that was not finite."""
    evaluations: tuple[EvaluationPoint, ...]
    """All of them, oldest first."""


class IterationCurves(Contract):
    """Curves of the trainings of an iteration."""

    session_id: str
    iteration: int
    best_run_id: str | None
    """None while one is unfinished."""
    runs: tuple[RunCurves, ...]
