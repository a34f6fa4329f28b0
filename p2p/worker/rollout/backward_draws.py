"""Which state of a motion an episode begins in, where a curriculum moves back from the goal."""

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.curriculum import StartCurriculum

Floats = NDArray[np.float64]

LEAST = 0.1
"""Least share of success of a state that is practised, with its neighbours."""
NEIGHBOURS = 2
"""How many states before and after one are its neighbours."""
SELDOM = 0.1
"""How often a mastered state is drawn, where another that succeeds now and then is drawn once."""
FOREMOST = 0.5
"""Share of the draws that go to the foremost states: of each motion the earliest with `SURE` of success, and the
`NEIGHBOURS` before it."""
SURE = 0.6
"""Share of success from which on the states before are tried."""
EXPLORED = 0.1
"""Share of the draws that go to all states alike: what lies behind a moment that is hard may not be."""


class BackwardDraws:
    """Draws states by the success from them: those that sometimes succeed, and those beside them.

    At first these are the last states of each motion, nearest to the goal. What succeeds nearly always is drawn seldom
    (Florensa et al., Reverse curriculum generation, 2017). States in the middle of a stumble, which are harder than
    those before them, are passed over.

    Args:
        motions: Number of motions.
        each: States of each.
        curriculum: What is mastered, and how many episodes count.
    """

    def __init__(self, motions: int, each: int, curriculum: StartCurriculum) -> None:
        self._mastered = curriculum.success
        self._step = 1.0 / curriculum.episodes
        self.success = np.zeros((motions, each))
        """Moving average of the success of episodes from each state, from 0, shape (motions, each)."""

    @property
    def present(self) -> int:
        """Number of the earliest state of a motion that is mastered, from 0; its last state while none is."""
        found = np.flatnonzero((self.success >= self._mastered).any(axis=0))
        return int(found[0]) if len(found) else self.success.shape[1] - 1

    def draw(self, rng: np.random.Generator) -> int:
        """Number of a state, those of one motion after those of another."""
        return int(rng.choice(self.success.size, p=self.chances().ravel()))

    def chances(self) -> Floats:
        """Of each state, shape (motions, each); their sum is 1."""
        success = self.success.copy()
        success[:, -1] = np.maximum(success[:, -1], LEAST)
        padded = np.pad(success, ((0, 0), (NEIGHBOURS, NEIGHBOURS)))
        around = np.lib.stride_tricks.sliding_window_view(padded, 2 * NEIGHBOURS + 1, axis=1).max(axis=2)
        weights = np.where(success >= self._mastered, SELDOM, np.where(around >= LEAST, 1.0, 0.0))
        foremost = np.zeros_like(weights)
        for row, shares in zip(foremost, success >= SURE, strict=True):
            place = int(np.argmax(shares)) if shares.any() else len(shares) - 1
            row[max(0, place - NEIGHBOURS) : place + 1] = 1.0
        rest = 1.0 - FOREMOST - EXPLORED
        return np.asarray(
            FOREMOST * foremost / foremost.sum() + rest * weights / weights.sum() + EXPLORED / weights.size
        )

    def count(self, number: int, reached: bool) -> None:
        """Take an episode from a state into account."""
        success = self.success.reshape(-1)
        success[number] += self._step * (reached - success[number])
