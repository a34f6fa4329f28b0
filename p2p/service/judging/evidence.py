"""What whoever judges with eyes is told beside the pictures."""

from collections.abc import Sequence

from p2p.contracts.intent import Criterion
from p2p.contracts.rollout import Evaluation
from p2p.service.wording import fill

SHOWN = "median"


def rubric_for(prompt: str, unjudged: Sequence[Criterion], evaluation: Evaluation) -> str:
    """How the rollouts are to be judged by eyes."""
    return fill(
        "rubric",
        prompt=prompt or "the reward",
        n_rollouts=len(evaluation.rollouts),
        shown=f"the {SHOWN} one",
        unjudged=", ".join(f"{c.key} ({c.title}: {c.description})" for c in unjudged) or "none this time",
    )


def duration_s(evaluation: Evaluation) -> float:
    """Length of the rollout that is shown [s]."""
    length = next((rollout.length for rollout in evaluation.rollouts if rollout.label == SHOWN), 0)
    return round(length * evaluation.dt, 3)
