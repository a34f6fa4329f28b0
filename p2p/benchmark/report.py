"""Benchmark table in Markdown."""

from collections.abc import Sequence

from p2p.contracts.intent import interval_in_words, share_in_words
from p2p.contracts.judgment import CriterionScore
from p2p.contracts.suite import CaseResult, ExamResult
from p2p.service.progress.session_view import view_session
from p2p.service.workspace import Workspace

_COLUMNS = (
    *("sentence", "environment", "seed", "verdict", "success on report rollouts [95 %]"),
    *("exam", "iterations", "time", "measured"),
)
HEADER = (f"| {' | '.join(_COLUMNS)} |", f"|{'---|' * len(_COLUMNS)}")


def table(ws: Workspace, results: Sequence[CaseResult]) -> str:
    """One row for each session that has begun: means over the report rollouts, with 95 % intervals."""
    lines = [*HEADER]
    for result in results:
        if not result.status:
            continue
        view = view_session(ws, result.session_id)
        judgment = view.judgment
        seconds = round(sum(iteration.elapsed_time_s for iteration in view.history))
        success = measured = "–"
        if judgment is not None and judgment.success_rate is not None:
            interval = interval_in_words(judgment.success_low, judgment.success_high, ", ")
            success = f"{share_in_words(judgment.success_rate)} [{interval}] of {judgment.n_rollouts}"
            measured = "; ".join(_criterion(criterion) for criterion in judgment.criteria)
        cells = [
            f"“{view.session.prompt}”",
            view.session.env_id,
            str(view.session.seed),
            str(view.status),
            success,
            _exam(result.exam),
            str(len(view.history)),
            f"{seconds} s",
            measured,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _exam(exam: ExamResult | None) -> str:
    if exam is None:
        return "–"
    return f"{'passed' if exam.passed else 'not passed'}, {exam.n_met} of {exam.n_rollouts}"


def _criterion(criterion: CriterionScore) -> str:
    if criterion.value is None:
        return f"{criterion.key} not measured"
    unit = "" if criterion.unit == "1" else f" {criterion.unit}"
    half = (criterion.high - criterion.low) / 2 if criterion.low is not None and criterion.high is not None else 0.0
    return f"{criterion.key.replace('_', ' ')} {criterion.value:.3g} ± {half:.2g}{unit}"
