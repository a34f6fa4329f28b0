"""What every reward function is."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class RewardFunction(ABC):
    """A reward with named terms.

    One instance serves one episode of one environment, so what it keeps on `self` starts anew with each episode.
    """

    @abstractmethod
    def compute(
        self, obs: Floats, action: Floats, next_obs: Floats, info: Mapping[str, Any]
    ) -> tuple[float, dict[str, float]]:
        """The reward of one transition.

        Args:
            obs: Observation the action was chosen on, shape (obs_dim,).
            action: Action as the environment got it, shape (action_dim,).
            next_obs: Observation after the step, shape (obs_dim,).
            info: Gymnasium's `info` of the step, every feature of the environment by its name, `env_reward`, which is
                Gymnasium's own reward, and `_episode_start`, True exactly on the first step after a reset.

        Returns:
            The total, and the summands it is the sum of: the same names every time.
        """

    def compute_batch(
        self, obs: Floats, action: Floats, next_obs: Floats, info: Mapping[str, NDArray[Any]]
    ) -> tuple[Floats, dict[str, Floats]]:
        """The rewards of many transitions at once; need not be written.

        Without it, `compute` is made to work on many transitions where that gives the same. One that is written is
        compared with `compute` on real transitions, and then preferred. It may keep nothing on `self`.

        Args:
            obs: Shape (B, obs_dim).
            action: Shape (B, action_dim).
            next_obs: Shape (B, obs_dim).
            info: What `compute` finds in it, with a leading axis: shape (B,) for numbers, (B, k) for arrays.

        Returns:
            The totals, shape (B,), and the summands by name, each of shape (B,).

        Raises:
            NotImplementedError: it is not written.
        """
        raise NotImplementedError  # optional, thus not abstract: only an override is ever called

    @property
    @abstractmethod
    def latex(self) -> str:
        """The formula of the total."""

    @property
    @abstractmethod
    def terms(self) -> dict[str, str]:
        """Name -> description of every summand."""

    @property
    def description(self) -> str:
        """What it rewards, in words."""
        return ""

    def __call__(
        self, obs: Floats, action: Floats, next_obs: Floats, info: Mapping[str, Any]
    ) -> tuple[float, dict[str, float]]:
        """Call `compute`."""
        return self.compute(obs, action, next_obs, info)
