"""Text that accompanies the pictures for a judge."""

from collections.abc import Sequence

from p2p.contracts.intent import Criterion
from p2p.contracts.training import Evaluation
from p2p.service.wording import as_data, fill

SHOWN = "median"


def rubric_for(prompt: str, unjudged: Sequence[Criterion], evaluation: Evaluation) -> str:
    """Rubric for judging the rollouts by eyes."""
    return fill(
        "rubric",
        prompt=as_data(prompt or "the reward", "intent"),
        n_rollouts=len(evaluation.rollouts),
        shown=f"the {SHOWN} one",
        unjudged="".join(f"\n{c.key}: {as_data(f'{c.title}. {c.description}', 'criterion')}" for c in unjudged)
        or " none this time.",
    )


def duration_s(evaluation: Evaluation) -> float:
    """Length of the displayed rollout [s]."""
    length = next((rollout.length for rollout in evaluation.rollouts if rollout.label == SHOWN), 0)
    return round(length * evaluation.dt, 3)
