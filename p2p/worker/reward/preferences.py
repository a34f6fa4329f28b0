"""Pay of a reward for known motions, and the motions' scores by the criteria."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.analysis.paid import Paid
from p2p.analysis.predicates import measure
from p2p.analysis.scoring import score
from p2p.contracts.intent import Intent
from p2p.contracts.training import Rollout
from p2p.worker.engine.commands import tried_command
from p2p.worker.engine.frame import Frame
from p2p.worker.engine.simulation import Simulation
from p2p.worker.engine.vec_env import Block
from p2p.worker.reward.evaluator import RewardEvaluator
from p2p.worker.reward.inputs import RewardInputs, asked_by
from p2p.worker.reward.motions import TrialMotion


def pay(
    motions: Sequence[TrialMotion],
    simulation: Simulation,
    evaluator: RewardEvaluator,
    intent: Intent,
    alive: NDArray[np.bool_] | None = None,
) -> list[Paid]:
    """Evaluate the motions by the judge's predicates and by the reward.

    Args:
        motions: As many as the simulation has environments.
        simulation: Takes their states; no physics is run.
        evaluator: Of the reward.
        intent: What was asked.
        alive: Steps at which the episode goes on, shape (T, n); None where nothing ends it.

    Raises:
        RewardFailed: the reward raised, or returned what is not a finite number.
    """
    block = as_block(motions, simulation)
    spec = simulation.spec
    features = RewardInputs(simulation, frozenset(spec.feature_names) | asked_by(intent, spec)).read(block)
    steps, n = block.starts.shape
    rows = evaluator.evaluate(block).reshape(steps, n, -1)
    table = rows.mean(axis=0)
    kept = (rows[:, :, 0] * alive).mean(axis=0).tolist() if alive is not None else [None] * n
    paid = []
    for i, motion in enumerate(motions):
        seen = {name: column.reshape(steps, n)[:, i] for name, column in features.items()}
        scores = score(intent, [measure(intent, seen, spec.dt)], [Rollout(seed=i, episode_return=0.0, length=steps)])
        terms = dict(zip(evaluator.names, table[i, 1:].tolist(), strict=True))
        total = float(table[i, 0])
        meets = scores.intent_score or 0.0
        paid.append(
            Paid(
                name=motion.name,
                score=meets,
                total=total,
                terms=terms,
                idle=motion.idle,
                even_pace=motion.even_pace,
                fallen=motion.fallen,
                noise_on=motion.noise_on,
                kept=kept[i],
            )
        )
    return paid


def until_unhealthy(motions: Sequence[TrialMotion], env: Any) -> NDArray[np.bool_] | None:
    """Steps up to the first unhealthy state of each motion, shape (T, n); None for robots that are always healthy.

    Args:
        motions: Of the same length.
        env: Of Gymnasium; its state changes.
    """
    robot = env.unwrapped
    if not hasattr(robot, "is_healthy"):
        return None
    healthy = np.ones((len(motions[0].actions), len(motions)), dtype=np.bool_)
    for i, motion in enumerate(motions):
        for t in range(len(motion.actions)):
            robot.data.qpos[:] = motion.qpos[t + 1]
            robot.data.qvel[:] = motion.qvel[t + 1]
            healthy[t, i] = bool(robot.is_healthy)
    return np.logical_and.accumulate(healthy, axis=0)


def as_block(motions: Sequence[TrialMotion], simulation: Simulation) -> Block:
    """Motions as a block of n environments."""
    steps = len(motions[0].actions)
    frames = [
        Frame.joined([simulation.place(i, motion.qpos[t], motion.qvel[t]) for i, motion in enumerate(motions)])
        for t in range(steps + 1)
    ]
    never = np.zeros((steps, len(motions)), dtype=np.bool_)
    starts = never.copy()
    ends = never.copy()
    starts[0] = True
    ends[-1] = True
    told = tried_command(simulation.spec)
    return Block(
        before=Frame.joined(frames[:-1]),
        after=Frame.joined(frames[1:]),
        actions=np.concatenate([np.stack([motion.actions[t] for motion in motions]) for t in range(steps)]),
        starts=starts,
        terminated=never,
        truncated=ends,
        side={},
        commands=np.tile(told, (steps * len(motions), 1)) if told.size else None,
    )
