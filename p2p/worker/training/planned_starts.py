"""The states that a training's episodes begin in, where they are planned."""

import sys
from collections.abc import Iterable

from p2p.contracts.start_states import MOST_STATES, FoundMotions, StartStates
from p2p.worker.rollout.planner import Motion, Planner
from p2p.worker.training.run import Run

TRIES = 3
"""Motions that are tried at most for each that is to be found."""


def start_states(run: Run, seed: int, threads: int) -> StartStates | None:
    """Where a run's training episodes begin; what is planned is found first, once, and kept in the run's directory.

    Args:
        run: What is trained.
        seed: Of the planner's draws and of the starts of its motions.
        threads: Of the physics; what is found does not depend on it.

    Raises:
        InvalidConfig: the goal names a feature that the environment does not have.
    """
    starts = run.config.start_states
    if starts is None or starts.planned is None:
        return starts
    found = run.record.read_planned_states()
    if found is None:
        planner = Planner(run.config, run.spec, starts.planned, seed, threads)
        motions: list[Motion] = []
        while len(motions) < TRIES * starts.planned.motions and len(_reached(motions)) < starts.planned.motions:
            motions.append(planner.motion(seed + len(motions)))
        print(f"Planned {len(motions)} motions to begin in, in {planner.steps:,} steps.", file=sys.stderr, flush=True)
        kept = _reached(motions) or motions
        found = FoundMotions(
            states=tuple(state for motion in kept for state in motion.spread(MOST_STATES // len(kept))),
            motions=len(motions),
            reached=len(_reached(motions)),
            kept=len(kept),
            nearest=max(motion.nearest for motion in motions),
            steps=planner.steps,
        )
        planner.close()
        run.record.save_planned_states(found)
    return StartStates(share=starts.share, states=found.states, motions=found.kept, noise=starts.noise)


def planning_warnings(found: FoundMotions | None) -> tuple[str, ...]:
    """What is wrong with what was planned, in words."""
    if found is None or found.reached:
        return ()
    return (
        f"None of the {found.motions} planned motions reached the goal of start_states.planned: the best came "
        f"{found.nearest:.0%} of the way. Give it more seconds, or a goal that is nearer.",
    )


def _reached(motions: Iterable[Motion]) -> list[Motion]:
    return [motion for motion in motions if motion.reached]
