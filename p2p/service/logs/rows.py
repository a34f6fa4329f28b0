"""Rows of logs, made from the records of a session; the same records make the same rows."""

import math
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

from p2p.contracts.intent import Intent
from p2p.contracts.judgment import Judgment
from p2p.contracts.log_rows import LogRow, LogTable, LogTarget
from p2p.contracts.session import Session
from p2p.store.growing_file import GrowingFile
from p2p.store.iterations import IterationRecord, all_runs
from p2p.store.sessions import SessionRecord

STEP = "global_step"
TERM = "reward_term_"
COMPARED_BY = ("eval/success_rate", "eval/intent_score", "eval/mean_return")
LEFT_OUT = (STEP, "iteration", "type")
NO_SETTINGS = {"session_id", "created_at", "config", "configs", "caps", "price", "extends"}
"""Fields of a session that say nothing in a table of hyperparameters, which has a column for each."""
LABELS = ("p10", "median", "p90")


def run_targets(record: SessionRecord) -> list[tuple[LogTarget, IterationRecord]]:
    """Every training of a session, short ones of candidates included."""
    found = []
    for iteration in record.iteration_records():
        for run in all_runs(iteration):
            if (config := run.read_config()) is not None:
                name = str(run.path.relative_to(record.path))
                settings = _plain({**config.model_dump(mode="json"), "iteration": iteration.number})
                found.append((LogTarget(record.session_id, name, run.path, settings, COMPARED_BY), run))
    return found


def session_target(record: SessionRecord) -> LogTarget:
    """The iterations of a session."""
    session = record.read_session()
    settings = _plain(session.model_dump(mode="json", exclude=NO_SETTINGS))
    return LogTarget(record.session_id, "session", record.path, settings, ("iteration/score", "iteration/success_rate"))


class RunRows:
    """Rows of a training and of its evaluations, in the order in which they were recorded.

    Args:
        run: The training.
    """

    def __init__(self, run: IterationRecord) -> None:
        self._run = run
        self._file = GrowingFile(run.scalars_path)
        self._steps = array("d")
        self._seconds = array("d")
        """Since the training began, at each of the steps."""

    def replaced(self) -> bool:
        """Look at the records: whether those of earlier looks are not there any more, and all are new."""
        if not self._file.replaced():
            return False
        self._steps = array("d")
        self._seconds = array("d")
        return True

    def new(self) -> Iterator[LogRow]:
        """What was recorded between the last two looks; nothing older is read."""
        begun = self._run.config_path.stat().st_mtime if self._run.config_path.exists() else 0.0
        intent = self._run.read_criteria()
        for _, row in self._file.values():
            if not isinstance(row, dict) or not _finite(row.get(STEP)):
                continue
            if row.get("type") != "eval":
                self._steps.append(row[STEP])
                self._seconds.append(float(row.get("elapsed_time") or 0.0))
                yield _training_row(row, begun)
            else:
                reached = bisect_right(self._steps, row[STEP])
                yield _evaluation_row(row, intent, begun + (self._seconds[reached - 1] if reached else 0.0))


def session_rows(record: SessionRecord) -> list[LogRow]:
    """A row for each judged iteration."""
    session = record.read_session()
    rows = []
    for iteration in record.iteration_records():
        if (judgment := iteration.read_judgment()) is not None:
            rows.append(_iteration_row(session, iteration, judgment))
    return rows


def _training_row(row: Mapping[str, Any], begun: float) -> LogRow:
    scalars = {}
    for name, value in row.items():
        if name not in LEFT_OUT and _finite(value):
            shown = f"reward_term/{name.removeprefix(TERM)}" if name.startswith(TERM) else name
            scalars[f"train/{shown}"] = float(value)
    return LogRow("train", int(row[STEP]), begun + float(row.get("elapsed_time") or 0.0), scalars)


def _evaluation_row(row: Mapping[str, Any], intent: Intent | None, wall_time: float) -> LogRow:
    scalars = {f"eval/{name}": float(v) for name, v in row.items() if name not in LEFT_OUT and _finite(v)}
    for name, values in (("value", row.get("criteria")), ("met_share", row.get("criteria_met"))):
        for key, value in (values if isinstance(values, Mapping) else {}).items():
            if _finite(value):
                scalars[f"eval/criteria/{key}/{name}"] = float(value)
    for criterion in intent.criteria if intent is not None else ():
        if criterion.predicate is not None and _finite(criterion.predicate.threshold):
            scalars[f"eval/criteria/{criterion.key}/threshold"] = float(criterion.predicate.threshold)
    return LogRow("eval", int(row[STEP]), wall_time, scalars)


def _iteration_row(session: Session, iteration: IterationRecord, judgment: Judgment) -> LogRow:
    numbers: dict[str, float | None] = {
        "iteration/passed": float(judgment.passed),
        "iteration/score": judgment.intent_score,
        "iteration/pass_threshold": judgment.pass_threshold,
        "iteration/success_rate": judgment.success_rate,
        "iteration/success_low": judgment.success_low,
        "iteration/success_high": judgment.success_high,
    }
    for criterion in judgment.criteria:
        for name in ("value", "low", "high", "threshold", "met_share", "score"):
            numbers[f"iteration/criteria/{criterion.key}/{name}"] = getattr(criterion, name)
    videos = {f"iteration/video/{label}": path for label in LABELS if (path := iteration.report.video(label)).exists()}
    tables = {"iteration/rollouts": _rollouts(judgment)} if judgment.rollouts else {}
    return LogRow(
        "iteration",
        iteration.number,
        iteration.judgment_path.stat().st_mtime,
        {name: float(value) for name, value in numbers.items() if value is not None and _finite(value)},
        {"iteration/judgment": _in_words(session, judgment), "iteration/reward": _source(iteration)},
        tables,
        videos,
    )


def _rollouts(judgment: Judgment) -> LogTable:
    keys = tuple(dict.fromkeys(key for rollout in judgment.rollouts for key in rollout.values))
    return LogTable(
        ("seed", "label", "episode_return", "score", "success", *keys),
        tuple(
            (r.seed, r.label or "", r.episode_return, r.intent_score, r.success, *(r.values.get(key) for key in keys))
            for r in judgment.rollouts
        ),
    )


def _in_words(session: Session, judgment: Judgment) -> str:
    judged = f"{judgment.run_id} at step {judgment.best_checkpoint}, {judgment.n_rollouts} rollouts"
    diagnosis = judgment.diagnosis.replace("\n- ", "\n\n- ", 1)  # else Markdown makes no list of it
    lines = [f"**{judgment.verdict}** ({judged})", "", session.prompt, "", diagnosis]
    if judgment.failure_tags:
        lines += ["", f"Tags: {', '.join(judgment.failure_tags)}"]
    return "\n".join(lines)


def _source(iteration: IterationRecord) -> str:
    """The reward as an indented block, which Markdown shows as it is."""
    return "\n".join(f"    {line}" for line in iteration.read_reward_source().splitlines())


def _plain(values: Mapping[str, Any]) -> dict[str, str | float | bool]:
    """Settings as numbers and texts; those that say nothing are left out."""
    plain: dict[str, str | float | bool] = {}
    for name, value in values.items():
        if value is None or value in ("", [], {}):
            continue
        plain[name] = value if isinstance(value, str | bool | int | float) else str(value)
    return plain


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
