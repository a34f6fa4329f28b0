"""History of a session: finished iterations, and the tree of attempts with the best so far."""

from textwrap import shorten

from p2p.agents.lessons import with_lesson
from p2p.contracts.judgment import Judgment
from p2p.contracts.reward import ConfigUse, Lesson, Lineage, LineageEntry, Revision
from p2p.contracts.session import EventName, History, IterationData, SessionStatus
from p2p.service.progress.candidate_lessons import candidate_lessons, with_all
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord
from p2p.training.tuning import HYPERPARAMETERS


def record_iteration(
    record: SessionRecord, number: int, status: SessionStatus = SessionStatus.RUNNING, error: str | None = None
) -> None:
    """Write history and lineage up to iteration `number` from the iterations' directories."""
    session = record.read_session()
    judged = [
        (n, iteration, judgment)
        for n in range(1, number + 1)
        if (judgment := (iteration := record.iteration(n)).read_judgment()) is not None
    ]
    scores = {n: judgment.intent_score for n, _, judgment in judged if judgment.intent_score is not None}
    best = best_iteration({n: judgment for n, _, judgment in judged})
    history = History(
        session_id=session.session_id,
        prompt=session.prompt,
        env_id=session.env_id,
        status=status,
        iterations=tuple(_iteration_data(record, n, iteration, judgment) for n, iteration, judgment in judged),
        best_iteration=best,
        best_score=scores.get(best) if best is not None else None,
        pass_threshold=session.pass_threshold,
        error=error,
    )
    record.save_history(history)
    record.save_lineage(_lineage(record, history.iterations))
    if judged and judged[-1][0] == number:
        judgment = judged[-1][2]
        record.events.emit_once(
            EventName.ITERATION_COMPLETED,
            number,
            intent_score=judgment.intent_score,
            passed=judgment.passed,
            success_rate=judgment.success_rate,
            diagnosis=judgment.diagnosis[:300],
            failure_tags=list(judgment.failure_tags),
        )


def best_iteration(judgments: dict[int, Judgment]) -> int | None:
    """Iteration with the highest success rate, then score; the earliest among equals; None without any."""
    if not judgments:
        return None
    return max(judgments, key=lambda n: (judgments[n].success_rate or 0.0, judgments[n].intent_score or 0.0, -n))


def _iteration_data(
    record: SessionRecord, number: int, iteration: IterationRecord, judgment: Judgment
) -> IterationData:
    aggregation = iteration.read_aggregation()
    summary = None
    if aggregation is not None:
        summary = IterationRecord(iteration.path / aggregation.best_run_id).read_summary()
    before = _revision_into(record, number)
    summaries = [run.read_summary() for run in iteration.runs()]
    # pauses between a kill and a resume do not count
    durations_ms = [event.duration_ms or 0 for event in record.events.read() if event.iteration == number]
    return IterationData(
        iteration=number,
        iteration_dir=iteration.iteration_id,
        intent_score=judgment.intent_score,
        verdict=judgment.verdict,
        success_rate=judgment.success_rate,
        diagnosis=judgment.diagnosis,
        failure_tags=judgment.failure_tags,
        best_run_id=judgment.run_id,
        best_checkpoint=judgment.best_checkpoint,
        final_return=summary.final_episodic_return if summary else None,
        elapsed_time_s=sum(durations_ms) / 1000,
        changes=tuple(f"{c.kind} {c.name}: {c.old} → {c.new} ({c.reason})" for c in before.changes) if before else (),
        based_on=before.based_on if before else None,
        from_policy=iteration.start_policy.read(),
        steps_saved=sum(one.early_stop.steps_saved for one in summaries if one is not None and one.early_stop),
    )


def _lineage(record: SessionRecord, iterations: tuple[IterationData, ...]) -> Lineage:
    entries: dict[str, LineageEntry] = {}
    lessons = record.read_lineage().lessons
    others = candidate_lessons(record, [data.iteration for data in iterations])
    best = (-1.0, -1.0)
    for data in iterations:
        before = _revision_into(record, data.iteration)
        if before is not None and before.lesson:
            said = Lesson(text=before.lesson, learned_at=data.iteration - 1)
            keep = (said.text, *(lesson.text for lesson in others))
            lessons = tuple(one for one in lessons if one.learned_at != said.learned_at or one.text in keep)
            lessons = with_lesson(lessons, said)
        score = data.intent_score
        merit = (data.success_rate or 0.0, data.intent_score or 0.0)
        entries[f"{record.session_id}/{data.iteration_dir}"] = LineageEntry(
            parent=data.based_on,
            score=score,
            star=score is not None and merit > best,
            lesson=before.lesson if before else "",
            diagnosis=shorten(data.diagnosis, 300, placeholder=" …"),
            failure_tags=data.failure_tags,
            final_return=data.final_return,
            best_checkpoint=data.best_checkpoint,
            best_run_id=data.best_run_id,
            configs=configs_used(record.iteration(data.iteration)),
            from_policy=data.from_policy,
        )
        best = max(best, merit)
    return Lineage(iterations=entries, lessons=with_all(lessons, others), extends=record.read_session().extends)


def _revision_into(record: SessionRecord, number: int) -> Revision | None:
    return record.iteration(number - 1).read_revision() if number > 1 else None


def configs_used(iteration: IterationRecord) -> dict[str, ConfigUse]:
    """Configuration -> hyperparameters and results; empty before the training."""
    aggregation = iteration.read_aggregation()
    draft = iteration.read_draft()
    if aggregation is None:
        return {}
    configs = {run.config_id: config for run in iteration.runs() if (config := run.read_config()) is not None}
    directives = {variant.config_id: variant.directive for variant in (draft.variants if draft else ())}
    return {
        config_id: ConfigUse(
            directive=directives.get(config_id, ""),
            hyperparameters=configs[config_id].model_dump(mode="json", include=set(HYPERPARAMETERS)),
            n_completed=sum(result.status == "completed" for result in reached.per_seed),
            mean_score=reached.mean_best_score,
            std_score=reached.std_best_score,
            mean_return=reached.mean_final_return,
            std_return=reached.std_final_return,
            best=config_id == aggregation.best_config_id,
        )
        for config_id, reached in aggregation.configs.items()
        if config_id in configs
    }
