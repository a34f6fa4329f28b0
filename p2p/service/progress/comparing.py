"""Comparison of two iterations."""

from p2p.contracts.errors import InvalidInput
from p2p.contracts.judgment import Judgment
from p2p.contracts.metrics import CriterionPair, IterationComparison, IterationOutcome
from p2p.contracts.preference import Preference
from p2p.service.progress.differences import changes_between, source_diff
from p2p.service.progress.lineage import best_iteration
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
        raise InvalidInput(f"Iteration {lacking} of {session_id} has no reward yet: nothing to compare.")
    judgments = {it.number: judgment for it in (one, two) if (judgment := it.read_judgment()) is not None}
    changes = changes_between(old, new, one.read_reward_report(), two.read_reward_report(), new.reasoning)
    return IterationComparison(
        session_id=session_id,
        first=_outcome(one, judgments.get(first)),
        second=_outcome(two, judgments.get(second)),
        better=_better(judgments) if len(judgments) == 2 else None,
        criteria=_pairs(judgments.get(first), judgments.get(second)),
        changes=changes[:MAX_DIFFERENCES],
        reward_diff=source_diff(old.source, new.source, (f"iteration {first}", f"iteration {second}")),
        preferences=_preferences(ws, session_id, {first, second}),
    )


def _preferences(ws: Workspace, session_id: str, numbers: set[int]) -> tuple[Preference, ...]:
    """Recorded preferences between two iterations and their checkpoints."""
    found = ws.record(session_id).read_preferences()
    return tuple(one for one in found if {one.first.iteration, one.second.iteration} == numbers)


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
    )


def _better(judgments: dict[int, Judgment]) -> int | None:
    (_, one), (_, two) = judgments.items()
    same = (one.success_rate, one.intent_score) == (two.success_rate, two.intent_score)
    return None if same else best_iteration(judgments)


def _pairs(first: Judgment | None, second: Judgment | None) -> tuple[CriterionPair, ...]:
    one = {score.key: score for score in first.criteria} if first is not None else {}
    two = {score.key: score for score in second.criteria} if second is not None else {}
    pairs = []
    for key in dict.fromkeys([*one, *two]):
        named = one.get(key) or two[key]
        a = one.get(key)
        b = two.get(key)
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
