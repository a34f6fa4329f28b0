"""A session's models, as its roles see them: counted, capped, written down, and never paid twice for one request."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cached_property

from p2p import registry
from p2p.contracts.budget import CallLine, CallRecord, ModelChoice
from p2p.contracts.errors import BudgetExceeded
from p2p.contracts.events import EventName
from p2p.contracts.inference import ModelName, ModelReply, ModelRequest, Provider, StopReason
from p2p.contracts.model_problems import ModelProblem
from p2p.contracts.usage import Price, Usage, cost
from p2p.inference.access import access_to
from p2p.inference.budget import Budget
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
        self.choice, self.ledger, self.events = choice, ledger, events
        self.heartbeat, self.patience = heartbeat, patience or Patience()
        self.budget = Budget(ledger, choice.caps, seconds_at_work)
        self._silence_s = silence_s

    def for_role(self, role: str, iteration: int | None = None, *, light: bool = False) -> "SessionModel":
        """The model as one role sees it.

        Args:
            role: Who asks, such as "reward_author".
            iteration: In which; None for the session as a whole.
            light: Whether the lighter model will do.
        """
        text = self.choice.light_model if light and self.choice.light_model else self.choice.model
        return SessionModel(self, ModelName.parse(text), role, iteration)

    def price(self, name: ModelName) -> Price | None:
        """What a model costs; None where that is not known."""
        given = self.choice.price if str(name) == self.choice.model else None
        return given or price_of(name)

    def open(self, name: ModelName) -> Provider:
        """A connection to a model, which whoever opens it closes.

        Raises:
            UnknownName: there is no such provider.
            MissingExtra: its library is not installed.
            AuthenticationFailed: it needs a key, and there is none.
        """
        made = registry.load("provider", registry.PROVIDERS, name.provider)
        provider: Provider = made(name.model, access_to(name.provider, self._silence_s))
        return provider


class SessionModel:
    """A session's model as one role sees it; a `LanguageModel`.

    Args:
        models: Of the session.
        name: Who answers.
        role: Who asks.
        iteration: In which; None for the session as a whole.
    """

    def __init__(self, models: SessionModels, name: ModelName, role: str, iteration: int | None) -> None:
        self._models, self._role, self._iteration = models, role, iteration
        self.name = name

    @cached_property
    def _price(self) -> Price | None:
        return self._models.price(self.name)

    def complete(self, request: ModelRequest) -> ModelReply:
        """One answer, whatever it is; the same request is answered with what is kept, and costs nothing.

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
                "no more. All that was done is saved. To go on, give p2p resume a larger --cap."
            )
        return reply

    def ask(self, request: ModelRequest) -> ModelReply:
        """One answer that can be used; an empty one is asked for once more.

        Raises:
            BudgetExceeded: it would pass a cap.
            ModelProblem: there is none: refused, truncated, empty, or no answer at all.
        """
        reply = self.complete(request)
        if reply.empty:
            reply = self.complete(request.model_copy(update={"sample": request.sample + 1}))
        return usable(reply)

    def forget(self, request: ModelRequest) -> None:
        """Ask afresh when the same is asked again, for instance by a session that goes on: the answer was of no use."""
        for sample in (request.sample, request.sample + 1):
            asked = self._with_effort(request.model_copy(update={"sample": sample}))
            self._models.ledger.forget(asked.digest(str(self.name)))

    def _with_effort(self, request: ModelRequest) -> ModelRequest:
        if request.effort is not None:
            return request
        return request.model_copy(update={"effort": self._models.choice.effort})

    def what_is_left(self) -> str:
        """What is left of the caps of which little is left, for the model to read; empty while there is plenty."""
        return self._models.budget.what_is_left()

    def _ask(self, provider: Provider, line: CallLine, request: ModelRequest) -> ModelReply:
        """Ask, and write down what came of it."""
        models, problems = self._models, list[ModelProblem]()
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
        """Keep the call, count it, and tell of it, in this order: a crash in between loses no cent and no answer."""
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
