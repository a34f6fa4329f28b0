"""Running episodes as seen by a reward, to rebuild its memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.reward.recorded_steps import RecordedSteps
from p2p.worker.saved_state import State, joined, part

_NEXT = "next_obs"
_ACTIONS = "actions"
_COLUMNS = "columns"


class EpisodeHistory:
    """Inputs of a reward since the last reset of each of n environments.

    Args:
        n: How many environments.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self._first: list[NDArray[Any]] = []
        self._chunks: list[list[State]] = []

    def add(self, steps: RecordedSteps) -> None:
        """Add the next steps; drop the episodes that ended in them."""
        count = steps.starts.shape[0]
        starts = steps.starts.copy()
        if not self._chunks:
            self._first = [np.empty(0)] * self._n
            self._chunks = [[] for _ in range(self._n)]
            starts[0] = True
        arrays = {_NEXT: steps.next_obs, _ACTIONS: steps.actions, **joined({_COLUMNS: steps.columns})}
        grids = {name: array.reshape(count, self._n, *array.shape[1:]) for name, array in arrays.items()}
        for i in range(self._n):
            begun = np.flatnonzero(starts[:, i])
            first = int(begun[-1]) if len(begun) else 0
            if len(begun):
                self._first[i] = steps.obs[first * self._n + i].copy()
                self._chunks[i] = []
            self._chunks[i].append({name: grid[first:, i].copy() for name, grid in grids.items()})

    def steps(self) -> RecordedSteps | None:
        """All episodes so far, side by side, aligned at their ends; None without any.

        In front of a shorter one its first step is repeated, as so many episodes of one step: a reward forgets them.
        """
        if not self._chunks:
            return None
        episodes = self._episodes()
        obs = [np.concatenate([first[None], one[_NEXT][:-1]]) for first, one in zip(self._first, episodes, strict=True)]
        longest = max(len(rows) for rows in obs)
        missing = [longest - len(rows) for rows in obs]
        arrays = {name: _side_by_side([one[name] for one in episodes], missing) for name in episodes[0]}
        return RecordedSteps(
            obs=_side_by_side(obs, missing),
            actions=arrays[_ACTIONS],
            next_obs=arrays[_NEXT],
            starts=np.arange(longest)[:, None] <= np.array(missing),
            columns=part(arrays, _COLUMNS),
        )

    def state(self) -> State:
        """Episodes of all environments; empty without any."""
        if not self._chunks:
            return {}
        episodes = {str(i): episode for i, episode in enumerate(self._episodes())}
        return {"first": np.array(self._first), **joined(episodes)}

    def restore(self, state: State) -> None:
        """Continue from a saved history."""
        self._first = list(state.get("first", []))
        self._chunks = [[part(state, str(i))] for i in range(len(self._first))]

    def _episodes(self) -> list[State]:
        """Join each episode in place of its parts: both together would need the memory twice."""
        for i, chunks in enumerate(self._chunks):
            self._chunks[i] = [{name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}]
        return [chunks[0] for chunks in self._chunks]


def _side_by_side(rows: list[NDArray[Any]], missing: list[int]) -> NDArray[Any]:
    """Rows of each environment, padded with the first one, in the order of steps."""
    padded = [
        np.concatenate([np.repeat(one[:1], count, axis=0), one]) for one, count in zip(rows, missing, strict=True)
    ]
    return np.stack(padded, axis=1).reshape(-1, *rows[0].shape[1:])
