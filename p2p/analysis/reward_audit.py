"""What a reward would teach, judged by its pay for known motions: without training, without a model."""

import ast
from collections.abc import Iterator, Sequence

from p2p.analysis.paid import Paid
from p2p.analysis.reward_ranking import audit_ranking
from p2p.contracts.reward import RewardIssue

GOOD_SCORE = 0.75
"""A motion with less does not show what was asked: nothing can be said then."""
WORSE_BY = 0.3
"""A motion whose score is so much lower is clearly not what was asked."""
NOISE = 0.05
"""Difference of two returns, as a share of the range over all motions, that counts as none."""
IDLE_SHARE = 0.05
"""With less of that range between the best motion and standing still, nothing draws the robot into motion."""
IDLE_PART = 0.9
"""Where episodes end early, so much of the best motion's pay for standing still makes moving not worth its risk."""
COMPUTING = ("compute", "reward_fn")
"""What computes a reward, in either of its formats."""
SPIKE = 2.0
"""A dash that earns so many times what the same way earns at an even pace is worth more than going on."""


def audit(paid: Sequence[Paid], source: str, severity: str = "error", terminates: bool = False) -> list[RewardIssue]:
    """Problems of a reward, by its pay.

    Args:
        paid: All motions it was tried on; none for robots that show none.
        source: Of the reward, for line numbers.
        severity: Of a reward that prefers what was not asked; everything else is a warning.
        terminates: Whether an unhealthy state ends an episode.
    """
    if not paid:
        return []
    issues = [*_dashes(paid, source), *_ending(paid, source, terminates)]
    ranked = audit_ranking(paid, terminates)
    shown = [motion for motion in paid if motion.plain]
    best = max(shown, key=lambda motion: (motion.score, motion.total))
    if best.score < GOOD_SCORE:
        return issues or ranked
    clearly_worse = [motion for motion in shown if motion.score <= best.score - WORSE_BY]
    preferred = list(_preferred(best, clearly_worse, _spread(shown), source, severity))
    idle = [] if preferred else list(_idle(best, clearly_worse, _spread(shown), source, terminates))
    told = [*preferred, *idle, *issues]
    return told or ranked


def term_line(source: str, term: str) -> int | None:
    """Line that computes a term: a key of a dict or an assignment; None if absent."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    lines = [key.lineno for key in _keys(tree) if isinstance(key, ast.Constant) and key.value == term]
    return min(lines, default=None)


def return_line(source: str) -> int | None:
    """Line of the last `return` of the function that computes a reward; None if there is none."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    bodies = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in COMPUTING]
    lines = [node.lineno for body in bodies for node in ast.walk(body) if isinstance(node, ast.Return)]
    return max(lines, default=None)


def _preferred(best: Paid, worse: Sequence[Paid], spread: float, source: str, severity: str) -> Iterator[RewardIssue]:
    wrong = [motion for motion in worse if motion.total > best.total + NOISE * spread]
    if not wrong:
        return
    worst = max(wrong, key=lambda motion: motion.total)
    term = max(worst.terms, key=lambda name: worst.terms[name] - best.terms[name])
    others = f" The same holds for {', '.join(m.name for m in wrong if m is not worst)}." if len(wrong) > 1 else ""
    message = (
        f"It pays {worst.name!r} {worst.total:.3g} per step and {best.name!r} only {best.total:.3g}, though the first "
        f"meets {worst.score:.0%} of what was asked and the second {best.score:.0%}. Most of that is the term {term!r} "
        f"({worst.terms[term]:.3g} against {best.terms[term]:.3g}): look at its sign and its size.{others}"
    )
    yield RewardIssue(severity=severity, message=message, line=term_line(source, term))


def _idle(best: Paid, worse: Sequence[Paid], spread: float, source: str, terminates: bool) -> Iterator[RewardIssue]:
    for motion in worse:
        trap = terminates and motion.total > IDLE_PART * best.total > 0
        if (
            motion.idle
            and not (motion.fallen and terminates)
            and spread > 0
            and (trap or best.total - motion.total < IDLE_SHARE * spread)
        ):
            term = max(motion.terms, key=lambda name: motion.terms[name])
            yield RewardIssue(
                severity="warning",
                message=f"{motion.name.capitalize()} earns {motion.total:.3g} per step, almost as much as "
                f"{best.name!r} with {best.total:.3g}: there is little incentive to do what was asked. Reduce the "
                f"terms that pay for nothing, here {term!r} with {motion.terms[term]:.3g}, or pay more for what was "
                "asked.",
                line=term_line(source, term),
            )


def _dashes(paid: Sequence[Paid], source: str) -> Iterator[RewardIssue]:
    by_name = {motion.name: motion for motion in paid}
    for dash in paid:
        even = by_name.get(dash.even_pace or "")
        if even is None:
            continue
        for term, value in dash.terms.items():
            if value > SPIKE * even.terms[term] > 0:
                yield RewardIssue(
                    severity="warning",
                    message=f"The term {term!r} pays {value / even.terms[term]:.1f} times as much for {dash.name} "
                    "as for the same distance at an even pace: one spike of speed pays more than steady "
                    "motion. Bound it, with np.tanh, np.clip or tolerance, or make it linear.",
                    line=term_line(source, term),
                )


def _ending(paid: Sequence[Paid], source: str, terminates: bool) -> Iterator[RewardIssue]:
    best = max(paid, key=lambda motion: motion.total)
    if terminates and best.total < 0:
        term = min(best.terms, key=lambda name: best.terms[name])
        yield RewardIssue(
            severity="warning",
            message=f"Every motion it was tried on has a negative return: the best, {best.name!r}, {best.total:.3g} "
            f"per step. An unhealthy state ends the episode here, so falling at once costs least. Most of it is "
            f"{term!r}: make that smaller, add a bonus for each step, or reward what was asked.",
            line=term_line(source, term),
        )


def _spread(paid: Sequence[Paid]) -> float:
    return max(motion.total for motion in paid) - min(motion.total for motion in paid)


def _keys(tree: ast.AST) -> Iterator[ast.expr]:
    """Keys of dict displays, and of `terms["name"] = …`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from (key for key in node.keys if key is not None)
        elif isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.slice for target in targets if isinstance(target, ast.Subscript))
