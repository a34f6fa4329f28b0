"""Decide during a training whether its verdict is already clear.

A checkpoint passes clearly when all of this holds for its selection rollouts:

- every criterion was measured by a predicate: none is left to eyes, or to code that a model wrote;
- the lower end of the 95 % Wilson interval of their success rate reaches what the judge needs, which takes 16 rollouts
  at least, all of them successful, and 20 of 20 by default;
- the lower end of the 95 % interval of their mean score reaches the score that is needed.

A training may end at the second checkpoint in a row that does. Steps and measurements decide, never the clock. There is
no clear failure: what has not been learnt yet may still be.
"""

from p2p.analysis.intervals import mean_interval
from p2p.analysis.scoring import Scores
from p2p.analysis.windows import SLACK
from p2p.contracts.intent import Intent
from p2p.contracts.judgment import MET_SHARE_NEEDED

IN_A_ROW = 2
"""Checkpoints that must pass clearly, one after the other."""


def clearly_passes(intent: Intent, scores: Scores, needed: float) -> bool:
    """Whether the rollouts of a checkpoint pass beyond doubt.

    Args:
        intent: What was asked.
        scores: Of its selection rollouts.
        needed: Score that the session asks for, in (0, 1].
    """
    if len(scores.criteria) < len(intent.criteria) or scores.low is None:
        return False
    interval = mean_interval([rollout.intent_score for rollout in scores.rollouts])
    return scores.low >= MET_SHARE_NEEDED and interval is not None and interval[0] >= needed - SLACK
