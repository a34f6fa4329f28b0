"""Make a Gymnasium environment restorable: replay its last reset and actions.

What such an environment keeps beyond the simulator's state is its own affair, and some read what MuJoCo computed in the
last step; so nothing is copied out of it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.saved_state import State, generator_state, restore_generator

Result = tuple[Any, float, bool, bool, dict[str, Any]]


class EpisodeRecord:
    """Current episode of one environment.

    Args:
        env: The environment, unwrapped.
    """

    def __init__(self, env: Any) -> None:
        self._env = env
        self._generator: NDArray[np.uint64] | None = None
        self._seed: int | None = None
        self._placed: NDArray[np.float64] | None = None
        self._actions: list[NDArray[np.floating]] = []

    def reset(self, seed: int | None) -> Any:
        """Begin an episode; return the observation."""
        self._generator = generator_state(self._env.np_random) if seed is None else None
        self._seed = seed
        self._placed = None
        self._actions = []
        return self._env.reset(seed=seed)[0]

    def place(self, qpos: NDArray[np.float64], qvel: NDArray[np.float64]) -> None:
        """Begin the episode in another state."""
        self._placed = np.concatenate([qpos, qvel])
        self._env.set_state(qpos, qvel)

    def step(self, action: NDArray[np.floating]) -> Result:
        """One control step."""
        self._actions.append(action.copy())
        result: Result = self._env.step(action)
        return result

    def state(self) -> State:
        """Reset and actions so far."""
        data = self._env.data
        state = {"actions": np.array(self._actions), "reached": np.concatenate([data.qpos, data.qvel])}
        if self._generator is not None:
            state["generator"] = self._generator
        if self._seed is not None:
            state["seed"] = np.array(self._seed)
        if self._placed is not None:
            state["placed"] = self._placed
        return state

    def restore(self, state: State) -> None:
        """Replay the same episode.

        Raises:
            ValueError: it does not lead to the same place.
        """
        if "generator" in state:
            restore_generator(self._env.np_random, state["generator"])
        self.reset(int(state["seed"]) if "seed" in state else None)
        if "placed" in state:
            placed = state["placed"]
            self.place(placed[: len(self._env.data.qpos)], placed[len(self._env.data.qpos) :])
        for action in state["actions"]:
            self.step(action)
        data = self._env.data
        if not np.array_equal(np.concatenate([data.qpos, data.qvel]), state["reached"], equal_nan=True):
            raise ValueError("an environment does not repeat itself")
