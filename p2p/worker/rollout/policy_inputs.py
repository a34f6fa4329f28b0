"""What n policies see: the simulator's observation or a robot's senses, what `observe` appends to it, and commands."""

from collections.abc import Sequence

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.observe import Observe, ObservedInput, told_commands
from p2p.contracts.senses import Senses
from p2p.contracts.training import TrainConfig
from p2p.rewards.progress import EpisodeProgress
from p2p.worker.engine.height_field import height_field
from p2p.worker.engine.vec_env import Block, Step, VecEnv
from p2p.worker.features.progress import ProgressReader
from p2p.worker.reward.inputs import FeatureReader
from p2p.worker.rollout.ground_scan import GroundScan
from p2p.worker.rollout.robot_senses import RobotSenses, SenseErrors
from p2p.worker.saved_state import State, fill, joined, part

Floats = NDArray[np.float64]


class PolicyInputs:
    """Inputs of the policies that act in n environments; by default they are the observations alone.

    Args:
        config: What they are made of.
        env: Where the policies act.
        learning: Whether what only the critic sees is appended, as the configuration's `critic_observation` says.
        seeds: Of the errors of each robot's senses, where the robots of `env` differ from the model.

    Raises:
        InvalidConfig: the robot lacks a feature or the senses that are read.
    """

    def __init__(self, config: TrainConfig, env: VecEnv, learning: bool = False, seeds: Sequence[int] = ()) -> None:
        self._env = env
        senses = Senses.of(env.spec, config.observation)
        self._senses = RobotSenses(senses, env.n) if senses is not None else None
        self.space = input_space(env.simulation.observation_space, config, env.spec)
        """Space of the inputs."""
        noise = env.randomisation.noise if env.randomisation is not None else None
        self._errors = SenseErrors(senses, noise, seeds) if senses is not None and noise is not None else None
        self._draws = env.draws if learning and config.critic_observation == "full" else None
        ground = height_field(env.simulation.model) if self._draws is not None else None
        self._scan = GroundScan(ground, env.spec) if ground is not None else None
        scanned = self._scan.size if self._scan is not None else 0
        self.privileged = (
            env.simulation.observation_dim + self._draws.shape[1] + scanned if self._draws is not None else 0
        )
        """Last entries of the inputs that the critic alone sees."""
        if self.privileged:
            more = np.full(self.privileged, np.inf)
            self.space = _joined(self.space, Box(-more, more, dtype=np.float64))
        self._progress = _Progress(config.observe, env) if config.observe is not None else None

    @property
    def by_senses(self) -> bool:
        """Whether a robot's senses stand in for the simulator's observation."""
        return self._senses is not None

    @property
    def now(self) -> Floats:
        """Current inputs, shape (n, input_dim)."""
        frame = self._env.now
        columns = [frame.observations if self._senses is None else self._senses.read(frame, self._env.down)]
        if self._errors is not None:
            columns[0] = columns[0] + self._errors.now
        columns += self._told()
        if self._draws is not None:
            columns += [frame.observations, self._draws]
        if self._scan is not None:
            columns.append(self._scan.read(frame.qpos))
        return np.concatenate(columns, axis=1) if len(columns) > 1 else columns[0]

    @property
    def appended(self) -> Floats:
        """What is appended to the current observations, shape (n, appended)."""
        return np.concatenate([np.zeros((self._env.n, 0)), *self._told()], axis=1)

    def begin(self, ids: Sequence[int]) -> None:
        """Begin new episodes in the environments `ids`."""
        if self._senses is not None:
            self._senses.begin(ids)
        if self._errors is not None:
            self._errors.draw(ids)
        if self._progress is not None:
            self._progress.begin(ids)

    def follow(self, step: Step) -> None:
        """Take the next step of all environments."""
        if self._senses is not None:
            self._senses.follow(step)
        if self._errors is not None:
            self._errors.draw(range(self._env.n))
        if self._progress is not None:
            self._progress.advance(step)

    def _told(self) -> list[Floats]:
        """What is appended to the observations, in its order: progress, then commands."""
        told = [self._progress.values] if self._progress is not None else []
        return told if self._env.commands is None else [*told, self._env.commands.now]

    def state(self) -> State:
        """State between two steps."""
        senses = self._senses.state() if self._senses is not None else {}
        errors = self._errors.state() if self._errors is not None else {}
        return joined(
            {
                "senses": senses,
                "errors": errors,
                "progress": self._progress.state() if self._progress is not None else {},
            }
        )

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        if self._senses is not None:
            self._senses.restore(part(state, "senses"))
        if self._errors is not None:
            self._errors.restore(part(state, "errors"))
        if self._progress is not None:
            self._progress.restore(part(state, "progress"))


def beyond_the_simulator(config: TrainConfig, spec: EnvSpec) -> tuple[Senses | None, tuple[ObservedInput, ...]]:
    """A robot's senses, where they take the place of the simulator's observation; and what is appended to either."""
    progress = config.observe.inputs if config.observe is not None else ()
    commands = told_commands(config.commands, spec) if config.commands is not None else ()
    return Senses.of(spec, config.observation), progress + commands


def input_space(own: Box, config: TrainConfig, spec: EnvSpec) -> Box:
    """Space of what a policy sees, whose simulator shows it `own`."""
    senses, appended = beyond_the_simulator(config, spec)
    if senses is None and not appended:
        return own
    seen = np.full(len(senses.inputs), np.inf) if senses is not None else own.high
    lowest = -seen if senses is not None else own.low
    more = np.full(len(appended), np.inf)
    return _joined(Box(lowest, seen, dtype=np.float64), Box(-more, more, dtype=np.float64))


def _joined(first: Box, second: Box) -> Box:
    low, high = np.concatenate([first.low, second.low]), np.concatenate([first.high, second.high])
    return Box(low, high, dtype=np.float64)


class _Progress:
    """How far the episodes of an environment are, from its steps."""

    def __init__(self, observe: Observe, env: VecEnv) -> None:
        observe.require(env.spec)
        self.observe = observe
        self._env = env
        self._episodes = EpisodeProgress(observe, env.n)
        self._reader: ProgressReader | FeatureReader = (
            ProgressReader(env.simulation.model, env.spec, env.n, observe.reads)
            if ProgressReader.names.issuperset(observe.reads)
            else FeatureReader(env.simulation)
        )

    @property
    def values(self) -> Floats:
        return self._episodes.values

    def begin(self, ids: Sequence[int]) -> None:
        begun = self._env.begun_turns
        self._episodes.begin(ids, {} if begun is None else {"pitch_turns": begun[list(ids)]})

    def advance(self, step: Step) -> None:
        reader = self._reader
        features = reader.read(step) if isinstance(reader, ProgressReader) else reader.read(Block.of([step]))
        self._episodes.advance(features)

    def state(self) -> State:
        return joined({"episodes": self._episodes.state(), "reader": self._reader.state()})

    def restore(self, state: State) -> None:
        saved = part(state, "episodes")
        for name, array in self._episodes.state().items():
            fill(array, saved[name])
        self._reader.restore(part(state, "reader"))
