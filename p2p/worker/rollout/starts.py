"""Starts of training episodes away from the rest pose: in the air and turning, or in states that were recorded."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.training import StartStates
from p2p.worker.engine.frame import Frame
from p2p.worker.engine.root_joints import root_of
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.features.kinematics import Kinematics
from p2p.worker.saved_state import State, generator_state, restore_generator

Floats = NDArray[np.float64]


class StartPlacer:
    """Move a share of the training resets away from the rest pose.

    A state drawn from ranges in which the robot would reach into the floor is lifted until it touches it; given states
    are taken as they are.

    Args:
        env: The training environments.
        starts: Which share, and how far.
        seed: Of the draws.

    Raises:
        InvalidConfig: the robot has no pitch, or the states are another robot's.
    """

    def __init__(self, env: VecEnv, starts: StartStates, seed: int) -> None:
        starts.require(env.spec)
        self._env = env
        self._starts = starts
        self._place = self._to_a_state if starts.states else _Ranges(env, starts).draw
        self._rng = np.random.default_rng(seed)

    def apply(self, ids: Sequence[int], frame: Frame) -> Frame:
        """The frame of a reset of the environments `ids`, with some of them moved."""
        qpos = frame.qpos.copy()
        qvel = frame.qvel.copy()
        moved = np.flatnonzero(self._rng.random(len(ids)) < self._starts.share).tolist()
        self._place(self._rng, moved, qpos, qvel)
        for row in moved:
            frame = frame.replaced(np.array([row]), self._env.simulation.place(ids[row], qpos[row], qvel[row]))
        return frame

    def _to_a_state(self, rng: np.random.Generator, moved: list[int], qpos: Floats, qvel: Floats) -> None:
        for row in moved:
            state = self._starts.states[int(rng.integers(len(self._starts.states)))]
            qpos[row] = state.qpos
            qvel[row] = state.qvel

    def state(self) -> State:
        """State of the random draws."""
        return {"generator": generator_state(self._rng)}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        restore_generator(self._rng, state["generator"])


class _Ranges:
    """Draws of pitch, height and pitch rate."""

    def __init__(self, env: VecEnv, starts: StartStates) -> None:
        self._ranges = (starts.pitch, starts.raised, starts.pitch_rate)
        self._root = root_of(env.spec)
        self._kinematics = Kinematics(env.simulation.model, env.spec)
        self._rest_clearance = env.spec.rest_clearance

    def draw(self, rng: np.random.Generator, moved: list[int], qpos: Floats, qvel: Floats) -> None:
        """Move these rows of states in place."""
        for row in moved:
            pitch, raised, rate = (float(rng.uniform(*limits)) for limits in self._ranges)
            self._root.place(qpos[row], qvel[row], pitch, raised, rate)
        lows = self._kinematics.read(qpos, qvel).low - self._rest_clearance
        for row in moved:
            self._root.lift(qpos[row], max(0.0, -float(lows[row])))
