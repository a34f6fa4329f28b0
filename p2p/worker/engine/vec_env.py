"""n environments stepped side by side, and what they did as blocks of arrays. Free of torch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.training import TrainConfig
from p2p.rewards.definitions import commanded
from p2p.worker.engine.batch_simulation import BatchSimulation
from p2p.worker.engine.commands import CommandDraws
from p2p.worker.engine.frame import Frame
from p2p.worker.engine.simulation import make_simulation
from p2p.worker.saved_state import State, fill, joined, part

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Step:
    """One control step of n environments."""

    before: Frame
    after: Frame
    """What a finished episode ended in, before its reset."""
    actions: NDArray[np.floating]
    """As the environment got them, shape (n, action_dim); nobody changes them later."""
    starts: Booleans
    """First step of an episode, shape (n,)."""
    terminated: Booleans
    """Shape (n,); all False unless the configuration ends unhealthy episodes."""
    truncated: Booleans
    """Shape (n,); True where the time is up."""
    side: dict[str, Floats]
    """Copies of the simulator's named arrays, shape (n, ...); empty unless the configuration asks for them."""
    commands: Floats | None = None
    """What the robots were told during the step, shape (n, number of commands); None without commands."""
    begun_turns: Floats | None = None
    """How far the robots had turned over when their episodes began, shape (n,) [turns]; None for not at all."""

    @property
    def ended(self) -> NDArray[np.intp]:
        """Environments whose episode is over."""
        return np.flatnonzero(self.terminated | self.truncated)


@dataclass(frozen=True, slots=True)
class Block:
    """T control steps of n environments. Row t * n + i of a flat array is step t of environment i."""

    before: Frame
    """T * n rows; after a reset the state it led to."""
    after: Frame
    """T * n rows; what a finished episode ended in, before its reset."""
    actions: NDArray[np.floating]
    """As the environment got them, shape (T * n, action_dim)."""
    starts: Booleans
    """First step of an episode, shape (T, n)."""
    terminated: Booleans
    """Shape (T, n); all False unless the configuration ends unhealthy episodes."""
    truncated: Booleans
    """Shape (T, n); True where the time is up."""
    side: dict[str, Floats]
    """Copies of the simulator's named arrays, shape (T * n, ...); empty unless the configuration asks for them."""
    commands: Floats | None = None
    """What the robots were told during each step, shape (T * n, number of commands); None without commands."""
    begun_turns: Floats | None = None
    """How far the robots had turned over when their episodes began, shape (T, n) [turns]; None for not at all."""

    @classmethod
    def of(cls, steps: Sequence[Step]) -> "Block":
        """Join consecutive steps, at least one."""
        told = [step.commands for step in steps if step.commands is not None]
        begun = [step.begun_turns for step in steps if step.begun_turns is not None]
        return cls(
            before=Frame.joined([step.before for step in steps]),
            after=Frame.joined([step.after for step in steps]),
            actions=np.concatenate([step.actions for step in steps]),
            starts=np.array([step.starts for step in steps]),
            terminated=np.array([step.terminated for step in steps]),
            truncated=np.array([step.truncated for step in steps]),
            side={name: np.concatenate([step.side[name] for step in steps]) for name in steps[0].side},
            commands=np.concatenate(told) if told else None,
            begun_turns=np.array(begun) if begun else None,
        )

    @property
    def ends(self) -> Booleans:
        """Last step of an episode, shape (T, n)."""
        return self.terminated | self.truncated

    def grid(self, rows: NDArray[np.floating]) -> Floats:
        """Flat rows, shape (T * n, ...), as (T, n, ...)."""
        return np.asarray(rows.reshape(*self.starts.shape, *rows.shape[1:]))


