"""Starts of training episodes away from the rest pose: in the air and turning, or in states that were recorded."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.training import StartStates
from p2p.worker.engine.frame import Frame
from p2p.worker.engine.root_joints import root_of
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.features.kinematics import Kinematics
from p2p.worker.saved_state import State, fill, generator_state, restore_generator

Floats = NDArray[np.float64]

ORDINARY = -1
"""Origin of an episode that began as the environment has it."""


class StartPlacer:
    """Move a share of the training resets away from the rest pose.

    A state drawn from ranges in which the robot would reach into the floor is lifted until it touches it; given states
    are taken as they are.

    Args:
        env: The training environments.
        starts: Which share, and how far.
        seed: Of the draws.
        reverse: Whether half of the moved starts lie in the present state, and half in one drawn from it and those
            after it.

    Raises:
        InvalidConfig: the robot has no pitch, or the states are another robot's.
    """

    def __init__(self, env: VecEnv, starts: StartStates, seed: int, reverse: bool = False) -> None:
        starts.require(env.spec)
        self._env = env
        self._starts = starts
        self._place = self._to_a_state if starts.states else _Ranges(env, starts).draw
        self._rng = np.random.default_rng(seed)
        self._reverse = reverse
        self.share = starts.share
        """Share of the resets that are moved."""
        self.present = len(starts.states) - 1 if reverse else 0
        """Number of the state that a reverse curriculum has come back to, from 0."""
        self.origins = np.full(env.n, ORDINARY, dtype=np.intp)
        """Where the present episodes began: `ORDINARY`, or the number of a state; 0 in ranges; shape (n,)."""

    def apply(self, ids: Sequence[int], frame: Frame) -> Frame:
        """The frame of a reset of the environments `ids`, with some of them moved."""
        qpos = frame.qpos.copy()
        qvel = frame.qvel.copy()
        moved = np.flatnonzero(self._rng.random(len(ids)) < self.share).tolist()
        self.origins[list(ids)] = ORDINARY
        numbers = self._place(self._rng, moved, qpos, qvel)
        for row, number in zip(moved, numbers, strict=True):
            self.origins[ids[row]] = number
            frame = frame.replaced(np.array([row]), self._env.simulation.place(ids[row], qpos[row], qvel[row]))
        return frame

    def _to_a_state(self, rng: np.random.Generator, moved: list[int], qpos: Floats, qvel: Floats) -> list[int]:
        numbers = [self._number(rng) for _ in moved]
        for row, number in zip(moved, numbers, strict=True):
            state = self._starts.states[number]
            qpos[row] = state.qpos
            qvel[row] = state.qvel
        return numbers

    def _number(self, rng: np.random.Generator) -> int:
        """Number of the state that an episode begins in."""
        count = len(self._starts.states)
        if not self._reverse:
            return int(rng.integers(count))
        return self.present if rng.random() < 0.5 else int(rng.integers(self.present, count))

    def state(self) -> State:
        """State of the random draws, and where the present episodes began."""
        place = {"share": np.array(self.share), "present": np.array(self.present), "origins": self.origins}
        return {"generator": generator_state(self._rng), **place}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        restore_generator(self._rng, state["generator"])
        self.share = float(state["share"])
        self.present = int(state["present"])
        fill(self.origins, state["origins"])


class _Ranges:
    """Draws of pitch, height and pitch rate."""

    def __init__(self, env: VecEnv, starts: StartStates) -> None:
        self._ranges = (starts.pitch, starts.raised, starts.pitch_rate)
        self._root = root_of(env.spec)
        self._kinematics = Kinematics(env.simulation.model, env.spec)
        self._rest_clearance = env.spec.rest_clearance

    def draw(self, rng: np.random.Generator, moved: list[int], qpos: Floats, qvel: Floats) -> list[int]:
        """Move these rows of states in place; their origin is 0."""
        for row in moved:
            pitch, raised, rate = (float(rng.uniform(*limits)) for limits in self._ranges)
            self._root.place(qpos[row], qvel[row], pitch, raised, rate)
        lows = self._kinematics.read(qpos, qvel).low - self._rest_clearance
        for row in moved:
            self._root.lift(qpos[row], max(0.0, -float(lows[row])))
        return [0] * len(moved)
