"""Caps on dollars, tokens, calls and time: a call that could exceed one is not made."""

import hashlib
import math
from collections.abc import Callable, Sequence

from p2p.contracts.errors import BudgetExceeded, InvalidInput
from p2p.contracts.inference import CallLine, ModelName, ModelRequest, Usage, cost
from p2p.contracts.remedies import Remedy
from p2p.contracts.spending import Caps, Price
from p2p.inference.estimate import estimate_tokens
from p2p.store.calls import CallLedger
from p2p.store.clock import now

MIN_ANSWER = 1_000
"""With fewer tokens left than this an answer would be cut in the middle, so none is asked for."""
LITTLE = 0.75
"""Share of a cap from which on a model is told what is left."""
UNLIMITED = 10**12


def require_price(name: ModelName, price: Price | None, caps: Caps) -> None:
    """Raise if neither a known price nor a cap on tokens limits the cost.

    Raises:
        InvalidInput: the price is not known, and the tokens are not capped.
    """
    if price is None and caps.tokens is None:
        raise InvalidInput(
            f"The price of {name} is not known. Give it in dollars per million tokens "
            f"({Remedy.SAY_PRICE.of()}), or cap the tokens ({Remedy.SET_CAP.of(cap='tokens')})."
        )


class Budget:
    """Decide whether a call may begin, and record it.

    Args:
        ledger: Of the session.
        caps: Of the session.
        seconds_at_work: Time at work so far [s].
    """

    def __init__(self, ledger: CallLedger, caps: Caps, seconds_at_work: Callable[[], float]) -> None:
        self._ledger = ledger
        self._caps = caps
        self._seconds_at_work = seconds_at_work

    def begin(
        self, role: str, iteration: int | None, name: ModelName, price: Price | None, request: ModelRequest
    ) -> CallLine:
        """Record a call with the most it can use (a reservation).

        Raises:
            BudgetExceeded: it might pass a cap; nothing is written.
        """
        require_price(name, price, self._caps)
        self.require_time()
        reading = estimate_tokens(request)
        with self._ledger.exclusive():
            lines = self._ledger.lines()
            answer = self._allowed(lines, price, request, reading)
            most = Usage(input=reading, output=answer)
            line = CallLine(
                number=lines[-1].number + 1 if lines else 1,
                state="begun",
                at=now(),
                role=role,
                iteration=iteration,
                model=str(name),
                digest=request.digest(str(name)),
                prompt_hash=hashlib.sha256(request.system.encode()).hexdigest()[:16],
                usage=most,
                dollars=None if price is None else cost(most, price.model_copy(update={"input": price.dearest_input})),
            )
            self._ledger.append(line)
        return line

    def require_time(self) -> None:
        """Raise if no time is left.

        Raises:
            BudgetExceeded: there is none.
        """
        if self.seconds_left() <= 0:
            raise _used_up(f"{self._caps.minutes:g} minutes at work", "", "minutes")

    def seconds_left(self) -> float:
        """Time left [s]; infinite without a cap."""
        if self._caps.minutes is None:
            return math.inf
        return 60 * self._caps.minutes - self._seconds_at_work()

    def what_is_left(self) -> str:
        """Tell a model which caps are nearly reached; empty while there is plenty."""
        lines = self._ledger.lines()
        caps = self._caps
        tokens, dollars = spent(lines)
        used = (
            ("calls", len(lines), caps.calls),
            ("tokens", tokens, caps.tokens),
            ("dollars", dollars, caps.dollars),
            ("minutes", self._seconds_at_work() / 60 if caps.minutes else 0, caps.minutes),
        )
        scarce = [
            f"{max(cap - value, 0):,.2f} {name}" if name == "dollars" else f"{max(cap - value, 0):,.0f} {name}"
            for name, value, cap in used
            if cap is not None and value >= LITTLE * cap
        ]
        return f"Left of the session's caps: {', '.join(scarce)}." if scarce else ""

    def _allowed(self, lines: Sequence[CallLine], price: Price | None, request: ModelRequest, reading: int) -> int:
        """Maximum tokens of the answer."""
        caps = self._caps
        tokens, dollars = spent(lines)
        if caps.calls is not None and len(lines) >= caps.calls:
            raise _used_up(f"{caps.calls:,} calls", "", "calls")
        least = min(MIN_ANSWER, request.max_tokens)
        answer = min(request.max_tokens, UNLIMITED if caps.tokens is None else caps.tokens - tokens - reading)
        if answer < least:
            raise _used_up(f"{caps.tokens:,} tokens", f"{tokens:,} used, {reading:,} to read", "tokens")
        if price is not None and caps.dollars is not None:
            affordable = price.affordable(caps.dollars - dollars, reading)
            if affordable < least:
                raise _used_up(f"${caps.dollars:g}", f"${dollars:.2f} spent", "dollars")
            answer = int(min(answer, affordable))
        return answer


def require_steps(caps: Caps, done: int, planned: int) -> None:
    """Raise if `planned` more environment steps would exceed the cap.

    Raises:
        BudgetExceeded: they would pass it.
    """
    cap = caps.environment_steps
    if cap is not None and done + planned > cap:
        raise _used_up(f"{cap:,} environment steps", f"{done:,} done, {planned:,} planned", "environment_steps")


def spent(lines: Sequence[CallLine]) -> tuple[int, float]:
    """Tokens and dollars of all calls; calls without a known price count no dollars."""
    return sum(line.usage.total for line in lines), sum(line.dollars or 0.0 for line in lines)


def _used_up(what: str, details: str, name: str) -> BudgetExceeded:
    told = f" ({details})" if details else ""
    return BudgetExceeded(
        f"The cap of {what} is reached{told}. All that was done is saved. To go on: {Remedy.RAISE_CAP.of(cap=name)}"
    )
