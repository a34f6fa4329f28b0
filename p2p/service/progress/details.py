"""Details of a session: one iteration in full, and the state of its driver."""

from p2p.contracts.errors import (
    EnvironmentProblem,
    InvalidInput,
    JobLost,
    P2PError,
    StorageProblem,
    TrainingFailed,
)
from p2p.contracts.iteration import IterationView
from p2p.contracts.job import JobState
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import EventName
from p2p.scheduler.resources import disk_free_mb
from p2p.service.jobs.worker_jobs import failure_message, wait
from p2p.service.progress.advising import advice_on
from p2p.service.progress.session_view import run_progress, view
from p2p.service.training.plan import effective_config, session_for
from p2p.service.workspace import Workspace
from p2p.store.iterations import CandidateRecords


def view_iteration(ws: Workspace, session_id: str, number: int) -> IterationView:
    """Reward, configuration and results of iteration `number` so far.

    Raises:
        UnknownName: the session has no such iteration.
    """
    iteration = ws.iteration_begun(session_id, number)
    session = session_for(ws.record(session_id), number)
    draft = iteration.read_draft()
    request = None
    if (asked := iteration.read_training_request()) is not None:
        request = asked.start
    policy = iteration.start_policy.read()
    report = iteration.report.read_evaluation()
    sheet = iteration.contact_sheet_path
    return IterationView(
        session_id=session_id,
        iteration=number,
        directory=f"{session_id}/{iteration.iteration_id}",
        config=effective_config(session, draft, request, policy) if draft is not None else None,
        from_policy=policy,
        reward_report=iteration.read_reward_report(),
        runs=tuple(run_progress(run, ws.backend) for run in iteration.runs()),
        aggregation=iteration.read_aggregation(),
        judgment=iteration.read_judgment(),
        advice=advice_on(ws.record(session_id), number),
        report_returns=tuple(rollout.episode_return for rollout in report.rollouts) if report is not None else (),
        revision=iteration.read_revision(),
        candidates=CandidateRecords(iteration).read_choice(),
        contact_sheet=str(sheet.relative_to(ws.runs.path)) if sheet.exists() else None,
    )


def why_it_stopped(ws: Workspace, session_id: str) -> P2PError:
    """Error of a session whose driver is gone before the session ended.

    Returns:
        StorageProblem when the disk is full, EnvironmentProblem when this machine was to blame in another way,
        InvalidInput when it was never started, JobLost otherwise.
    """
    driver = ws.record(session_id).driver_dir
    if disk_free_mb(driver) == 0:  # then nobody could record how it ended
        return StorageProblem(
            f"The disk of {ws.runs.path} is full. Free some space, then go on with: "
            f"{Remedy.RESUME.of(session=session_id)}"
        )
    seen = view(ws.record(session_id), ws.backend)
    if seen.by_caller:
        return JobLost(
            f"The job that trained iteration {seen.iteration} of {session_id} was killed. Its runs are kept; to go "
            f"on with them: {Remedy.RESUME.of(session=session_id)}"
        )
    advice = f"Its log is in {driver}. To go on: {Remedy.RESUME.of(session=session_id)}"
    try:
        status = ws.backend.status(driver)
    except InvalidInput:
        return InvalidInput(f"{session_id} was never started. To start it: {Remedy.RESUME.of(session=session_id)}")
    message = failure_message(status)
    if status.exit_code == EnvironmentProblem.exit_code:
        return EnvironmentProblem(f"{message} {advice}")
    cause = f": {message.removesuffix('.')}" if status.state is JobState.FAILED else f" ({status.state})"
    return JobLost(f"The process that drives {session_id} ended before its session did{cause}. {advice}")


def said_nothing(ws: Workspace, session_id: str) -> bool:
    """Whether the session's first driver was killed before it wrote anything."""
    record = ws.record(session_id)
    try:
        driver = ws.backend.status(record.driver_dir)
    except InvalidInput:
        return False
    killed = driver.state is JobState.LOST or driver.signal is not None
    begun = (EventName.SESSION_STARTED, EventName.SESSION_RESUMED)
    return killed and not any(event.event in begun for event in record.events.read())


def error_code(ws: Workspace, session_id: str) -> int:
    """Exit code of the driver for the error that ended the session."""
    driver = ws.record(session_id).driver_dir
    try:
        wait([driver], ws.backend)  # it says how the session ended before it leaves
        return ws.backend.status(driver).exit_code or TrainingFailed.exit_code
    except InvalidInput:  # nobody drove it as a job
        return TrainingFailed.exit_code
