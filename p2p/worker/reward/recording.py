"""Recorded transitions for trying a reward."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.reward.runner import info_rows

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Transition:
    """Arguments of a reward."""

    obs: Floats
    action: Floats
    next_obs: Floats
    info: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Recording:
    """Whole episodes, one after the other; B steps in all."""

    obs: Floats
    """Shape (B, obs_dim)."""
    actions: Floats
    """Shape (B, action_dim)."""
    next_obs: Floats
    """Shape (B, obs_dim)."""
    columns: dict[str, NDArray[Any]]
    """What rewards read as `info`: name -> shape (B,) or (B, ...)."""
    starts: NDArray[np.bool_]
    """First step of an episode, shape (B,)."""

    def episodes(self) -> list[list[Transition]]:
        """Each episode as a list of transitions."""
        infos = info_rows(self.columns, len(self.starts))
        rows = zip(self.obs, self.actions, self.next_obs, infos, strict=True)
        transitions = [Transition(*row) for row in rows]
        cuts = [*np.flatnonzero(self.starts).tolist(), len(transitions)]
        return [transitions[low:high] for low, high in pairwise(cuts)]
