"""Caps on turns, tokens, dollars, time and environment steps, and what has been spent of them."""

import time
from collections.abc import Callable

from p2p.contracts.agent import AgentEnding, AgentLimits, Spending
from p2p.contracts.inference import Usage, cost
from p2p.contracts.spending import Price
from p2p_mcp.agent.ended import Ended

MAX_ANSWER = 32_000
"""Tokens of one answer at most, thinking included."""
MIN_ANSWER = 1_000
"""With fewer tokens left than this an answer would be cut in the middle, so none is asked for."""


class AgentBudget:
    """Watches what an agent spends.

    Args:
        limits: the caps.
        price: of the model; None where it is not known, and dollars are not counted.
        spent: what earlier runs spent.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        limits: AgentLimits,
        price: Price | None,
        spent: Spending | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits = limits
        self.price = price
        self._spent = spent or Spending()
        if price is None:
            self._spent = self._spent.model_copy(update={"dollars": None})
        self._clock = clock
        self._started = clock()

    @property
    def spending(self) -> Spending:
        """What is spent up to now."""
        seconds = self._spent.seconds + self._clock() - self._started
        return self._spent.model_copy(update={"seconds": round(seconds, 1)})

    @property
    def seconds_left(self) -> float:
        """Time left [s]; not above zero when it is used up."""
        return 60 * self.limits.minutes - self._spent.seconds - (self._clock() - self._started)

    @property
    def steps_left(self) -> int:
        """Environment steps left."""
        return self.limits.environment_steps - self._spent.environment_steps

    def open_turn(self, tokens_to_read: int) -> int:
        """Ask for one more answer; returns how many tokens it may have.

        Args:
            tokens_to_read: estimate of what the model reads for it.

        Raises:
            Ended: a cap is reached, or would be by this answer.
        """
        self.require_time()
        spent = self._spent
        limits = self.limits
        if spent.turns >= limits.turns:
            raise _used_up(f"{limits.turns} turns", "--max-turns")
        if self.steps_left <= 0:
            raise _used_up(f"{limits.environment_steps:,} environment steps", "--max-steps")
        answer = min(MAX_ANSWER, limits.tokens - spent.tokens - tokens_to_read)
        if answer < MIN_ANSWER:
            raise _used_up(f"{limits.tokens:,} tokens ({spent.tokens:,} used)", "--max-tokens")
        if self.price is not None:
            left = limits.dollars - (spent.dollars or 0.0)
            answer = int(min(answer, self.price.affordable(left, tokens_to_read)))
        if answer < MIN_ANSWER:
            raise _used_up(f"${limits.dollars:g} (${spent.dollars or 0:.2f} spent)", "--max-cost")
        self._update(turns=spent.turns + 1)
        return answer

    def charge(self, usage: Usage) -> None:
        """Count an answer, or the part of one that was broken off."""
        dollars = None if self.price is None else (self._spent.dollars or 0.0) + cost(usage, self.price)
        self._update(tokens=self._spent.tokens + usage.total, dollars=dollars)

    def count_steps(self, job_id: str, step: int) -> None:
        """Count the environment steps of a training, which has come to `step`."""
        self._update(job_steps=self._spent.job_steps | {job_id: step})

    def require_time(self) -> None:
        """Do nothing while there is time left.

        Raises:
            Ended: there is none.
        """
        if self.seconds_left <= 0:
            raise _used_up(f"{self.limits.minutes:g} minutes", "--max-minutes")

    def _update(self, **values: object) -> None:
        self._spent = self._spent.model_copy(update=values)


def _used_up(what: str, option: str) -> Ended:
    return Ended(AgentEnding.BUDGET, f"The cap of {what} is reached. To go on, raise {option}.")
