"""Training metrics, small enough for a model; comparison of two iterations or sessions."""

from enum import StrEnum

from p2p.contracts.base import Contract
from p2p.contracts.hyperparameter import HyperparameterPair
from p2p.contracts.judgment import Verdict
from p2p.contracts.preference import Preference
from p2p.contracts.reward import Change, TermStatistics
from p2p.contracts.session import RunLine, SessionStatus


class MetricsKind(StrEnum):
    """What of a training is shown."""

    PROGRESS = "progress"
    """Where each run is."""
    CURVE = "curve"
    """Training return of every run, and score and success at its evaluations."""
    TERMS = "terms"
    """What each reward term contributed."""
    DYNAMICS = "dynamics"
    """approx_kl, clip_fraction, explained_variance and std, with their summary."""
    COMPARE = "compare"
    """Two iterations side by side."""


class Curve(Contract):
    """A number over the steps of a training, thinned out to its extremes; the last point is always kept."""

    run_id: str
    name: str
    steps: tuple[int, ...]
    values: tuple[float | None, ...]
    """None where it was not finite."""


class IterationOutcome(Contract):
    """What one iteration reached; None before it was judged."""

    iteration: int
    verdict: Verdict | None
    score: float | None
    success_rate: float | None
    success_low: float | None
    """Lower end of its 95 % interval."""
    success_high: float | None
    final_return: float | None
    """Of the best run; returns of different rewards cannot be compared."""
    best_run_id: str | None
    best_checkpoint: int | None
    total_timesteps: int | None
    """Of the best run itself."""
    inherited_steps: int = 0
    """Steps that had led to the policy that it went on from; 0 from zero."""


class CriterionPair(Contract):
    """One criterion in two iterations; None where it was not measured."""

    key: str
    title: str
    unit: str
    values: tuple[float | None, float | None]
    met_shares: tuple[float | None, float | None]


class IterationComparison(Contract):
    """The first iteration against the second."""

    session_id: str
    first: IterationOutcome
    second: IterationOutcome
    better: int | None
    """Number of the iteration that did better: by success rate, then score; None where they are equal or unjudged."""
    criteria: tuple[CriterionPair, ...]
    changes: tuple[Change, ...]
    """How the second's reward and configuration differ from the first's, the largest first."""
    reward_diff: str
    """Unified diff of the sources, cut at 6000 characters."""
    preferences: tuple[Preference, ...] = ()
    """What eyes have said of the two so far, asked in both orders."""


class SessionOutcome(Contract):
    """What a session reached."""

    session_id: str
    prompt: str
    env_id: str
    status: SessionStatus
    best: IterationOutcome | None
    """Its best judged iteration; None before there is one."""


class SessionComparison(Contract):
    """The best iteration of a session against that of another."""

    first: SessionOutcome
    second: SessionOutcome
    comparable: bool
    """Whether both were judged by the same criteria; scores by others say nothing of each other."""
    better: str | None
    """Id of the session that did better: by success rate, then score; None where they are equal, unjudged, or not
    comparable."""
    criteria: tuple[CriterionPair, ...]
    """Those of either."""
    hyperparameters: tuple[HyperparameterPair, ...]
    """Fields whose value differs."""
    reward_diff: str
    """Unified diff of the sources, cut at 6000 characters."""


class MetricsView(Contract):
    """One view of an iteration's trainings."""

    session_id: str
    iteration: int
    view: MetricsKind
    best_run_id: str | None
    """None while one is unfinished."""
    runs: tuple[RunLine, ...]
    curves: tuple[Curve, ...] = ()
    terms: dict[str, tuple[TermStatistics, ...]] = {}
    """Run -> what each term contributed at its chosen checkpoint; of finished runs."""
    dynamics: dict[str, dict[str, float]] = {}
    """Run -> numbers of its training; of finished runs."""
    warnings: tuple[str, ...] = ()
    """What looks wrong in them, each with its run."""
    comparison: IterationComparison | None = None
