"""What a reward pays for motions that are known, and how much of what was asked they show."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from p2p.analysis.predicates import measure
from p2p.analysis.reward_audit import Paid
from p2p.analysis.scoring import score
from p2p.contracts.intent import Intent
from p2p.contracts.rollout import Rollout
from p2p.worker.engine.frame import Frame
from p2p.worker.engine.simulation import Simulation
from p2p.worker.reward.inputs import RewardInputs
from p2p.worker.reward.motions import Motion
from p2p.worker.rollout.vec_env import Block

Floats = NDArray[np.float64]


class Evaluator(Protocol):
    """What computes rewards of blocks."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms, known after the first block."""
        ...

    def evaluate(self, block: Block) -> Floats:
        """Total and terms of every row, shape (T * n, 1 + n_terms)."""
        ...


def pay(motions: Sequence[Motion], simulation: Simulation, evaluator: Evaluator, intent: Intent) -> list[Paid]:
    """Show the motions to the judge's predicates and to the reward.

    Args:
        motions: As many as the simulation has environments.
        simulation: Takes their states; no physics is run.
        evaluator: Of the reward.
        intent: What was asked.

    Raises:
        RewardFailed: the reward raised, or returned what is not a finite number.
    """
    block = as_block(motions, simulation)
    features = RewardInputs(simulation, frozenset(simulation.spec.feature_names)).read(block)
    steps, n = block.starts.shape
    table = evaluator.evaluate(block).reshape(steps, n, -1).mean(axis=0)
    paid = []
    for i, motion in enumerate(motions):
        seen = {name: column.reshape(steps, n)[:, i] for name, column in features.items()}
        scores = score(
            intent, [measure(intent, seen, simulation.spec.dt)], [Rollout(seed=i, episode_return=0.0, length=steps)]
        )
        terms = dict(zip(evaluator.names, table[i, 1:].tolist(), strict=True))
        total, meets = float(table[i, 0]), scores.intent_score or 0.0
        paid.append(Paid(motion.name, meets, total, terms, motion.idle, motion.even_pace))
    return paid


def as_block(motions: Sequence[Motion], simulation: Simulation) -> Block:
    """The motions as what n environments did side by side."""
    steps = len(motions[0].actions)
    frames = [
        Frame.joined([simulation.place(i, motion.qpos[t], motion.qvel[t]) for i, motion in enumerate(motions)])
        for t in range(steps + 1)
    ]
    never = np.zeros((steps, len(motions)), dtype=np.bool_)
    starts, ends = never.copy(), never.copy()
    starts[0], ends[-1] = True, True
    return Block(
        before=Frame.joined(frames[:-1]),
        after=Frame.joined(frames[1:]),
        actions=np.concatenate([np.stack([motion.actions[t] for motion in motions]) for t in range(steps)]),
        starts=starts,
        terminated=never,
        truncated=ends,
        side={},
    )
