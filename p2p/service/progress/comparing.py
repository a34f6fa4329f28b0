"""Comparison of two iterations, or of the best iterations of two sessions."""

from p2p.contracts.errors import InvalidInput
from p2p.contracts.judgment import Judgment
from p2p.contracts.metrics import (
    CriterionPair,
    IterationComparison,
    IterationOutcome,
    SessionComparison,
    SessionOutcome,
)
from p2p.contracts.remedies import Remedy
from p2p.service.progress.details import view_iteration
from p2p.service.progress.differences import changes_between, source_diff
from p2p.service.progress.hyperparameters import hyperparameter_pairs
from p2p.service.progress.lineage import best_iteration
from p2p.service.progress.session_view import view_session
from p2p.service.rounding import short
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord

MAX_DIFFERENCES = 12


def compare_iterations(ws: Workspace, session_id: str, first: int, second: int) -> IterationComparison:
    """Results of two iterations, and the changes of reward and configuration between them.

    Raises:
        UnknownName: there is no such session or iteration.
        InvalidInput: both are the same, or one of them has no reward yet.
    """
    if first == second:
        raise InvalidInput(f"Two different iterations can be compared, got {first} twice.")
    one = ws.iteration_begun(session_id, first)
    two = ws.iteration_begun(session_id, second)
    old = one.read_draft()
    new = two.read_draft()
    if old is None or new is None:
        lacking = first if old is None else second
        write = Remedy.WRITE_REWARD.of()
        raise InvalidInput(f"Iteration {lacking} of {session_id} has no reward to compare yet. Write it first: {write}")
    judgments = {it.number: judgment for it in (one, two) if (judgment := it.read_judgment()) is not None}
    outcomes = {(judgment.success_rate, judgment.intent_score) for judgment in judgments.values()}
    preferences = ws.record(session_id).read_preferences()
    changes = changes_between(old, new, one.read_reward_report(), two.read_reward_report(), new.reasoning)
    return IterationComparison(
        session_id=session_id,
        first=_outcome(one, judgments.get(first)),
        second=_outcome(two, judgments.get(second)),
        better=best_iteration(judgments) if len(outcomes) == 2 else None,
        criteria=_pairs(judgments.get(first), judgments.get(second)),
        changes=changes[:MAX_DIFFERENCES],
        reward_diff=source_diff(old.source, new.source, (f"iteration {first}", f"iteration {second}")),
        preferences=tuple(one for one in preferences if {one.first.iteration, one.second.iteration} == {first, second}),
    )


def compare_sessions(ws: Workspace, first: str, second: str) -> SessionComparison:
    """What two sessions reached in their best iterations, and how these were trained.

    Raises:
        UnknownName: there is no such session.
        InvalidInput: both are the same.
    """
    if first == second:
        raise InvalidInput(f"Two different sessions can be compared, got {first} twice.")
    names = (first, second)
    views = [view_session(ws, name) for name in names]
    best = [
        view_iteration(ws, name, view.best_iteration) if view.best_iteration is not None else None
        for name, view in zip(names, views, strict=True)
    ]
    records = [
        ws.record(name).iteration(found.iteration) if found else None for name, found in zip(names, best, strict=True)
    ]
    one, two = judgments = [found.judgment if found is not None else None for found in best]
    comparable = one is not None and two is not None and _asked(one) == _asked(two)
    reached = [(found.success_rate or 0.0, found.intent_score or 0.0) if found else (0.0, 0.0) for found in judgments]
    drafts = [record.read_draft() if record is not None else None for record in records]
    sources = [draft.source if draft is not None else "" for draft in drafts]
    configs = [found.config if found is not None else None for found in best]
    outcomes = [
        SessionOutcome(
            session_id=view.session.session_id,
            prompt=view.session.prompt,
            env_id=view.session.env_id,
            status=view.status,
            best=_outcome(record, judgment) if record is not None else None,
        )
        for view, record, judgment in zip(views, records, judgments, strict=True)
    ]
    return SessionComparison(
        first=outcomes[0],
        second=outcomes[1],
        comparable=comparable,
        better=names[reached.index(max(reached))] if comparable and reached[0] != reached[1] else None,
        criteria=_pairs(one, two),
        hyperparameters=hyperparameter_pairs(configs[0], configs[1]),
        reward_diff=source_diff(sources[0], sources[1], names),
    )


def neighbour(ws: Workspace, session_id: str, number: int) -> int:
    """Default iteration to compare with: the one before, else the one after.

    Raises:
        InvalidInput: there is no other.
    """
    known = [iteration.number for iteration in ws.record(session_id).iteration_records()]
    earlier = [n for n in known if n < number]
    later = [n for n in known if n > number]
    if not earlier and not later:
        raise InvalidInput(f"{session_id} has one iteration only: nothing to compare it with yet.")
    return earlier[-1] if earlier else later[0]


def _asked(judgment: Judgment) -> set[tuple[object, ...]]:
    """What was asked of the rollouts."""
    return {(one.key, one.comparison, one.threshold, one.upper, one.required) for one in judgment.criteria}


def _pairs(first: Judgment | None, second: Judgment | None) -> tuple[CriterionPair, ...]:
    """The criteria of two judgments, those that both have once."""
    one, two = ({score.key: score for score in found.criteria} if found else {} for found in (first, second))
    pairs = []
    for key in dict.fromkeys([*one, *two]):
        a, b = one.get(key), two.get(key)
        named = a or two[key]
        pairs.append(
            CriterionPair(
                key=key,
                title=named.title,
                unit=named.unit,
                values=(short(a.value) if a else None, short(b.value) if b else None),
                met_shares=(a.met_share if a else None, b.met_share if b else None),
            )
        )
    return tuple(pairs)


def _outcome(iteration: IterationRecord, judgment: Judgment | None) -> IterationOutcome:
    aggregation = iteration.read_aggregation()
    run = iteration.path / aggregation.best_run_id if aggregation is not None else None
    summary = IterationRecord(run).read_summary() if run is not None else None
    return IterationOutcome(
        iteration=iteration.number,
        verdict=judgment.verdict if judgment else None,
        score=short(judgment.intent_score) if judgment else None,
        success_rate=short(judgment.success_rate) if judgment else None,
        success_low=short(judgment.success_low) if judgment else None,
        success_high=short(judgment.success_high) if judgment else None,
        final_return=short(summary.final_episodic_return) if summary else None,
        best_run_id=aggregation.best_run_id if aggregation else None,
        best_checkpoint=aggregation.best_checkpoint if aggregation else None,
        total_timesteps=summary.total_timesteps if summary else None,
        inherited_steps=summary.inherited_steps if summary else 0,
    )
