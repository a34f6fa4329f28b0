"""Read from a simulation the inputs of rewards and judges, and nothing else."""

from dataclasses import fields

import numpy as np

from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Intent
from p2p.rewards.expression_values import evaluate
from p2p.rewards.features import Features, FeatureTracker
from p2p.rewards.part_features import names_for_code, read_extra_features
from p2p.rewards.states import States
from p2p.worker.engine.frame import Frame
from p2p.worker.engine.simulation import Simulation
from p2p.worker.engine.vec_env import Block
from p2p.worker.features.kinematics import Kinematics
from p2p.worker.features.parts import PartFeatures
from p2p.worker.reward.recorded_steps import Columns
from p2p.worker.reward_source.info_names import names_read, texts_in
from p2p.worker.saved_state import State, joined, part

EPISODE_START = "_episode_start"
ENV_REWARD = "env_reward"
"""Gymnasium's own reward, for rewards that add to it."""


class RewardInputs:
    """Reads, block by block, the `info` of rewards and the features of judges.

    Args:
        simulation: Where the blocks come from.
        wanted: Names that are read; None stands for all there are but the features of parts and expressions.
        extra_features: Features of parts and expressions that are read as well; names of anything else are passed over.
    """

    def __init__(
        self, simulation: Simulation, wanted: frozenset[str] | None = None, extra_features: frozenset[str] = frozenset()
    ) -> None:
        spec: EnvSpec = simulation.spec
        asked = read_extra_features(extra_features | (wanted or frozenset()), spec)
        self._simulation = simulation
        self._expressions = asked.expressions
        texts = frozenset(expression.text for expression in asked.expressions)
        parts = frozenset(feature.name for feature in asked.parts)
        self.extra_features = texts | parts
        """Features of parts and expressions that are read."""
        self._wanted = None if wanted is None else wanted | (extra_features & self.extra_features)
        plain = None if wanted is None else wanted | asked.plain
        reads_features = plain is None or not plain.isdisjoint(spec.feature_names)
        self._features = FeatureReader(simulation) if reads_features else None
        self._parts = PartFeatures(simulation.model, spec, simulation.n, asked.parts) if asked.parts else None
        own = frozenset((*spec.feature_names, EPISODE_START)) | self.extra_features
        self._outcome = wanted is None or not wanted <= own

    def read(self, block: Block) -> Columns:
        """Columns of the next block: Gymnasium's `info`, features, and further requested values."""
        columns: dict[str, np.ndarray] = {}
        if self._outcome:
            outcome = self._simulation.outcome(block.before, block.after, block.actions)
            columns |= {**outcome.info, ENV_REWARD: outcome.rewards}
        if self._features is not None:
            columns |= self._features.read(block)
        if self._parts is not None:
            columns |= self._parts.read(block)
        columns |= {expression.text: evaluate(expression, columns) for expression in self._expressions}
        columns |= block.side
        columns[EPISODE_START] = block.starts.ravel()
        if self._wanted is None:
            return columns
        return {name: column for name, column in columns.items() if name in self._wanted}

    def state(self) -> State:
        """State carried over from earlier blocks."""
        own = self._features.state() if self._features is not None else {}
        return own | (joined({"parts": self._parts.state()}) if self._parts is not None else {})

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        if self._features is not None:
            self._features.restore(state)
        if self._parts is not None:
            self._parts.restore(part(state, "parts"))


def inputs_of(simulation: Simulation, source: str) -> RewardInputs:
    """Inputs of a reward, by its source."""
    wanted = names_read(source)
    return RewardInputs(simulation, wanted, frozenset() if wanted is not None else texts_in(source))


def asked_by(intent: Intent | None, spec: EnvSpec) -> frozenset[str]:
    """Part features and expressions in criteria; with one for eyes, also those that judge code may use."""
    if intent is None:
        return frozenset()
    predicates = [criterion.predicate for criterion in intent.criteria]
    names = frozenset(name for predicate in predicates if predicate is not None for name in predicate.names())
    return names | (names_for_code(spec) if None in predicates else frozenset())


class FeatureReader:
    """Features of consecutive blocks.

    Args:
        simulation: Where the blocks come from.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._kinematics = Kinematics(simulation.model, simulation.spec)
        self._tracker = FeatureTracker(simulation.spec, simulation.n)
        self._last: States | None = None

    def read(self, block: Block) -> Features:
        """Features after every step of the next block, each of shape (T * n,)."""
        n = block.starts.shape[1]
        after = self._read(block.after, slice(None))
        first = after[:n] if self._last is None else self._last
        index = np.flatnonzero(block.starts.ravel())
        before = States.joined([first, after[:-n]]).replaced(index, self._read(block.before, index))
        self._last = after[-n:]
        return self._tracker.measure(before, after, block.actions, block.starts, block.commands, block.begun_turns)

    def state(self) -> State:
        """State between two blocks."""
        last = {field.name: getattr(self._last, field.name) for field in fields(States)} if self._last else {}
        return joined({"last": last, "tracker": self._tracker.state()})

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        last = part(state, "last")
        self._last = States(**last) if last else None
        self._tracker.restore(part(state, "tracker"))

    def _read(self, frame: Frame, rows: slice | np.ndarray) -> States:
        return self._kinematics.read(frame.qpos[rows], frame.qvel[rows])
