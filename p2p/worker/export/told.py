"""What a replayed policy is told, where that takes more of the robot than its torso."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.observe import REMEMBERED, Observe
from p2p.rewards.features import FeatureTracker
from p2p.rewards.progress import EpisodeProgress
from p2p.rewards.states import States
from p2p.worker.features.kinematics import Kinematics


def known_to_replay(observe: Observe) -> bool:
    """Whether `replay.py` can compute it without p2p."""
    return set(observe.reads) <= set(REMEMBERED)


class MeasuredProgress:
    """Tells one policy in a Gymnasium environment, by all features of the robot.

    Args:
        observe: What it is told.
        spec: The environment.
    """

    def __init__(self, observe: Observe, spec: EnvSpec) -> None:
        self._spec = spec
        self._progress = EpisodeProgress(observe, 1)

    @property
    def values(self) -> NDArray[np.float64]:
        """What is appended to the present observation, shape (number of inputs,)."""
        return np.asarray(self._progress.values[0])

    def begin(self, env: Any) -> None:
        """Take an environment after its reset."""
        self._kinematics = Kinematics(env.model, self._spec)
        self._tracker = FeatureTracker(self._spec, 1)
        self._progress.begin([0])
        self._start = True
        self._state = self._read(env)

    def follow(self, env: Any, action: NDArray[Any]) -> None:
        """Take it after one step with `action`."""
        before, self._state = self._state, self._read(env)
        starts = np.array([[self._start]])
        self._start = False
        self._progress.advance(self._tracker.measure(before, self._state, action[None], starts))

    def _read(self, env: Any) -> States:
        return self._kinematics.read(env.data.qpos[None].copy(), env.data.qvel[None].copy())
