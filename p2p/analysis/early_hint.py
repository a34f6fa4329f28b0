"""Early sign, during a training, that its reward pays for the wrong thing."""

from collections.abc import Mapping, Sequence
from typing import Any

from p2p.contracts.intent import Comparison, Criterion, Intent, Predicate

DOMINANT = 0.8
"""Share of the reward from which one term takes it. In trainings of presets that passed, the wanted term has up to
0.96, and the wanted criterion moves from the first evaluation on."""
NO_PROGRESS = 0.05
"""Share of the way to its threshold below which a criterion counts as standing at 0."""


def early_hint(intent: Intent | None, evaluations: Sequence[Mapping[str, Any]]) -> str | None:
    """Name the dominating term while a required criterion stays at 0; None otherwise.

    Args:
        intent: What is wanted.
        evaluations: Evaluation rows of a run's `scalars.jsonl`, oldest first.
    """
    terms = evaluations[-1].get("reward_terms") or {} if evaluations else {}
    total = sum(abs(value) for value in terms.values())
    if intent is None or not total:
        return None
    name = max(terms, key=lambda term: abs(terms[term]))
    share = abs(terms[name]) / total
    stuck = next((one for one in intent.criteria if _stays_at_zero(one, evaluations)), None)
    if share < DOMINANT or stuck is None:
        return None
    predicate = stuck.predicate
    assert predicate is not None, "a criterion without a predicate is not measured"
    value = evaluations[-1]["criteria"].get(stuck.key)
    measured = "was not reached" if value is None else f"stays at {value:.2g} {_unit(predicate)}".rstrip()
    return (
        f"Term {name!r} makes {share:.0%} of the reward, and “{stuck.title}” {measured}, "
        f"where {_needed(predicate):g} {_unit(predicate)}".rstrip()
        + " is needed: what is wanted may be paid too little to be learned."
    )


def _stays_at_zero(criterion: Criterion, evaluations: Sequence[Mapping[str, Any]]) -> bool:
    """Whether no rollout met a required criterion, or came nearer to it, at any evaluation."""
    predicate = criterion.predicate
    key = criterion.key
    if not criterion.required or predicate is None or not _needed(predicate):
        return False
    rows = [row for row in evaluations if key in (row.get("criteria") or {})]
    met = any((row.get("criteria_met") or {}).get(key) for row in rows)
    return bool(rows) and not met and all(_progress(predicate, row["criteria"][key]) <= NO_PROGRESS for row in rows)


def _progress(predicate: Predicate, value: float | None) -> float:
    """Share of the way from 0 to the required value; 0 without measurements."""
    return 0.0 if value is None else value / _needed(predicate)


def _needed(predicate: Predicate) -> float:
    """Required value, if it must be reached from 0; 0 if 0 is enough or standing at 0 means nothing."""
    low, high = predicate.threshold, predicate.upper
    if predicate.comparison is Comparison.AT_LEAST:
        return max(0.0, low)
    if predicate.comparison is Comparison.AT_MOST:
        return min(0.0, low)
    return low if low > 0 else min(0.0, high if high is not None else 0.0)


def _unit(predicate: Predicate) -> str:
    return "" if predicate.unit == "1" else predicate.unit
