"""Language models of a session: choice, caps, and costs."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from pydantic import ValidationError

from p2p import registry
from p2p.contracts.errors import InvalidInput
from p2p.contracts.inference import CallLine, Cost, ModelChoice, ModelName, SessionCosts, TrainingCost, Usage
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import Event, EventName, NewSession, Session
from p2p.contracts.spending import Caps, Price
from p2p.inference.access import access_to, variables_of
from p2p.inference.budget import require_price
from p2p.inference.budget import require_steps as keep_within
from p2p.inference.client import SessionModels
from p2p.inference.prices import price_of, price_table
from p2p.inference.retry import Patience
from p2p.service.workspace import Workspace
from p2p.store.calls import CallLedger
from p2p.store.clock import now, seconds_between
from p2p.store.iterations import CandidateRecords, IterationRecord
from p2p.store.sessions import SessionRecord

LIMITS = ("P2P_MODEL_PATIENCE_S", "P2P_MODEL_SILENCE_S")


def models_of(ws: Workspace, session_id: str) -> SessionModels:
    """Models of a session with its caps and ledger.

    Raises:
        InvalidInput: no model works for it.
    """
    return session_models(ws.record(session_id), ws.settings.model_patience_s, ws.settings.model_silence_s)


def costs(ws: Workspace, session_id: str) -> SessionCosts:
    """Tokens, dollars and seconds of a session by role and iteration."""
    record = ws.record(session_id)
    lines = CallLedger(record.path).lines()
    groups: dict[tuple[str, int | None], list[CallLine]] = {}
    for line in lines:
        groups.setdefault((line.role, line.iteration), []).append(line)
    return SessionCosts(
        session_id=session_id,
        caps=record.read_session().caps,
        models=tuple(dict.fromkeys(line.model for line in lines)),
        rows=tuple(_sum(role, iteration, group) for (role, iteration), group in groups.items()),
        trainings=tuple(_trainings(record)),
        total=_sum("total", None, lines),
        open_calls=sum(line.state == "begun" for line in lines),
        seconds_at_work=seconds_at_work(record.events.read()),
    )


def set_caps(ws: Workspace, session_id: str, **changes: Any) -> Session:
    """Change caps of a session, which can then continue; None removes a cap.

    Raises:
        InvalidInput: there is no such cap, or a value cannot be one.
    """
    record = ws.record(session_id)
    with record.exclusive():
        session = record.read_session()
        try:
            caps = Caps.model_validate(session.caps.model_dump() | changes)
        except ValidationError as error:
            raise InvalidInput(f"The caps cannot be changed: {error.errors()[0]['msg']}.") from error
        session = session.model_copy(update={"caps": caps})
        record.save_session(session)
    return session


def require_planned_steps(ws: Workspace, session_id: str, planned: int) -> None:
    """Raise if a training of `planned` environment steps, over all runs, exceeds the cap.

    Raises:
        BudgetExceeded: it would pass it.
    """
    record = ws.record(session_id)
    keep_within(record.read_session().caps, steps_done(record), planned)


def price_of_model(model: str) -> Price | None:
    """Price of `provider:model`; None if the price table lacks it."""
    return price_of(ModelName.parse(model))


def priced_models(provider: str) -> tuple[str, ...]:
    """Models of a provider in the price table."""
    prices = price_table().providers.get(provider)
    return tuple(sorted(prices.models)) if prices else ()


def price_date(provider: str) -> str:
    """Date of a provider's prices, ISO 8601; empty for an unknown provider."""
    prices = price_table().providers.get(provider)
    return prices.date if prices else ""


def session_models(
    record: SessionRecord, patience_s: float = 1_800.0, silence_s: float = 120.0, model: str = ""
) -> SessionModels:
    """Models of a session, or another model within its caps.

    Args:
        record: Its directory.
        patience_s: How long one answer is waited for [s].
        silence_s: A connection that says nothing for so long is given up [s].
        model: `provider:model` to ask instead of the session's own, within its caps; empty takes that.

    Raises:
        InvalidInput: no model works for it.
    """
    session = record.read_session()
    if not model:
        choice = choice_of(session)
    else:
        own = session.model or (session.author if ":" in session.author else "") or model
        price = session.price if model == own else None  # the price given is that of the session's own model
        choice = ModelChoice(model=model, effort=session.effort, price=price, caps=session.caps)
    return SessionModels(
        choice,
        CallLedger(record.path),
        record.events,
        seconds_at_work=lambda: seconds_at_work(record.events.read(), now()),
        heartbeat=record.touch_heartbeat,
        patience=Patience(total_s=patience_s),
        silence_s=silence_s,
    )


