"""Commands of n robots: drawn at the start of each episode, and anew while it goes on."""

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.commands import KEPT_STANDING, Commands
from p2p.contracts.env import EnvSpec
from p2p.rewards.rotations import conjugate, heading, multiply, within_half_turn
from p2p.worker.engine.forward_kinematics import ForwardKinematics
from p2p.worker.engine.frame import Frame
from p2p.worker.engine.morphology import index_of
from p2p.worker.saved_state import State, fill, generator_state, joined, part, restore_generator

Floats = NDArray[np.float64]
STREAM = 0xC0DE
"""Keeps the draws apart from those of the episode's start and of the robot, which have the same seed. `replay.py` of an
export draws the same."""


class CommandDraws:
    """Commands that n robots are told.

    Each environment draws from a generator of its own, so that an episode's commands follow from its seed alone.

    Args:
        commands: The ranges.
        spec: The environment, whose robot follows some or all of them.
        model: Its simulated model.
        n: How many.
    """

    def __init__(self, commands: Commands, spec: EnvSpec, model: mujoco.MjModel, n: int) -> None:
        names = commands.components(spec)
        ranges = np.array([commands.range_of(name) for name in names])
        self._kept = np.array([name in KEPT_STANDING for name in names])
        self._turning = _Turning(names.index("heading"), model, spec, n) if "heading" in names else None
        self._low = ranges[:, 0]
        self._span = ranges[:, 1] - ranges[:, 0]
        self._stand_share = commands.stand_share
        self._every = commands.steps_between(spec.dt)
        self.now: Floats = np.zeros((n, len(ranges)))
        """What each robot is told, shape (n, number of commands) [m/s, rad/s, rad, m]; replaced, never written into."""
        self._generators: list[np.random.Generator | None] = [None] * n

    def begin(self, ids: Sequence[int], seeds: Sequence[int | None], frame: Frame) -> None:
        """Draw the commands at the start of new episodes in the environments `ids`; a seed of None draws on.

        Args:
            ids: Which environments.
            seeds: Of the commands of each episode.
            frame: Their states, in the same order.
        """
        for i, seed in zip(ids, seeds, strict=True):
            if self._generators[i] is None or seed is not None:
                self._generators[i] = np.random.default_rng(None if seed is None else (STREAM, seed))
        if self._turning is not None:
            self._turning.see(np.asarray(ids, dtype=np.intp), frame)
        self._draw(ids)

    def advance(self, elapsed: NDArray[np.int64], frame: Frame) -> None:
        """Go on to the next step.

        Args:
            elapsed: Steps of each environment's episode so far, shape (n,).
            frame: States of all environments.
        """
        if self._turning is not None:
            self._turning.see(np.arange(len(elapsed)), frame)
            self.now = self._turning.left_to_turn(self.now)
        if self._every is not None and (due := np.flatnonzero(elapsed % self._every == 0)).size:
            self._draw(due.tolist())

    def tell(self, commands: Floats) -> None:
        """Tell the robots these commands, shape (n, number of commands), until the next draw."""
        self.now = commands.copy()
        if self._turning is not None:
            self._turning.aim(range(len(commands)), self.now)

    def state(self) -> State:
        """Commands in effect, and generators."""
        known = {str(i): generator_state(g) for i, g in enumerate(self._generators) if g is not None}
        turning = {"turning": self._turning.state()} if self._turning is not None else {}
        return {"now": self.now, **joined({"generator": known, **turning})}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        self.now = self.now.copy()
        fill(self.now, state["now"])
        if self._turning is not None:
            self._turning.restore(part(state, "turning"))
        for name, words in part(state, "generator").items():
            self._generators[int(name)] = generator = np.random.default_rng(0)
            restore_generator(generator, words)

    def _draw(self, ids: Sequence[int]) -> None:
        self.now = self.now.copy()
        for i in ids:
            generator = self._generators[i]
            assert generator is not None, "commands are drawn after an episode has begun"
            shares = generator.random(len(self._low) + 1)
            stands = shares[-1] < self._stand_share
            self.now[i] = np.where(stands & ~self._kept, 0.0, self._low + self._span * shares[:-1])
        if self._turning is not None:
            self._turning.aim(ids, self.now)


class _Turning:
    """How far n robots have yet to turn.

    Args:
        column: Of the commands, that says so.
        model: The simulated model.
        spec: Its environment.
        n: How many.
    """

    def __init__(self, column: int, model: mujoco.MjModel, spec: EnvSpec, n: int) -> None:
        self._column = column
        self._poses = ForwardKinematics(model)
        self._torso = index_of(model, "body", spec.morphology.torso)
        self._upright = conjugate(np.array(spec.morphology.upright))
        self._faces = np.zeros(n)
        """Headings now, shape (n,) [rad]."""
        self._aims = np.zeros(n)
        """Headings to turn to, shape (n,) [rad]."""

    def see(self, ids: NDArray[np.intp], frame: Frame) -> None:
        """Take where the environments `ids` face, from their states."""
        quaternions = self._poses.read(frame.qpos).xquat[:, self._torso]
        self._faces[ids] = heading(multiply(quaternions, self._upright))

    def aim(self, ids: Sequence[int], commands: Floats) -> None:
        """Take by how much the environments `ids` are to turn, of the commands of all, shape (n, number)."""
        for i in ids:
            self._aims[i] = self._faces[i] + commands[i, self._column]

    def left_to_turn(self, commands: Floats) -> Floats:
        """New commands: the same, with what is left to turn."""
        commands = commands.copy()
        commands[:, self._column] = within_half_turn(self._aims - self._faces)
        return commands

    def state(self) -> State:
        """Headings."""
        return {"faces": self._faces, "aims": self._aims}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        fill(self._faces, state["faces"])
        fill(self._aims, state["aims"])


def tried_command(spec: EnvSpec) -> Floats:
    """The command that motions without a policy are tried with, shape (number of commands,); none for no commands.

    The highest speed ahead that is commanded and the middle of the other ranges: where a robot is told to go up to
    1 m/s, one that goes ahead at 1 m/s follows, and one that stands does not.
    """
    if spec.commands is None:
        return np.zeros(0)
    ranges = {name: spec.commands.range_of(name) for name in spec.commands.components(spec)}
    return np.array([high if name == "velocity_x" else (low + high) / 2.0 for name, (low, high) in ranges.items()])
