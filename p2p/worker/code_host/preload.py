"""Preload the modules of generated code while files can still be opened."""

import io
import sys
import traceback
import warnings
from typing import Any

import numpy as np

MODULES = (
    *("__future__", "abc", "collections", "collections.abc", "dataclasses", "enum", "functools", "itertools"),
    *("math", "statistics", "typing", "inspect", "linecache", "textwrap", "tokenize", "types", "warnings"),
    *("numpy.fft", "numpy.lib.recfunctions", "numpy.lib.stride_tricks", "numpy.linalg"),
    *("numpy.ma", "numpy.polynomial", "numpy.random", "numpy.strings", "numpy.typing"),
    *("p2p.rewards.features", "p2p.rewards.formulas", "p2p.rewards.rotations", "p2p.rewards.tolerance"),
    "p2p.training.reward_function",
)
"""Modules behind the imports that are allowed, those included that numpy loads when they are first used."""


def warm_up() -> None:
    """Call once what loads further modules on first use."""
    square: Any = np.eye(3)
    linalg = (np.linalg.inv, np.linalg.svd, np.linalg.eigh, np.linalg.norm, np.linalg.det)
    for compute in (*linalg, np.median, np.nanmedian, np.cov, np.std, np.histogram, np.array2string):
        compute(square)
    np.percentile(square, 50)
    np.einsum("ij,jk->ik", square, square)
    np.random.default_rng(0).normal(size=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("seen", stacklevel=1)
    for other in (np.zeros(2), "x"):
        try:
            square + other
        except (TypeError, ValueError) as error:
            traceback.print_exception(error, file=io.StringIO())
    if contracts := sys.modules.get("p2p.contracts.base"):  # the host of a training's reward has none, nor pydantic
        contracts.build_contracts()
