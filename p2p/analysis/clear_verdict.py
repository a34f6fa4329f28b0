"""Decide during a training whether its verdict is already clear.

A checkpoint passes clearly when all of this holds for its selection rollouts:

- every criterion was measured by a predicate: none is left to eyes, or to code that a model wrote;
- the lower end of the 95 % Wilson interval of their success rate reaches what the judge needs, which takes 16 rollouts
  at least, all of them successful, and 20 of 20 or 37 of 40 by default;
- the lower end of the 95 % interval of their mean score reaches the score that is needed.

Where it does not, and could if as many rollouts again all succeeded, these are run, on seeds of their own, and all of
them decide. By the binomial distribution, with 20 rollouts, a policy that succeeds in 80 % of all rollouts passes
clearly with a probability of 3.5 % (1.2 % by the first 20 alone), and one that succeeds in 95 % with 87 % (36 %).

A training may end at the second checkpoint in a row that does. Steps and measurements decide, never the clock. There is
no clear failure: what has not been learnt yet may still be.
"""

from p2p.analysis.intervals import mean_interval, wilson_interval
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


def may_pass_with_more(intent: Intent, scores: Scores) -> bool:
    """Whether as many rollouts again could make a pass clear, if all of those succeeded.

    Args:
        intent: What was asked.
        scores: Of a checkpoint's selection rollouts, which do not pass clearly.
    """
    if len(scores.criteria) < len(intent.criteria) or scores.success_rate is None:
        return False
    n = len(scores.rollouts)
    successes = sum(rollout.success for rollout in scores.rollouts)
    return wilson_interval(successes + n, 2 * n)[0] >= MET_SHARE_NEEDED
