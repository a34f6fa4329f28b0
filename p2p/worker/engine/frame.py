"""Observations of environments, and Gymnasium's outcome of a step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.saved_state import State, joined, part

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
SIDE_INFO = ("qpos", "qvel", "xpos", "xquat", "cfrc_ext", "actuator_force")
"""What a reward may read of the simulator, beyond observation and info."""


@dataclass(frozen=True, slots=True)
class Frame:
    """State of m environments after a reset or step, in new arrays."""

    observations: Floats
    """Shape (m, obs_dim)."""
    qpos: Floats
    """Joint positions, shape (m, nq)."""
    qvel: Floats
    """Joint velocities, shape (m, nv)."""
    terminated: Booleans
    """The environment's own rule, shape (m,); False after a reset."""
    probes: dict[str, Floats] = field(default_factory=dict)
    """What `Simulation.outcome` needs beyond qpos and qvel, each of shape (m, ...); the same names in every frame."""

    def replaced(self, index: NDArray[np.intp], frame: "Frame") -> "Frame":
        """Copy with the rows of `frame` at the places `index`."""

        def placed(arrays: list[NDArray[Any]]) -> NDArray[Any]:
            array = arrays[0].copy()
            array[index] = arrays[1]
            return array

        return self._with([self, frame], placed)

    @classmethod
    def joined(cls, frames: Sequence["Frame"]) -> "Frame":
        """Concatenate frames."""
        return frames[0]._with(frames, np.concatenate)

    def state(self) -> State:
        """Arrays by name."""
        return {name: getattr(self, name) for name in _ARRAYS} | joined({"probe": self.probes})

    @classmethod
    def restored(cls, state: State) -> "Frame":
        """Frame from the arrays of `state`."""
        return cls(**{name: state[name] for name in _ARRAYS}, probes=part(state, "probe"))

    def _with(self, frames: Sequence["Frame"], combine: Callable[[list[NDArray[Any]]], NDArray[Any]]) -> "Frame":
        """A frame of what `combine` makes of each array of all frames."""
        arrays = {name: combine([getattr(frame, name) for frame in frames]) for name in _ARRAYS}
        probes = {name: combine([frame.probes[name] for frame in frames]) for name in self.probes}
        return Frame(**arrays, probes=probes)


_ARRAYS = ("observations", "qpos", "qvel", "terminated")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Gymnasium's reward, termination and info of m steps."""

    rewards: Floats
    """Shape (m,)."""
    info: dict[str, Floats]
    """Gymnasium's info, name -> shape (m,), or (m, k) where Gymnasium gives k numbers (the tendons of Humanoid)."""