def require_models(session: NewSession) -> None:
    """Raise if a model named by the session cannot be used; sends nothing.

    Raises:
        InvalidInput: a name is no `provider:model`, or nothing would cap the cost.
        UnknownName: there is no such provider.
        AuthenticationFailed: its key is not set.
        MissingExtra: its library is not installed.
    """
    for name in _names(session):
        registry.load("provider", registry.PROVIDERS, name.provider)
        given = session.price if str(name) == choice_of(session).model else None
        require_price(name, given or price_of(name), session.caps)
        access_to(name.provider)


def _names(session: NewSession) -> tuple[ModelName, ...]:
    author = session.author if ":" in session.author else ""
    given = (session.model or author, session.light_model, session.judge_model, session.judge_author)
    texts = dict.fromkeys(text for text in given if text)
    return tuple(ModelName.parse(text) for text in texts)


def choice_of(session: NewSession) -> ModelChoice:
    """Choice of models for a session.

    Raises:
        InvalidInput: none does.
    """
    model = (
        session.model
        or (session.author if ":" in session.author else "")
        or session.judge_model
        or session.judge_author
    )
    if not model:
        raise InvalidInput(f"No model works for this session. Start one with {Remedy.CHOOSE_AUTHOR.of()}.")
    return ModelChoice(
        model=model,
        light_model=session.light_model,
        effort=session.effort,
        price=session.price,
        caps=session.caps,
    )


def model_variables(session: NewSession) -> tuple[str, ...]:
    """Environment variables a process needs to call a session's models."""
    needed = [variable for name in _names(session) for variable in variables_of(name.provider)]
    return (*dict.fromkeys(needed), *LIMITS) if needed else ()


def seconds_at_work(events: Sequence[Event], until: str | None = None) -> float:
    """Time from the first event to the last, or to `until` (ISO 8601), without breaks before resumes [s]."""
    worked = sum(
        max(seconds_between(before.timestamp, after.timestamp), 0.0)
        for before, after in pairwise(events)
        if after.event is not EventName.SESSION_RESUMED
    )
    if until is not None and events:
        worked += max(seconds_between(events[-1].timestamp, until), 0.0)
    return round(worked, 3)


def require_steps(record: SessionRecord, runs: Iterable[IterationRecord]) -> None:
    """Raise if the trainings of `runs` exceed the session's cap on environment steps.

    Raises:
        BudgetExceeded: they would pass it.
    """
    configs = [config for run in runs if (config := run.read_config()) is not None]
    keep_within(record.read_session().caps, steps_done(record), sum(config.total_timesteps for config in configs))


def steps_done(record: SessionRecord) -> int:
    """Environment steps of all trainings of a session, with those that planned their starts."""
    return sum(cost.environment_steps for cost in _trainings(record))


def _trainings(record: SessionRecord) -> Iterable[TrainingCost]:
    for iteration in record.iteration_records():
        yield from _training(iteration.number, CandidateRecords(iteration).runs(), short=True)
        yield from _training(iteration.number, iteration.runs())


def _training(number: int, runs: Iterable[IterationRecord], *, short: bool = False) -> Iterable[TrainingCost]:
    summaries = [summary for run in runs if (summary := run.read_summary()) is not None]
    if summaries:
        yield TrainingCost(
            iteration=number,
            candidates=len(summaries) if short else 0,
            environment_steps=sum(summary.total_timesteps + summary.planned_steps for summary in summaries),
            seconds=round(sum(summary.training_time_s for summary in summaries), 1),
        )


def _sum(role: str, iteration: int | None, lines: Sequence[CallLine]) -> Cost:
    dollars = [line.dollars for line in lines]
    return Cost(
        role=role,
        iteration=iteration,
        calls=len(lines),
        failed=sum(line.state == "failed" for line in lines),
        usage=sum((line.usage for line in lines), Usage()),
        dollars=None if None in dollars else round(sum(value for value in dollars if value is not None), 6),
        seconds=round(sum(line.seconds for line in lines), 3),
    )
