"""Client for a session's models, by role: counted, capped, recorded, and replayed for equal requests."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cached_property

from p2p import registry
from p2p.contracts.errors import BudgetExceeded
from p2p.contracts.inference import (
    CallLine,
    CallRecord,
    ModelChoice,
    ModelName,
    ModelProblem,
    ModelReply,
    ModelRequest,
    Provider,
    StopReason,
    Usage,
    cost,
)
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import EventName
from p2p.contracts.spending import Price
from p2p.inference.access import access_to
from p2p.inference.budget import Budget
from p2p.inference.pieces import listening
from p2p.inference.prices import price_of
from p2p.inference.replies import usable
from p2p.inference.retry import Patience, ask_patiently, beating
from p2p.redaction import redact_text
from p2p.store.calls import CallLedger
from p2p.store.clock import now
from p2p.store.events import EventLog


class SessionModels:
    """The models of one session.

    Args:
        choice: Which, and within which caps.
        ledger: What they were asked and what it cost.
        events: Hears of every call.
        seconds_at_work: Of the session so far [s].
        heartbeat: Called now and then while a model is waited for.
        patience: How long one answer is waited for.
        silence_s: A connection that says nothing for so long is given up [s].
    """

    def __init__(
        self,
        choice: ModelChoice,
        ledger: CallLedger,
        events: EventLog,
        seconds_at_work: Callable[[], float] = lambda: 0.0,
        heartbeat: Callable[[], None] = lambda: None,
        patience: Patience | None = None,
        silence_s: float = 120.0,
    ) -> None:
        self.choice = choice
        self.ledger = ledger
        self.events = events
        self.heartbeat = heartbeat
        self.patience = patience or Patience()
        self.budget = Budget(ledger, choice.caps, seconds_at_work)
        self._silence_s = silence_s

    def for_role(self, role: str, iteration: int | None = None, *, light: bool = False) -> "SessionModel":
        """Model for one role.

        Args:
            role: Who asks, such as "reward_author".
            iteration: In which; None for the session as a whole.
            light: Whether the lighter model will do.
        """
        text = self.choice.light_model if light and self.choice.light_model else self.choice.model
        return SessionModel(self, ModelName.parse(text), role, iteration)

    def price(self, name: ModelName) -> Price | None:
        """Price of a model; None if unknown."""
        given = self.choice.price if str(name) == self.choice.model else None
        return given or price_of(name)

    def open(self, name: ModelName) -> Provider:
        """A connection to a model; `open_provider` says what it raises."""
        return open_provider(name, self._silence_s)


def open_provider(name: ModelName, silence_s: float = 120.0) -> Provider:
    """Connect to a model; the caller closes the connection.

    Raises:
        UnknownName: there is no such provider.
        MissingExtra: its library is not installed.
        AuthenticationFailed: it needs a key, and there is none.
    """
    made = registry.load("provider", registry.PROVIDERS, name.provider)
    provider: Provider = made(name.model, access_to(name.provider, silence_s))
    return provider


class PatientModel:
    """Model outside a session's ledger: retried after transient errors; the caller counts and caps.

    Args:
        name: Who answers.
        patience: How long one answer is waited for.
        silence_s: A connection that says nothing for so long is given up [s].
        problem: Called with each error, also the last.
        piece: Called with each piece of text as it comes.
    """

    def __init__(
        self,
        name: ModelName,
        patience: Patience,
        silence_s: float,
        problem: Callable[[ModelProblem], None],
        piece: Callable[[str], None],
    ) -> None:
        self.name = name
        self._patience = patience
        self._problem = problem
        self._piece = piece
        self._provider = open_provider(name, silence_s)

    def complete(self, request: ModelRequest, within_s: float) -> ModelReply:
        """Ask for one answer within `within_s` seconds.

        Raises:
            ModelProblem: there is none; its subclass says why.
        """
        total_s = max(min(self._patience.total_s, within_s), 0.01)
        patience = self._patience.model_copy(update={"total_s": total_s})
        with listening(self._piece):
            return ask_patiently(lambda: self._provider.complete(request), patience, self._problem)

    def close(self) -> None:
        """Close the connection."""
        self._provider.close()


class SessionModel:
    """Model of a session for one role; a `LanguageModel`.

    Args:
        models: Of the session.
        name: Who answers.
        role: Who asks.
        iteration: In which; None for the session as a whole.
    """

    def __init__(self, models: SessionModels, name: ModelName, role: str, iteration: int | None) -> None:
        self._models = models
        self._role = role
        self._iteration = iteration
        self.name = name

    @cached_property
    def _price(self) -> Price | None:
        return self._models.price(self.name)

    def complete(self, request: ModelRequest) -> ModelReply:
        """Ask for one answer; an equal request is answered from the ledger at no cost.

        Raises:
            BudgetExceeded: it might pass a cap, and was not made; or a cap cut it short.
            ModelProblem: there is no answer; its subclass says why.
        """
        request = self._with_effort(request)
        digest = request.digest(str(self.name))
        kept = self._models.ledger.answered(digest)
        if kept is not None and kept.reply is not None:
            self._tell(kept.line, reused=True)
            return kept.reply
        with closing(self._models.open(self.name)) as provider:
            line = self._models.budget.begin(self._role, self._iteration, self.name, self._price, request)
            reply = self._ask(provider, line, request)
        if reply.stop is StopReason.MAX_TOKENS and line.usage.output < request.max_tokens:
            raise BudgetExceeded(
                f"The answer of {self.name} was cut off after {line.usage.output:,} tokens: the session's caps leave "
                f"no more. All that was done is saved. To go on: {Remedy.RAISE_CAP.of()}"
            )
        return reply

    def ask(self, request: ModelRequest) -> ModelReply:
        """Ask for a usable answer; an empty one is asked for once more.

        Raises:
            BudgetExceeded: it would pass a cap.
            ModelProblem: there is none: refused, truncated, empty, or no answer at all.
        """
        reply = self.complete(request)
        if reply.empty:
            reply = self.complete(request.model_copy(update={"sample": request.sample + 1}))
        return usable(reply)

    def forget(self, request: ModelRequest) -> None:
        """Do not reuse the answer to this request: it was of no use."""
        for sample in (request.sample, request.sample + 1):
            asked = self._with_effort(request.model_copy(update={"sample": sample}))
            self._models.ledger.forget(asked.digest(str(self.name)))

    def _with_effort(self, request: ModelRequest) -> ModelRequest:
        if request.effort is not None:
            return request
        return request.model_copy(update={"effort": self._models.choice.effort})

    def what_is_left(self) -> str:
        """Tell the model which caps are nearly reached; empty while there is plenty."""
        return self._models.budget.what_is_left()

    def _ask(self, provider: Provider, line: CallLine, request: ModelRequest) -> ModelReply:
        """Ask and record the outcome."""
        models = self._models
        problems = list[ModelProblem]()
        sent = request.model_copy(update={"max_tokens": line.usage.output})
        total_s = max(min(models.patience.total_s, models.budget.seconds_left()), 1.0)
        patience = models.patience.model_copy(update={"total_s": total_s})
        started = time.monotonic()
        try:
            with beating(models.heartbeat):
                reply = ask_patiently(lambda: provider.complete(sent), patience, problems.append)
        except ModelProblem as problem:
            self._end(line, request, None, problems, time.monotonic() - started, str(problem))
            raise
        self._end(line, request, reply, problems, time.monotonic() - started)
        return reply

    def _end(
        self,
        line: CallLine,
        request: ModelRequest,
        reply: ModelReply | None,
        problems: Sequence[ModelProblem],
        seconds: float,
        problem: str = "",
    ) -> None:
        """Save the call, count it, emit its event; in this order a crash loses neither money nor answer."""
        usage = sum((each.usage for each in problems), reply.usage if reply else Usage())
        ended = line.model_copy(
            update={
                "state": "failed" if reply is None else "ended",
                "at": now(),
                "usage": usage,
                "dollars": None if self._price is None else cost(usage, self._price),
                "seconds": round(seconds, 3),
                "reusable": reply is not None and reply.usable,
                "problem": redact_text(problem),
            }
        )
        retries = tuple(str(each) for each in (problems if reply else problems[:-1]))
        self._models.ledger.write(CallRecord(line=ended, request=request, reply=reply, retries=retries))
        self._models.ledger.append(ended)
        self._tell(ended)

    def _tell(self, line: CallLine, *, reused: bool = False) -> None:
        self._models.events.emit_timed(
            EventName.LLM_CALL,
            self._iteration,
            0.0 if reused else line.seconds,
            number=line.number,
            role=self._role,
            provider=self.name.provider,
            model=self.name.model,
            prompt_hash=line.prompt_hash,
            tokens=(Usage() if reused else line.usage).model_dump(),
            dollars=0.0 if reused else line.dollars,
            reused=reused,
            problem=line.problem,
        )
