"""Gates between the stages of a suite: decided by outcomes alone, as soon as nothing can change them."""

import math
from collections.abc import Sequence

from p2p.contracts.suite import Gate, Outcome

SLACK = 1e-9
"""0.7 of 10 sessions are 7, whatever 0.7 * 10 is in binary."""


def decide(outcomes: Sequence[Outcome], needed: float) -> Gate:
    """What is known of a gate.

    Args:
        outcomes: Of all sessions of its stage. One that ended in any other way than by passing has not passed.
        needed: Share of them that must pass, in [0, 1].

    Returns:
        `passed` once enough have passed, `failed` once those left cannot make it enough, `open` before.
    """
    enough = math.ceil(needed * len(outcomes) - SLACK)
    passed = sum(outcome is Outcome.PASSED for outcome in outcomes)
    left = sum(outcome is Outcome.OPEN for outcome in outcomes)
    if passed >= enough:
        return Gate.PASSED
    return Gate.OPEN if passed + left >= enough else Gate.FAILED
