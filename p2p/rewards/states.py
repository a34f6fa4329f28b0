"""Inputs of features."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # see `p2p.rewards.features`
    from p2p.contracts.env import EnvSpec

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Arrays with a common leading axis."""

    def replaced(self, index: NDArray[np.intp], rows: Self) -> Self:
        """Copy with `rows` at the places `index`; earlier arrays stay unchanged."""
        arrays = []
        for field in fields(self):
            array = getattr(self, field.name).copy()
            array[index] = getattr(rows, field.name)
            arrays.append(array)
        return type(self)(*arrays)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The rows of all parts, in order."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


@dataclass(frozen=True, slots=True)
class States(Rows):
    """Quantities of B simulator states, leading axis B everywhere; 0 for parts that a robot lacks."""

    position: Floats
    """Torso in the world, shape (B, 3) [m]."""
    ground: Floats
    """Height of the ground below the torso, shape (B,); 0 but on a terrain [m]."""
    quaternion: Floats
    """Torso relative to standing upright facing +x, shape (B, 4), (w, x, y, z)."""
    low: Floats
    """Lowest point of the robot above the floor, shape (B,) [m]."""
    top: Floats
    """Height of the highest geom centre, shape (B,) [m]."""
    feet: Floats
    """1 where a foot touches the floor, shape (B, n_feet)."""
    foot_height: Floats
    """Lowest point of each foot above where it begins to touch the floor, shape (B, n_feet) [m]."""
    touching: Floats
    """1 where anything of the robot touches the floor, shape (B,)."""
    trunk: Floats
    """1 where the trunk touches the floor, shape (B,)."""
    joint_speed: Floats
    """Mean |velocity| of the joints inside the body, shape (B,) [rad/s]."""
    target_distance: Floats
    """Distance from effector to target as `Morphology.height_counts` says, shape (B,) [m]."""
    pole_angle: Floats
    """Angle of the poles from upright, summed, shape (B,) [rad]."""
    pole_height: Floats
    """Height of the last pole's tip, shape (B,) [m]."""

    def __len__(self) -> int:
        return len(self.position)

    def __getitem__(self, index: slice) -> Self:
        return type(self)(*(getattr(self, field.name)[index] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Sums(Rows):
    """Accumulated quantities since the episode's start, with a leading axis B."""

    steps: Floats
    """Control steps, shape (B,)."""
    start: Floats
    """Torso position after the reset, shape (B, 3) [m]."""
    rotation: Floats
    """About the world's axes, shape (B, 3) [rad]."""
    turned: Floats
    """Roll, pitch and yaw, shape (B, 3) [rad]."""
    since_raised: Floats
    """Control steps since each foot was last raised; infinite before, shape (B, n_feet)."""
    since_down: Floats
    """Control steps since each foot last touched the floor, or the start, shape (B, n_feet)."""
    since_step: Floats
    """Control steps since each foot was last put down after it had been raised, or the start, shape (B, n_feet)."""
    took_off: Floats
    """z of the torso where the robot last touched the floor, or at the start, shape (B,) [m]."""


@dataclass(frozen=True, slots=True)
class Sample:
    """All inputs of the features of B samples."""

    spec: "EnvSpec"
    before: States
    after: States
    rates: Floats
    """Roll, pitch and yaw over the last step, shape (B, 3) [rad/s]."""
    sums: Sums
    action: Floats
    """Scaled to [-1, 1], shape (B, n_actions)."""
    change: Floats
    """Difference to the action before, 0 at an episode's first step, shape (B, n_actions)."""
