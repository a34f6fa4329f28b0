"""Contribution of each term of a reward."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.reward import TermStatistics


def term_statistics(values: Mapping[str, NDArray[np.float64]]) -> tuple[TermStatistics, ...]:
    """Statistics of every term over the recorded steps.

    Args:
        values: Name -> values per step, any shape. Values that are not finite are left out, and so is a term that
            has no others.

    Returns:
        In the order of `values`. `share` is 0 for all when every mean is 0.
    """
    finite = {name: np.asarray(array, dtype=np.float64) for name, array in values.items()}
    finite = {name: array[np.isfinite(array)] for name, array in finite.items()}
    finite = {name: array for name, array in finite.items() if array.size}
    total = sum(abs(float(array.mean())) for array in finite.values())
    found = []
    for name, array in finite.items():
        mean = float(array.mean())
        statistics = TermStatistics(
            name=name,
            mean=mean,
            std=float(array.std()),
            minimum=float(array.min()),
            maximum=float(array.max()),
            share=abs(mean) / total if total > 0 else 0.0,
        )
        found.append(statistics)
    return tuple(found)
