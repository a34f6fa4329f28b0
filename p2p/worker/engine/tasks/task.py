"""What makes an environment out of a body: how it begins, what it shows, when it ends, what it pays."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.engine.frame import Booleans, Floats, Frame, Outcome


@dataclass(frozen=True, slots=True)
class Moment:
    """What the simulator holds of m environments at the end of a step."""

    qpos: Floats
    """Shape (m, nq)."""
    qvel: Floats
    """Shape (m, nv)."""
    fields: dict[str, Floats]
    """The fields that the task asked for, name -> shape (m, ...). Live: copy what is kept."""


@dataclass(frozen=True, slots=True)
class ControlSteps:
    """m control steps."""

    before: Frame
    after: Frame
    actions: NDArray[np.floating]
    """As they were given to `step`, shape (m, action_dim)."""


class VectorisedTask(ABC):
    """One Gymnasium environment, written for many rows at once.

    Every argument of the constructor that changes anything is read from a constructed environment, so there is no
    second place where defaults are known.

    Args:
        env: The unwrapped Gymnasium environment.
    """

    def __init__(self, env: Any) -> None:
        self.fields: tuple[str, ...] = ()
        """Names of what is read from MjData after a step; "ctrl" is the controls in effect."""
        self.dt = float(env.dt)
        self.nq = int(env.model.nq)
        self.nv = int(env.model.nv)
        self.init_qpos: Floats = env.init_qpos.copy()
        self.init_qvel: Floats = env.init_qvel.copy()

    @abstractmethod
    def start(self, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Positions (nq,) and velocities (nv,) of a new episode, with Gymnasium's draws in Gymnasium's order."""

    @abstractmethod
    def observe(self, now: Moment) -> Floats:
        """The observations, a new array of shape (m, obs_dim)."""

    @abstractmethod
    def outcome(self, step: ControlSteps) -> Outcome:
        """Reward and info of any number of steps."""

    def terminated(self, now: Moment) -> Booleans:
        """Whether the episode ends here by the environment's own rule, shape (m,)."""
        return np.zeros(len(now.qpos), dtype=np.bool_)

    def probes(self, now: Moment) -> dict[str, Floats]:  # noqa: ARG002  (for subclasses)
        """What `outcome` needs of this moment beyond positions and velocities; new arrays."""
        return {}


def uniform(generator: np.random.Generator, scale: float, size: int) -> Floats:
    """Noise in [-scale, scale)."""
    return generator.uniform(low=-scale, high=scale, size=size)


def effort(actions: NDArray[np.floating]) -> NDArray[np.floating]:
    """Sum of squared actions, shape (m,), in the actions' own precision, as Gymnasium sums them."""
    return np.asarray(np.square(np.ascontiguousarray(actions)).sum(axis=1))


def length(vectors: Floats) -> Floats:
    """Euclidean length of each row, with the rounding of `np.linalg.norm` of that row alone."""
    return np.asarray(np.sqrt(np.vecdot(vectors, vectors)))


def between(values: Floats, limits: tuple[float, float]) -> Booleans:
    """Whether each value is strictly inside the limits; a NaN is not."""
    return np.asarray((limits[0] < values) & (values < limits[1]))


def judged(rewards: NDArray[np.floating], **info: NDArray[np.floating]) -> Outcome:
    """An outcome in double precision."""
    columns = {name: np.asarray(column, dtype=np.float64) for name, column in info.items()}
    return Outcome(np.asarray(rewards, dtype=np.float64), columns)
