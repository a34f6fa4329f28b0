"""n environments with a reward of our own, stepped side by side on arrays. Free of torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.training import TrainConfig
from p2p.rewards.features import Features, FeatureTracker
from p2p.worker.kinematics import Kinematics
from p2p.worker.reward_loader import LoadedReward
from p2p.worker.reward_runner import RewardRunner
from p2p.worker.simulation import Frame, Simulation

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Step:
    """One control step of n environments."""

    observations: Floats
    """Shape (n, obs_dim)."""
    rewards: Floats
    """Shape (n,); Gymnasium's own where no reward is run."""
    terms: Floats
    """Shape (n, n_terms)."""
    features: Features
    """Name -> shape (n,)."""
    terminated: Booleans
    """Shape (n,); all False unless the configuration ends unhealthy episodes."""
    truncated: Booleans
    """Shape (n,); True where the time is up."""
    qpos: Floats
    """Shape (n, nq)."""
    qvel: Floats
    """Shape (n, nv)."""
    infos: list[dict[str, Any]]
    """What rewards read, one dict per environment."""


class VecEnv:
    """n environments under one configuration. A finished one goes on until it is reset.

    Args:
        config: Episode length, termination, side info and `env_kwargs`.
        spec: Which environment.
        n: How many.
        reward: What replaces Gymnasium's reward; None keeps it.
        terminate: Whether `terminate_when_unhealthy` of the configuration counts; it never does in evaluation.
    """

    def __init__(
        self, config: TrainConfig, spec: EnvSpec, n: int, reward: LoadedReward | None, terminate: bool = False
    ) -> None:
        self._terminate = terminate and config.terminate_when_unhealthy
        self.simulation = Simulation(spec, n, config.env_kwargs, self._terminate)
        self.kinematics = Kinematics(self.simulation.model, spec)
        self.spec, self.n = spec, n
        self.episode_steps = config.episode_steps(spec.dt)
        self._tracker = FeatureTracker(spec, n)
        self._runner = RewardRunner(reward, n) if reward is not None else None
        self._side_info = config.side_info
        self._observations = np.zeros((n, *self.simulation.observation_space.shape))
        self._actions = np.zeros((n, spec.action_dim))
        self._elapsed = np.zeros(n, dtype=np.int64)
        self.limits = np.full(n, self.episode_steps)
        """Steps after which each environment's episode is truncated."""

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of the reward's terms, known after the first step."""
        return self._runner.names if self._runner else ()

    def reset(self, ids: Sequence[int], seeds: Sequence[int | None]) -> Frame:
        """Begin new episodes in the environments `ids`; the frame holds only those, in that order."""
        return self.begin(ids, self.simulation.reset(ids, seeds))

    def begin(self, ids: Sequence[int], frame: Frame) -> Frame:
        """Take the states in `frame` as the starts of new episodes in the environments `ids`."""
        index = list(ids)
        self._tracker.reset(index, self.kinematics.read(frame.qpos, frame.qvel))
        self._observations = self._observations.copy()  # the last step's, which others still hold
        self._observations[index] = frame.observations
        self._elapsed[index] = 0
        if self._runner is not None:
            self._runner.reset(index)
        return frame

    def step_async(self, actions: NDArray[np.floating]) -> None:
        """Hand over the actions of the next control step, shape (n, action_dim)."""
        self._actions = np.array(actions, dtype=np.float64)
        self.simulation.step_async(actions)

    def step_wait(self) -> Step:
        """Make that step in all environments.

        Raises:
            RewardFailed: the reward raised, or returned what is not a finite number.
        """
        frame = self.simulation.step_wait()
        features = self._tracker.step(self.kinematics.read(frame.qpos, frame.qvel), self._actions)
        self._complete_infos(frame, features)
        self._elapsed += 1
        rewards, terms = self._reward(frame)
        self._observations = frame.observations
        return Step(
            observations=frame.observations,
            rewards=rewards,
            terms=terms,
            features=features,
            terminated=frame.terminated if self._terminate else np.zeros(self.n, dtype=np.bool_),
            truncated=self._elapsed >= self.limits,
            qpos=frame.qpos,
            qvel=frame.qvel,
            infos=frame.infos,
        )

    def step(self, actions: NDArray[np.floating]) -> Step:
        """One control step of all environments with `actions`, shape (n, action_dim)."""
        self.step_async(actions)
        return self.step_wait()

    def close(self) -> None:
        """Free the environments."""
        self.simulation.close()

    def _complete_infos(self, frame: Frame, features: Features) -> None:
        """Add to Gymnasium's info what rewards may read."""
        names = tuple(features)
        rows = np.array(list(features.values())).T.tolist()
        starts = (self._elapsed == 0).tolist()
        for i, info in enumerate(frame.infos):
            info.update(zip(names, rows[i], strict=True))
            info["_episode_start"] = starts[i]
            if self._side_info:
                info.update(self.simulation.side_info(i))

    def _reward(self, frame: Frame) -> tuple[Floats, Floats]:
        if self._runner is None:
            return frame.rewards, np.zeros((self.n, 0))
        # copies, so that a reward that writes into its arguments changes nothing but them
        return self._runner.step(
            self._observations.copy(), self._actions.copy(), frame.observations.copy(), frame.infos
        )
