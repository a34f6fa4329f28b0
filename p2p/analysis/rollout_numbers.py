"""One recorded rollout in a few numbers per feature."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from p2p.contracts.env import Feature
from p2p.contracts.judgment import FeatureNumbers
from p2p.store.arrays import load_features
from p2p.store.evaluations import ReportRecord

DIGITS = 4
"""Significant digits."""


def rollout_numbers(report: Path, label: str, features: Sequence[Feature]) -> tuple[FeatureNumbers, ...]:
    """First, last, extreme and mean values of every feature of the report rollout called `label`.

    Args:
        report: Directory of the report rollouts.
        label: "p10", "median" or "p90".
        features: The environment's, for their units.

    Returns:
        In the order of `features`, without those that were not recorded or not finite; empty where there is no such
        rollout.
    """
    record = ReportRecord(report)
    evaluation = record.read_evaluation()
    recorded = load_features(record.features_path)
    if evaluation is None or recorded is None:
        return ()
    found = [index for index, rollout in enumerate(evaluation.rollouts) if rollout.label == label]
    if not found or found[0] >= len(recorded):
        return ()
    table = recorded[found[0]]
    rows = []
    for feature in features:
        if feature.name not in table or not np.isfinite(table[feature.name]).all():
            continue
        values = table[feature.name]
        low, high = int(values.argmin()), int(values.argmax())
        numbers = FeatureNumbers(
            name=feature.name,
            unit=feature.unit,
            first=_short(values[0]),
            last=_short(values[-1]),
            minimum=_short(values[low]),
            minimum_s=_short((low + 1) * evaluation.dt),
            maximum=_short(values[high]),
            maximum_s=_short((high + 1) * evaluation.dt),
            mean=_short(values.mean()),
        )
        rows.append(numbers)
    return tuple(rows)


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