class VecEnv:
    """n environments under one configuration; a finished one continues until it is reset.

    Args:
        config: Episode length, termination, side info, commands, `env_kwargs` and terrain.
        spec: Which environment; its features of commands are those of `config`.
        n: How many.
        training: Whether episodes are those of a training: `terminate_when_unhealthy` of the configuration counts, and
            on a terrain they begin where no judged one does.
        threads: Of the physics; what comes out does not depend on it.
        randomise: Whether `randomisation` of the configuration counts; else the robots are as in the model.

    Raises:
        InvalidConfig: they are to differ, and are not stepped by MuJoCo's batch; or they cannot follow the commands.
    """

    def __init__(
        self,
        config: TrainConfig,
        spec: EnvSpec,
        n: int,
        training: bool = False,
        threads: int = 1,
        randomise: bool = False,
    ) -> None:
        self._terminate = training and config.terminate_when_unhealthy
        spec = commanded(spec, config.commands)
        self.simulation = make_simulation(
            spec, n, config.env_kwargs, self._terminate, threads, config.terrain, training
        )
        told = config.commands
        self.commands = CommandDraws(told, spec, self.simulation.model, n) if told is not None else None
        """What the robots are told; None for nothing."""
        self.randomisation = config.randomisation if randomise else None
        self.draws = np.zeros((n, 0))
        """How each robot differs from the model, live, shape (n, number of draws)."""
        self.down: Floats | None = None
        """Direction of gravity of each robot, live, shape (n, 3); None where the ground is level."""
        if self.randomisation is not None and self.randomisation.of_the_body:
            if not isinstance(self.simulation, BatchSimulation):
                raise InvalidConfig(
                    f"randomisation needs MuJoCo's batches, and {spec.env_id} is stepped by {self.simulation.engine}. "
                    "Leave it out."
                )
            randomiser = self.simulation.randomise(self.randomisation)
            self.draws = randomiser.draws
            self.down = randomiser.down
        self.spec = spec
        self.n = n
        self.episode_steps = config.episode_steps(spec.dt)
        self.limits = np.full(n, self.episode_steps)
        """Steps after which each environment's episode is truncated."""
        self.ended_by: Callable[[Step], Booleans] | None = None
        """Says in which environments a step ends the episode, besides the environment's own rule, shape (n,)."""
        self._side_info = config.side_info
        self._elapsed = np.zeros(n, dtype=np.int64)
        self.begun_turns: Floats | None = None
        """How far the robots had turned over when their episodes began, live, shape (n,) [turns]; None for not at
        all."""
        self._now: Frame | None = None
        self._steps: list[Step] = []

    @property
    def now(self) -> Frame:
        """Current frame.

        Raises:
            RuntimeError: no environment was reset yet.
        """
        if self._now is None:
            raise RuntimeError("reset the environments before the first step")
        return self._now

    def reset(self, ids: Sequence[int], seeds: Sequence[int | None]) -> Frame:
        """Begin new episodes in the environments `ids`; the frame holds only those, in that order."""
        return self.begin(ids, self.simulation.reset(ids, seeds), seeds)

    def begin(self, ids: Sequence[int], frame: Frame, seeds: Sequence[int | None] | None = None) -> Frame:
        """Take the states in `frame` as the starts of new episodes in the environments `ids`.

        Args:
            ids: Which environments.
            frame: Their states, in the same order.
            seeds: Of the commands of each episode; None draws on.
        """
        index = np.asarray(ids, dtype=np.intp)
        self._now = frame if self._now is None else self._now.replaced(index, frame)
        self._elapsed[index] = 0
        if self.commands is not None:
            self.commands.begin(ids, seeds if seeds is not None else [None] * len(ids), frame)
        return frame

    def step(self, actions: NDArray[np.floating]) -> Step:
        """One control step of all environments with `actions`, shape (n, action_dim), within their bounds."""
        before = self.now
        after = self.simulation.step(actions)
        starts = self._elapsed == 0
        self._elapsed += 1
        step = Step(
            before=before,
            after=after,
            actions=actions,
            starts=starts,
            terminated=after.terminated if self._terminate else np.zeros(self.n, dtype=np.bool_),
            truncated=self._elapsed >= self.limits,
            side=self.simulation.side_info_all() if self._side_info else {},
            commands=self.commands.now if self.commands is not None else None,
            begun_turns=self.begun_turns.copy() if self.begun_turns is not None else None,
        )
        if self.ended_by is not None:
            step = replace(step, terminated=step.terminated | self.ended_by(step))
        self._steps.append(step)
        self._now = after
        if self.commands is not None:
            self.commands.advance(self._elapsed, after)
        return step

    def take_block(self) -> Block:
        """Steps since the last call, at least one."""
        steps = self._steps
        self._steps = []
        return Block.of(steps)

    def state(self) -> State:
        """State of the environments, between two blocks."""
        counts = {"elapsed": self._elapsed, "limits": self.limits}
        told = {"commands": self.commands.state()} if self.commands is not None else {}
        return counts | joined({"now": self.now.state(), "simulation": self.simulation.state(), **told})

    def restore(self, state: State) -> None:
        """Continue from a saved state.

        Raises:
            ValueError: they cannot be brought there.
        """
        fill(self._elapsed, state["elapsed"])
        fill(self.limits, state["limits"])
        self._now = Frame.restored(part(state, "now"))
        self._steps = []
        self.simulation.restore(part(state, "simulation"))
        if self.commands is not None:
            self.commands.restore(part(state, "commands"))

    def close(self) -> None:
        """Free the environments."""
        self.simulation.close()
