"""What a reward prefers: it is tried on motions that are known, and held against what was asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from p2p.analysis.predicates import measure
from p2p.analysis.scoring import score
from p2p.contracts.intent import Intent
from p2p.contracts.reward import RewardIssue
from p2p.contracts.rollout import Rollout
from p2p.worker.engine.frame import Frame
from p2p.worker.engine.simulation import Simulation
from p2p.worker.reward.inputs import RewardInputs
from p2p.worker.reward.motions import Motion
from p2p.worker.rollout.vec_env import Block

Floats = NDArray[np.float64]

GOOD_SCORE = 0.5
"""A motion with less does not show what was asked: nothing can be said then."""
WORSE_BY = 0.3
"""A motion whose score is so much lower is clearly not what was asked."""
NOISE = 0.05
"""Difference of two returns, as a share of the range over all motions, that counts as none."""


class Evaluator(Protocol):
    """What computes rewards of blocks."""

    names: tuple[str, ...]

    def evaluate(self, block: Block) -> Floats:
        """Total and terms of every row, shape (T * n, 1 + n_terms)."""
        ...


@dataclass(frozen=True, slots=True)
class Paid:
    """One motion: how much of what was asked it shows, and what the reward pays for it."""

    name: str
    score: float
    """Of the criteria, in [0, 1]."""
    total: float
    """Mean reward per step."""
    terms: dict[str, float]
    """Mean per step."""


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
        paid.append(Paid(motion.name, scores.intent_score or 0.0, float(table[i, 0]), terms))
    return paid


def preference_issues(paid: Sequence[Paid], severity: str) -> tuple[RewardIssue, ...]:
    """Motions that are paid more than the one that shows best what was asked, though they are clearly not that.

    Args:
        paid: All motions.
        severity: Of the issues.
    """
    if not paid:
        return ()
    best = max(paid, key=lambda motion: (motion.score, motion.total))
    spread = max(motion.total for motion in paid) - min(motion.total for motion in paid)
    wrong = [
        motion
        for motion in paid
        if motion.score <= best.score - WORSE_BY and motion.total > best.total + NOISE * spread
    ]
    if best.score < GOOD_SCORE or not wrong:
        return ()
    worst = max(wrong, key=lambda motion: motion.total)
    term = max(worst.terms, key=lambda name: worst.terms[name] - best.terms[name])
    others = f" The same holds for {', '.join(m.name for m in wrong if m is not worst)}." if len(wrong) > 1 else ""
    message = (
        f"It pays {worst.name!r} {worst.total:.3g} per step and {best.name!r} only {best.total:.3g}, though the first "
        f"meets {worst.score:.0%} of what was asked and the second {best.score:.0%}. Most of that is the term {term!r} "
        f"({worst.terms[term]:.3g} against {best.terms[term]:.3g}): look at its sign and its size.{others}"
    )
    return (RewardIssue(severity=severity, message=message),)


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
