"""What a person asked for, as criteria that are fixed before anything is trained."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from p2p.contracts.base import Contract

MOST_CRITERIA = 16
"""A sentence of two steps with the guards of both needs up to 14."""
Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class Comparison(StrEnum):
    """How a measured value is held against a threshold."""

    AT_LEAST = "at_least"
    AT_MOST = "at_most"
    BETWEEN = "between"


class Statistic(StrEnum):
    """One number from one rollout.

    The first six read `feature` over the window; the last three read the steps at which every
    bound of `where` holds.
    """

    MEAN = "mean"
    MIN = "min"
    MAX = "max"
    FINAL = "final"
    CHANGE = "change"
    """Last value minus first value of the window."""
    STEADINESS = "steadiness"
    """Least of the means of the window's last five sixths, one by one, as a share of the window's mean: 1 at a constant
    value, 0 where one of them has none of it, negative where one has the other sign. The first sixth is for starting.
    0 where the window's mean is 0."""
    COUNT = "count"
    """How often `where` becomes true (rising edges; true at the first step counts)."""
    FRACTION = "fraction"
    """Share of the window's steps at which `where` holds, in [0, 1]."""
    LONGEST_HOLD = "longest_hold"
    """Longest uninterrupted time for which `where` holds [s]."""


CONDITIONAL = frozenset({Statistic.COUNT, Statistic.FRACTION, Statistic.LONGEST_HOLD})


class Bound(Contract):
    """A feature against a threshold, at one step."""

    feature: str
    comparison: Comparison
    threshold: float
    """In the feature's unit."""
    upper: float | None = None
    """Upper end for `between`; None for the other comparisons."""
    absolute: bool = False
    """Compare the magnitude."""

    @model_validator(mode="after")
    def _upper_only_for_between(self) -> Self:
        _check_upper(self.comparison, self.threshold, self.upper)
        return self


class Window(Contract):
    """The part of a rollout a predicate reads. The default is all of it."""

    after: tuple[Bound, ...] = ()
    """Starts at the first step at which all of these hold; a rollout without such a step is not measured."""
    within_s: float | None = Field(default=None, gt=0)
    """Length after that start [s]; None reads to the end."""
    last_share: float = Field(default=1.0, gt=0, le=1)
    """Reads only this last share of what is left."""


class Predicate(Contract):
    """A claim about one rollout: a statistic of a feature against a threshold."""

    statistic: Statistic
    feature: str | None = None
    """A feature's name; None for count, fraction and longest_hold."""
    where: tuple[Bound, ...] = ()
    """What must hold at a step, for count, fraction and longest_hold."""
    absolute: bool = False
    """Read the magnitude."""
    comparison: Comparison
    threshold: float
    """In `unit`."""
    upper: float | None = None
    """Upper end for `between`; None for the other comparisons."""
    unit: str
    """Unit of the measured value: "m/s", "turns", "s", "1" …"""
    margin: float = Field(gt=0)
    """Distance from the threshold at which partial credit is 0, in `unit`."""
    window: Window = Window()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        _check_upper(self.comparison, self.threshold, self.upper)
        if self.statistic in CONDITIONAL and (self.feature is not None or not self.where):
            raise ValueError(f"{self.statistic} reads `where`, not `feature`")
        if self.statistic not in CONDITIONAL and (self.feature is None or self.where):
            raise ValueError(f"{self.statistic} reads `feature`, not `where`")
        if self.statistic in CONDITIONAL and self.absolute:
            raise ValueError(f"{self.statistic} reads `where`: put `absolute` on its bounds")
        return self


class Category(StrEnum):
    """What a criterion is about."""

    GAIT = "gait"
    POSTURE = "posture"
    DYNAMICS = "dynamics"
    STABILITY = "stability"
    EFFICIENCY = "efficiency"


class Criterion(Contract):
    """One thing that must be true of the behaviour."""

    key: Key
    title: str = Field(max_length=80)
    description: str
    category: Category
    predicate: Predicate | None
    """None marks a criterion that only eyes can judge."""
    weight: float = Field(default=1.0, gt=0)
    """Share in the score, relative to the others'."""
    required: bool = True
    """A required criterion must be met for a rollout to succeed."""
    after: Key | None = None
    """Key of an earlier criterion: this one is measured from the step at which that one was first met."""


class Intent(Contract):
    """A sentence, made checkable."""

    prompt: str
    env_id: str
    criteria: tuple[Criterion, ...] = Field(min_length=1, max_length=MOST_CRITERIA)
    episode_s: float = Field(default=5.0, gt=0)
    """Length of the judged episodes [s]."""

    @model_validator(mode="after")
    def _sequence_refers_backwards(self) -> Self:
        seen: set[str] = set()
        for criterion in self.criteria:
            if criterion.after is not None and criterion.after not in seen:
                raise ValueError(f"{criterion.key!r} comes after {criterion.after!r}, which is not an earlier one")
            if criterion.key in seen:
                raise ValueError(f"two criteria are called {criterion.key!r}")
            seen.add(criterion.key)
        return self


def _check_upper(comparison: Comparison, threshold: float, upper: float | None) -> None:
    if (comparison is Comparison.BETWEEN) != (upper is not None):
        raise ValueError("`upper` belongs to `between`, and only to it")
    if upper is not None and upper < threshold:
        raise ValueError(f"`upper` {upper} is below `threshold` {threshold}")
