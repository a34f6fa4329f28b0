"""Commands of n robots: drawn at the start of each episode, and anew while it goes on."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.commands import Commands, commanded_components
from p2p.contracts.env import EnvSpec
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
        n: How many.
    """

    def __init__(self, commands: Commands, spec: EnvSpec, n: int) -> None:
        ranges = np.array([commands.range_of(name) for name in commanded_components(spec)])
        self._low = ranges[:, 0]
        self._span = ranges[:, 1] - ranges[:, 0]
        self._stand_share = commands.stand_share
        self._every = commands.steps_between(spec.dt)
        self.now: Floats = np.zeros((n, len(ranges)))
        """What each robot is told, shape (n, number of commands) [m/s, rad/s]; replaced, never written into."""
        self._generators: list[np.random.Generator | None] = [None] * n

    def begin(self, ids: Sequence[int], seeds: Sequence[int | None]) -> None:
        """Draw the commands at the start of new episodes in the environments `ids`; a seed of None draws on."""
        for i, seed in zip(ids, seeds, strict=True):
            if self._generators[i] is None or seed is not None:
                self._generators[i] = np.random.default_rng(None if seed is None else (STREAM, seed))
        self._draw(ids)

    def advance(self, elapsed: NDArray[np.int64]) -> None:
        """Go on to the next step.

        Args:
            elapsed: Steps of each environment's episode so far, shape (n,).
        """
        if self._every is not None and (due := np.flatnonzero(elapsed % self._every == 0)).size:
            self._draw(due.tolist())

    def tell(self, commands: Floats) -> None:
        """Tell the robots these commands, shape (n, number of commands), until the next draw."""
        self.now = commands.copy()

    def state(self) -> State:
        """Commands in effect, and generators."""
        known = {str(i): generator_state(g) for i, g in enumerate(self._generators) if g is not None}
        return {"now": self.now, **joined({"generator": known})}

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        self.now = self.now.copy()
        fill(self.now, state["now"])
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
            self.now[i] = 0.0 if stands else self._low + self._span * shares[:-1]


def tried_command(spec: EnvSpec) -> Floats:
    """The command that motions without a policy are tried with, shape (number of commands,); none for no commands.

    The highest speed ahead that is commanded and the middle of the other ranges: where a robot is told to go up to
    1 m/s, one that goes ahead at 1 m/s follows, and one that stands does not.
    """
    if spec.commands is None:
        return np.zeros(0)
    ranges = {name: spec.commands.range_of(name) for name in commanded_components(spec)}
    return np.array([high if name == "velocity_x" else (low + high) / 2.0 for name, (low, high) in ranges.items()])
