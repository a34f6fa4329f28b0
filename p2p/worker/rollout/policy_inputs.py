"""What n policies see: the simulator's observation, and what the configuration's `observe` appends to it."""

from collections.abc import Sequence

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from p2p.contracts.observe import Observe
from p2p.contracts.training import TrainConfig
from p2p.rewards.progress import EpisodeProgress
from p2p.worker.engine.vec_env import Block, Step, VecEnv
from p2p.worker.features.torso import TorsoReader
from p2p.worker.reward.inputs import FeatureReader
from p2p.worker.saved_state import State, fill, joined, part

Floats = NDArray[np.float64]


class PolicyInputs:
    """Inputs of the policies that act in n environments; without `observe` they are the observations alone.

    Args:
        config: What is appended.
        env: Where the policies act.

    Raises:
        InvalidConfig: the robot lacks a feature that is read.
    """

    def __init__(self, config: TrainConfig, env: VecEnv) -> None:
        self._env = env
        self._progress = _Progress(config.observe, env) if config.observe is not None else None

    @property
    def now(self) -> Floats:
        """Current inputs, shape (n, obs_dim + appended)."""
        observations = self._env.now.observations
        return observations if self._progress is None else np.concatenate([observations, self.appended], axis=1)

    @property
    def appended(self) -> Floats:
        """What is appended to the current observations, shape (n, appended)."""
        return np.zeros((self._env.n, 0)) if self._progress is None else self._progress.values

    @property
    def space(self) -> Box:
        """Space of the inputs."""
        own = self._env.simulation.observation_space
        return own if self._progress is None else widened(own, self._progress.observe)

    def begin(self, ids: Sequence[int]) -> None:
        """Begin new episodes in the environments `ids`."""
        if self._progress is not None:
            self._progress.begin(ids)

    def follow(self, step: Step) -> None:
        """Take the next step of all environments."""
        if self._progress is not None:
            self._progress.advance(step)

    def state(self) -> State:
        """State between two steps."""
        return self._progress.state() if self._progress is not None else {}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        if self._progress is not None:
            self._progress.restore(state)


def widened(space: Box, observe: Observe | None) -> Box:
    """Space of the observations with what is appended to them."""
    if observe is None:
        return space
    more = np.full(len(observe.names), np.inf)
    low, high = np.concatenate([space.low, -more]), np.concatenate([space.high, more])
    return Box(low, high, dtype=np.float64)


class _Progress:
    """How far the episodes of an environment are, from its steps."""

    def __init__(self, observe: Observe, env: VecEnv) -> None:
        observe.require(env.spec)
        self.observe = observe
        self._episodes = EpisodeProgress(observe, env.n)
        self._reader: TorsoReader | FeatureReader = (
            TorsoReader(env.simulation.model, env.spec, env.n)
            if TorsoReader.names.issuperset(observe.reads)
            else FeatureReader(env.simulation)
        )

    @property
    def values(self) -> Floats:
        return self._episodes.values

    def begin(self, ids: Sequence[int]) -> None:
        self._episodes.begin(ids)

    def advance(self, step: Step) -> None:
        reader = self._reader
        self._episodes.advance(reader.read(step) if isinstance(reader, TorsoReader) else reader.read(Block.of([step])))

    def state(self) -> State:
        return joined({"episodes": self._episodes.state(), "reader": self._reader.state()})

    def restore(self, state: State) -> None:
        saved = part(state, "episodes")
        for name, array in self._episodes.state().items():
            fill(array, saved[name])
        self._reader.restore(part(state, "reader"))
