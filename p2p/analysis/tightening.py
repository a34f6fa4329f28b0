"""Changes of criteria that only make them stricter: whatever passes afterwards would have passed before."""

from collections.abc import Sequence

from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Comparison, Criterion, Predicate


def tightened(present: Sequence[Criterion], given: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """Criteria with some made stricter, and others added.

    Allowed are a stricter threshold, an optional criterion that becomes required, other words, and new criteria, which
    are required. Statistic, feature, window, margin and weight of one that is there stay.

    Args:
        present: As they are.
        given: Those that change, by key, and new ones.

    Returns:
        All of them: in their order, then the new ones.

    Raises:
        InvalidInput: nothing gets stricter, or something would get looser.
    """
    known = {criterion.key: criterion for criterion in present}
    for criterion in given:
        before = known.get(criterion.key)
        if before is not None:
            _check_stricter(before, criterion)
        elif not criterion.required:
            raise InvalidInput(f"The new criterion {criterion.key!r} must be required: otherwise nothing is stricter.")
    changed = {criterion.key: criterion for criterion in given}
    made = (*(changed.get(c.key, c) for c in present), *(c for c in given if c.key not in known))
    if [_substance(criterion) for criterion in made] == [_substance(criterion) for criterion in present]:
        raise InvalidInput("These criteria are no stricter than before. Raise a threshold, or add a criterion.")
    return made


def _check_stricter(before: Criterion, after: Criterion) -> None:
    what = f"Criterion {before.key!r} can only be made stricter"
    if before.required and not after.required:
        raise InvalidInput(f"{what}: it stays required.")
    if (before.weight, before.after) != (after.weight, after.after):
        raise InvalidInput(f"{what}: its `weight` and `after` stay as they are.")
    if before.predicate is None or after.predicate is None:
        if before.predicate is not after.predicate:
            raise InvalidInput(
                f"{what}: its judge cannot change. Add a new criterion for anything else to be measured."
            )
        return
    if _shape(before.predicate) != _shape(after.predicate):
        raise InvalidInput(
            f"{what}: of its predicate only `threshold` and `upper` may change. Add a new criterion for anything else."
        )
    if not _stricter_bounds(before.predicate, after.predicate):
        raise InvalidInput(
            f"{what}: its threshold is {_bounds(before.predicate)}, and {_bounds(after.predicate)} would be looser."
        )


def _stricter_bounds(before: Predicate, after: Predicate) -> bool:
    if before.comparison is Comparison.AT_MOST:
        return after.threshold <= before.threshold
    upper = after.upper is None or before.upper is None or after.upper <= before.upper
    return after.threshold >= before.threshold and upper


def _shape(predicate: Predicate) -> Predicate:
    upper = None if predicate.upper is None else 0.0
    return predicate.model_copy(update={"threshold": 0.0, "upper": upper})


def _bounds(predicate: Predicate) -> str:
    upper = "" if predicate.upper is None else f" and {predicate.upper:g}"
    return f"{predicate.comparison} {predicate.threshold:g}{upper} {predicate.unit}"


def _substance(criterion: Criterion) -> Criterion:
    return criterion.model_copy(update={"title": "", "description": ""})
