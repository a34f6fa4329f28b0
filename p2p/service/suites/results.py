"""Results of a run, made from its sessions: what ended is read once, and kept in `results.jsonl`."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobState
from p2p.contracts.session import SessionStatus, StatusRecord
from p2p.contracts.suite import (
    CaseResult,
    Outcome,
    RunState,
    Suite,
    SuiteRun,
    SuiteRunView,
    Tally,
    digest_of,
)
from p2p.service.jobs.processes import is_live
from p2p.service.jobs.worker_jobs import failure_message
from p2p.service.models.session_models import costs
from p2p.service.progress.session_view import job_status, view
from p2p.service.suites.exams import best_judgment, exam_of, score, without_policy
from p2p.service.suites.plan import PlannedStage, Sitting, may_begin, stages_of, views_of
from p2p.service.workspace import Workspace
from p2p.store.calls import CallLedger
from p2p.store.suites import SuiteRunRecord, SuiteRuns

OUTCOMES = {
    SessionStatus.PASSED: Outcome.PASSED,
    SessionStatus.MAX_ITERATIONS: Outcome.NOT_PASSED,
    SessionStatus.COMPLETED: Outcome.NOT_PASSED,
    SessionStatus.CANCELLED: Outcome.CANCELLED,
    SessionStatus.BUDGET: Outcome.CAPPED,
    SessionStatus.INVALID_CODE: Outcome.CRASHED,
    SessionStatus.RATE_LIMITED: Outcome.CRASHED,
    SessionStatus.AUTH_ERROR: Outcome.CRASHED,
    SessionStatus.ERROR: Outcome.CRASHED,
}
"""What the end of a session means for its case; a cap in minutes is told from the others by the time at work."""


def list_suite_runs(ws: Workspace) -> tuple[SuiteRunView, ...]:
    """Every run of a suite, newest first."""
    return tuple(view_of(ws, record) for record in SuiteRuns(ws.runs.path).all())


def view_suite_run(ws: Workspace, name: str) -> SuiteRunView:
    """A run of a suite as its sessions stand.

    Raises:
        UnknownName: there is no such run.
    """
    return view_of(ws, SuiteRuns(ws.runs.path).known(name))


def view_of(ws: Workspace, record: SuiteRunRecord) -> SuiteRunView:
    """A run as its sessions stand."""
    suite, run = opened(record)
    stages = stages_of(suite, run)
    results = read_results(ws, record, suite, stages)
    live = is_live(ws, record.driver_dir)
    ended = not live and not unfinished(suite, results.values())
    driver = job_status(record.driver_dir, ws.backend)
    error = ""
    if not live and not ended and driver is not None and driver.state is JobState.FAILED:
        killed = f"Its process was killed by signal {driver.signal}."
        error = failure_message(driver) if driver.signal is None else killed
    return SuiteRunView(
        run=run,
        state=RunState.RUNNING if live else RunState.ENDED if ended else RunState.INTERRUPTED,
        error=error,
        tally=Tally.of(list(results.values()), suite.examined),
        stages=views_of(stages, results, suite.examined),
        results=tuple(results.values()),
    )


def opened(record: SuiteRunRecord) -> tuple[Suite, SuiteRun]:
    """Suite and request of a run that exists.

    Raises:
        InvalidInput: they cannot be read.
    """
    suite = record.read_suite()
    run = record.read_run()
    if suite is None or run is None:
        raise InvalidInput(f"{record.path} holds no readable run of a suite.")
    return suite, run


def unfinished(suite: Suite, results: Iterable[CaseResult]) -> bool:
    """Whether a session or an exam is still to come."""
    return any(result.outcome is Outcome.OPEN or lacks_exam(suite, result) for result in results)


def lacks_exam(suite: Suite, result: CaseResult) -> bool:
    """Whether a session has ended whose policy has still to sit its exam."""
    return result.outcome.hands_in and result.exam is None and suite.exam_of(result.case) is not None


def read_results(
    ws: Workspace, record: SuiteRunRecord, suite: Suite, stages: Sequence[PlannedStage]
) -> dict[str, CaseResult]:
    """Result of every session of a run, by session id.

    A line of `results.jsonl` stands while the session has the status that it had then, and the exam is the same.
    """
    written = {result.session_id: result for result in record.read_results()}
    results = {
        sitting.session_id: _result(ws, record, suite, sitting, stage.stage.name, written.get(sitting.session_id))
        for stage in stages
        for sitting in stage.sittings
    }
    reached = may_begin(stages, {session_id: result.outcome for session_id, result in results.items()})
    for session_id, result in results.items():
        if session_id not in reached and not result.status:
            results[session_id] = result.model_copy(update={"outcome": Outcome.SKIPPED})
    return results


def _result(
    ws: Workspace, record: SuiteRunRecord, suite: Suite, sitting: Sitting, stage: str, written: CaseResult | None
) -> CaseResult:
    session = ws.runs.session(sitting.session_id)
    status = session.read_status() if session.exists else None
    open_result = CaseResult(
        case=sitting.case.name,
        seed=sitting.seed,
        session_id=sitting.session_id,
        stage=stage,
        outcome=Outcome.OPEN,
    )
    if not session.exists:
        return open_result
    if status is None or not status.status.finished:
        return open_result.model_copy(update={"status": view(session, ws.backend).status})
    try:
        same = written is not None and written.outcome.ended and written.ended_at == status.updated_at
        result = written if same and written is not None else _of_session(ws, open_result, status)
    except InvalidInput as error:  # it lies in the trash
        return open_result.model_copy(update={"status": status.status, "error": str(error)})
    exam = result.exam
    if not result.outcome.hands_in or sitting.case.exam is None:
        exam = None
    elif exam is None or exam.exam_sha256 != digest_of(sitting.case.exam):
        asked = exam_of(ws, suite, record, sitting)
        exam = score(ws, asked, suite.pass_threshold) if asked is not None else without_policy(sitting.case.exam)
    return result.model_copy(update={"stage": stage, "exam": exam})


def _of_session(ws: Workspace, result: CaseResult, status: StatusRecord) -> CaseResult:
    """Result of an ended session, before its exam.

    Raises:
        InvalidInput: it lies in the trash.
    """
    spent = costs(ws, result.session_id)
    session = ws.record(result.session_id)
    judged = best_judgment(session)
    judgment = judged[1] if judged is not None else None
    by_role: dict[str, float] = defaultdict(float)
    by_model: dict[str, float] = defaultdict(float)
    for line in CallLedger(session.path).lines():
        by_role[line.role] += line.dollars or 0.0
        by_model[line.model] += line.dollars or 0.0
    outcome = OUTCOMES[status.status]
    iterations = len(session.iteration_records())
    if outcome is Outcome.CRASHED and not iterations:
        outcome = Outcome.NOT_TRAINED
    minutes = spent.caps.minutes
    if outcome is Outcome.CAPPED and minutes is not None and spent.seconds_at_work >= 60 * minutes:
        outcome = Outcome.TIMED_OUT
    return result.model_copy(
        update={
            "outcome": outcome,
            "status": str(status.status),
            "ended_at": status.updated_at,
            "error": status.error or "",
            "passed_itself": outcome is Outcome.PASSED,
            "intent_score": judgment.intent_score if judgment is not None else None,
            "success": judgment.success_rate if judgment is not None else None,
            "iterations": iterations,
            "steps": sum(training.environment_steps for training in spent.trainings),
            "seconds": spent.seconds_at_work,
            "dollars": {role: round(dollars, 6) for role, dollars in by_role.items()},
            "dollars_by_model": {model: round(dollars, 6) for model, dollars in by_model.items()},
        }
    )
