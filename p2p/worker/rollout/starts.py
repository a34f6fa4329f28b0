"""Starts of training episodes away from the rest pose: in the air and turning, or in states that were recorded."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.curriculum import StartCurriculum
from p2p.contracts.start_states import StartStates
from p2p.worker.engine.frame import Frame
from p2p.worker.engine.morphology import BALL, index_of, inner_dofs, robot_dofs
from p2p.worker.engine.root_joints import root_of
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.features.kinematics import Kinematics
from p2p.worker.rollout.backward_draws import BackwardDraws
from p2p.worker.saved_state import State, fill, generator_state, restore_generator

Floats = NDArray[np.float64]

ORDINARY = -1
"""Origin of an episode that began as the environment has it."""
PER_SECOND = 3.0
"""Noise of a velocity over that of a position [1/s]: a robot a metre high falls over at about such a rate."""
Start = tuple[int, float]
"""Origin of an episode, and how far the robot had turned over then [turns]."""


class StartPlacer:
    """Move a share of the training resets away from the rest pose.

    A state drawn from ranges in which the robot would reach into the floor is lifted until it touches it; given states
    are taken as they are, but for their noise.

    Args:
        env: The training environments.
        starts: Which share, and how far.
        seed: Of the draws.
        curriculum: Where its starts move back from a goal, the states are drawn by their success.

    Raises:
        InvalidConfig: the robot has no pitch, or the states are another robot's.
    """

    def __init__(self, env: VecEnv, starts: StartStates, seed: int, curriculum: StartCurriculum | None = None) -> None:
        starts.require(env.spec)
        self._env = env
        self._starts = starts
        self._place = self._to_a_state if starts.states else _Ranges(env, starts).draw
        self._rng = np.random.default_rng(seed)
        self._noise = _Noise(env, starts.noise) if starts.noise else None
        self.share = starts.share
        """Share of the resets that are moved."""
        self.backward: BackwardDraws | None = None
        """How states are drawn where the starts move back; None where all are drawn alike."""
        if curriculum is not None and curriculum.reverse and starts.states:
            self.backward = BackwardDraws(starts.motions, len(starts.states) // starts.motions, curriculum)
        self.origins = np.full(env.n, ORDINARY, dtype=np.intp)
        """Where the present episodes began: `ORDINARY`, or the number of a state; 0 in ranges; shape (n,)."""
        self.begun_turns = np.zeros(env.n)
        """How far they had turned over when they began, backward positive, shape (n,) [turns]."""

    def apply(self, ids: Sequence[int], frame: Frame) -> Frame:
        """The frame of a reset of the environments `ids`, with some of them moved."""
        qpos = frame.qpos.copy()
        qvel = frame.qvel.copy()
        moved = np.flatnonzero(self._rng.random(len(ids)) < self.share).tolist()
        self.origins[list(ids)] = ORDINARY
        self.begun_turns[list(ids)] = 0.0
        for row, (number, turned) in zip(moved, self._place(self._rng, moved, qpos, qvel), strict=True):
            self.origins[ids[row]] = number
            self.begun_turns[ids[row]] = turned
            frame = frame.replaced(np.array([row]), self._env.simulation.place(ids[row], qpos[row], qvel[row]))
        return frame

    def _to_a_state(self, rng: np.random.Generator, moved: list[int], qpos: Floats, qvel: Floats) -> list[Start]:
        numbers = [self._number(rng) for _ in moved]
        states = [self._starts.states[number] for number in numbers]
        for row, state in zip(moved, states, strict=True):
            qpos[row] = state.qpos
            qvel[row] = state.qvel
            if self._noise is not None:
                self._noise.add(rng, qpos[row], qvel[row])
        return [(number, state.pitch_turns) for number, state in zip(numbers, states, strict=True)]

    def _number(self, rng: np.random.Generator) -> int:
        """Number of the state that an episode begins in."""
        return int(rng.integers(len(self._starts.states))) if self.backward is None else self.backward.draw(rng)

    def state(self) -> State:
        """State of the random draws, and where the present episodes began."""
        place = {"share": np.array(self.share), "origins": self.origins, "begun_turns": self.begun_turns}
        back = {"success": self.backward.success} if self.backward is not None else {}
        return {"generator": generator_state(self._rng), **place, **back}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        restore_generator(self._rng, state["generator"])
        self.share = float(state["share"])
        if self.backward is not None:
            fill(self.backward.success, state["success"])
        fill(self.origins, state["origins"])
        fill(self.begun_turns, state["begun_turns"])


class _Noise:
    """Random changes of a robot's joints, and of how all of it moves; what lies beside it stays as it is."""

    def __init__(self, env: VecEnv, size: float) -> None:
        model = env.simulation.model
        torso = index_of(model, "body", env.spec.morphology.torso)
        joints = model.dof_jntid[inner_dofs(model, torso)]
        self._angles = model.jnt_qposadr[joints[model.jnt_type[joints] != BALL]]
        self._dofs = robot_dofs(model, torso)
        self._size = size

    def add(self, rng: np.random.Generator, qpos: Floats, qvel: Floats) -> None:
        """Change a state in place."""
        qpos[self._angles] += self._size * rng.uniform(-1.0, 1.0, len(self._angles))
        qvel[self._dofs] += PER_SECOND * self._size * rng.uniform(-1.0, 1.0, len(self._dofs))


class _Ranges:
    """Draws of pitch, height and pitch rate."""

    def __init__(self, env: VecEnv, starts: StartStates) -> None:
        self._ranges = (starts.pitch, starts.raised, starts.pitch_rate)
        self._root = root_of(env.spec)
        self._kinematics = Kinematics(env.simulation.model, env.spec)
        self._rest_clearance = env.spec.rest_clearance

    def draw(self, rng: np.random.Generator, moved: list[int], qpos: Floats, qvel: Floats) -> list[Start]:
        """Move these rows of states in place."""
        found = []
        for row in moved:
            pitch, raised, rate = (float(rng.uniform(*limits)) for limits in self._ranges)
            found.append((0, pitch / (2.0 * np.pi)))
            self._root.place(qpos[row], qvel[row], pitch, raised, rate)
        lows = self._kinematics.read(qpos, qvel).low - self._rest_clearance
        for row in moved:
            self._root.lift(qpos[row], max(0.0, -float(lows[row])))
        return found
