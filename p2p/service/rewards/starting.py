"""Whether the next training goes on from the policy whose reward was revised: where that changed little."""

import ast
from collections import Counter
from collections.abc import Mapping

from p2p.contracts.intent import score_in_words, share_in_words
from p2p.contracts.judgment import Judgment
from p2p.contracts.reward import RewardDraft
from p2p.contracts.start_policy import LEAST_SCORE, LEAST_SHARE, MOST_LINES, NEEDS_ZERO, StartDecision
from p2p.contracts.training import canonical_names
from p2p.service.training.start_policies import judged_policy
from p2p.store.sessions import SessionRecord


def decide_start(record: SessionRecord, based_on: int, source: str, changes: Mapping[str, object]) -> StartDecision:
    """Whether to go on from the policy of iteration `based_on` with the next reward.

    Args:
        record: Of the session.
        based_on: Iteration whose reward was changed.
        source: The next reward.
        changes: Fields of `TrainConfig` that it asks for.
    """
    old = record.iteration(based_on).read_draft() or RewardDraft(source="")
    judgment = record.iteration(based_on).read_judgment()
    changed = lines_changed(old.source, source)
    against = _against(record, based_on, judgment, changed, _changed_fields(old.config_changes, changes))
    if against:
        return StartDecision(from_iteration=None, lines_changed=changed, reason=f"From zero: {against}.")
    return StartDecision(
        from_iteration=based_on,
        lines_changed=changed,
        reason=f"Goes on from the policy of iteration {based_on}: {_in_words(changed)}.",
    )


def lines_changed(old: str, new: str) -> float:
    """Share of the lines of code that differ between two rewards, in [0, 1]; 1 where one cannot be parsed."""
    try:
        first, second = (Counter(_code(source)) for source in (old, new))
    except (SyntaxError, ValueError, RecursionError):
        return 1.0
    differing = max((first - second).total(), (second - first).total())
    return round(differing / max(1, first.total(), second.total()), 3)


def _code(source: str) -> list[str]:
    """Lines of code, each written in the same way, without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return [line for block in ast.unparse(tree).splitlines() for line in _entries(block) if line]


def _entries(line: str) -> list[str]:
    """A line, cut into the entries of its table: `ast.unparse` writes a whole table of weights or terms as one."""
    depth, entries = 0, [""]
    for character in line:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 1:
            entries.append("")
        elif depth or character not in ")]}":  # the last entry of a table is the same where another follows
            entries[-1] += character
    return [entry.strip() for entry in entries]


def _against(
    record: SessionRecord, based_on: int, judgment: Judgment | None, changed: float, fields: tuple[str, ...]
) -> str:
    """Why not to go on from the policy of an iteration; empty where nothing speaks against it."""
    if record.read_session().candidates > 1:
        return "several candidates for the reward are compared, and begin alike"
    if judgment is None or judged_policy(record, based_on) is None:
        return f"iteration {based_on} has no judged policy"
    if changed > MOST_LINES:
        return _in_words(changed)
    if fields:
        return f"a change of {', '.join(fields)} needs a new policy"
    required = [score for score in judgment.criteria if score.required]
    worst = min((score.score for score in required), default=judgment.intent_score or 0.0)
    if worst < LEAST_SCORE and (judgment.success_rate or 0.0) < LEAST_SHARE:
        return (
            f"the policy of iteration {based_on} scored {score_in_words(worst)} by the criterion it misses most, and "
            f"{share_in_words(judgment.success_rate or 0.0)} of its rollouts met all; below "
            f"{score_in_words(LEAST_SCORE)} and {share_in_words(LEAST_SHARE)} a policy is stuck"
        )
    if tried := _tried(record, based_on):
        return f"iteration {tried} went on from the policy of iteration {based_on} and did not get better"
    return ""


def _changed_fields(old: Mapping[str, object], new: Mapping[str, object]) -> tuple[str, ...]:
    was, becomes = canonical_names(old), canonical_names(new)
    return tuple(name for name in NEEDS_ZERO if was.get(name) != becomes.get(name))


def _tried(record: SessionRecord, based_on: int) -> int | None:
    """Iteration that went on from the policy of `based_on` already, whose reward is still the one to change."""
    for iteration in record.iteration_records():
        start = iteration.start_policy.read()
        if start is not None and (start.session_id, start.iteration) == (record.session_id, based_on):
            return iteration.number
    return None


def _in_words(changed: float) -> str:
    limit = share_in_words(MOST_LINES)
    if changed > MOST_LINES:
        return f"the reward changed in {share_in_words(changed)} of its lines, which is more than a little ({limit})"
    if not changed:
        return "its reward is the same"
    return f"the reward changed little, in {share_in_words(changed)} of its lines (little: up to {limit})"
