"""Thresholds that criteria have for features, for charts of a rollout."""

from enum import StrEnum

from p2p.contracts.base import Contract
from p2p.contracts.intent import Comparison


class MarkKind(StrEnum):
    """What is held against a threshold."""

    STATISTIC = "statistic"
    """One number of the whole rollout in the feature's unit, such as its mean."""
    STEP = "step"
    """The feature at each step."""


class FeatureMark(Contract):
    """One threshold for a feature."""

    key: str
    """Of the criterion."""
    title: str
    """What is held against it, in words: "mean of velocity_x ≥ 3"."""
    feature: str
    kind: MarkKind
    comparison: Comparison
    threshold: float
    """In the feature's unit."""
    upper: float | None
    """Upper end for `between`; None for the other comparisons."""
    absolute: bool
    """Whether the feature's magnitude counts."""
