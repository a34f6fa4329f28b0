"""Session drivers: start, resume, stop."""

from contextlib import nullcontext

from pydantic import ValidationError

from p2p.contracts.errors import Busy, InvalidInput
from p2p.contracts.job import JobSpec
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import EventName, Priority, Session, SessionStatus, SessionView
from p2p.scheduler.backends.by_directory import open_backend
from p2p.scheduler.resources import JOB_MEMORY_MB
from p2p.service.jobs.ending import end_film, end_job, end_training
from p2p.service.jobs.free_space import require_free_disk
from p2p.service.jobs.processes import is_live
from p2p.service.jobs.waiting import in_turn
from p2p.service.jobs.worker_jobs import SINGLE_THREAD
from p2p.service.judging.closing import close
from p2p.service.logs.job import keep_logs, log_variables
from p2p.service.models.session_models import model_variables
from p2p.service.progress.job_views import settle
from p2p.service.progress.session_view import live_training, view_session
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.background import BackgroundRecord
from p2p.store.iterations import CandidateRecords
from p2p.store.sessions import SessionRecord

DRIVER = ("{python}", "-m", "p2p.session.run_session")
"""Command of the process that drives a session."""


def start_session(ws: Workspace, session_id: str) -> SessionView:
    """Start the driver of a session unless one is alive; it outlives its caller.

    The inline backend drives the session here, and returns at its end.
    """
    require_free_disk(ws)
    # nobody deletes it meanwhile; while it is driven here, its driver's lock tells that
    with ws.jobs.starting() if not ws.runs_inline else nullcontext():
        record = ws.record(session_id)
        if not is_driven(ws, record):
            settle(ws, BackgroundRecord(record.driver_dir).read_ticket())
        start_driver(ws, record)
    return view_session(ws, session_id)


def resume_session(
    ws: Workspace, session_id: str, max_iterations: int | None = None, backend: str | None = None
) -> SessionView:
    """Resume a session that was stopped, killed or failed; finished steps are not repeated.

    Args:
        session_id: Its id.
        max_iterations: Rewards tried at most, from now on; None leaves that as it is.
        backend: Where it is trained from now on; None leaves it where it was.

    Raises:
        InvalidInput: it has ended by itself and `max_iterations` asks for no more, or for too many; or its caller
            has an iteration trained now; or it runs, and its trainings cannot be moved.
        UnknownName, EnvironmentProblem: there is no such backend, or it cannot be used.
    """
    require_free_disk(ws)
    record = ws.record(session_id)
    choose_backend(ws, record, backend)
    make_ready(ws, record, max_iterations)
    return start_session(ws, session_id)


def extend_session(ws: Workspace, session_id: str, max_iterations: int) -> SessionView:
    """Allow a session more iterations without starting a process; the caller continues it.

    Raises:
        InvalidInput: it has passed, is being trained, or `max_iterations` is no more than it has begun.
    """
    record = ws.record(session_id)
    if is_driven(ws, record):
        raise Busy(f"{session_id} is driven by another process. Stop it first: {Remedy.STOP.of(session=session_id)}")
    make_ready(ws, record, max_iterations)
    record.set_status(SessionStatus.PENDING)
    return view_session(ws, session_id)


def stop_session(ws: Workspace, session_id: str) -> SessionView:
    """End the driver and all trainings of a session; finished work is kept."""
    record = ws.record(session_id)
    halt_session(ws, record)
    status = record.read_status()
    if status is None or not status.status.finished:
        close(ws, session_id, SessionStatus.CANCELLED)
    return view_session(ws, session_id)


def halt_session(ws: Workspace, record: SessionRecord) -> None:
    """End every process of a session without ending the session: it is interrupted."""
    end_job(ws, record.driver_dir)  # first, for it starts the others
    for iteration in record.iteration_records():
        end_training(ws, iteration)
        for directory in (iteration.check_dir, *CandidateRecords(iteration).job_dirs()):
            end_job(ws, directory)
    end_job(ws, record.film_dir)


def is_driven(ws: Workspace, record: SessionRecord) -> bool:
    """Whether a process drives the session."""
    return is_live(ws, record.driver_dir)


def make_ready(ws: Workspace, record: SessionRecord, max_iterations: int | None = None) -> None:
    """Prepare a session for its next driver."""
    session = record.read_session()
    status = record.read_status()
    name = record.session_id
    if max_iterations is not None:
        try:
            session = Session.model_validate({**session.model_dump(), "max_iterations": max_iterations})
        except ValidationError as error:
            raise InvalidInput(f"max_iterations must lie in 1 … 100, got {max_iterations}.") from error
    ended = status is not None and status.status in (SessionStatus.PASSED, SessionStatus.COMPLETED)
    used_up = status is not None and status.status is SessionStatus.MAX_ITERATIONS
    if ended or (used_up and len(record.iteration_records()) >= session.max_iterations):
        assert status is not None
        advice = f"To go on after the last iteration: {Remedy.ADD_ITERATIONS.of(session=name)}"
        if status.status is SessionStatus.PASSED:
            advice = (
                "To go on from its reward, with stricter criteria or a wish: "
                f"{Remedy.EXTEND_BY_CRITERIA.of(session=name)}"
            )
        elif ended:
            advice = f"It had one reward to train; train the next one: {Remedy.WRITE_REWARD.of()}"
        raise InvalidInput(f"{name} has ended as {status.status}. {advice}")
    if (busy := live_training(record, ws.backend)) is not None:
        raise Busy(
            f"Iteration {len(record.iteration_records())} of {name} is being trained by {busy}. "
            f"Wait for it, or end it with: {Remedy.CANCEL_JOB.of(job=busy)}"
        )
    record.save_session(session)
    discard_film(ws, record)
    if not is_driven(ws, record):
        settle(ws, BackgroundRecord(record.driver_dir).read_ticket())
        record.set_status(SessionStatus.RUNNING)
        record.events.emit(EventName.SESSION_RESUMED)


def set_priority(ws: Workspace, session_id: str, priority: Priority | None) -> None:
    """Set whether a session's future trainings give way to other processes; None changes nothing."""
    record = ws.record(session_id)
    session = record.read_session()
    if priority is not None and priority != session.priority:
        record.save_session(session.model_copy(update={"priority": priority}))


def choose_backend(ws: Workspace, record: SessionRecord, wanted: str | None = None) -> str:
    """Choose and save the backend of a session's future trainings: `wanted`, or else the previous one.

    Raises:
        InvalidInput: a process drives it, and `wanted` is another place.
        UnknownName, EnvironmentProblem: there is no such backend, or it cannot be used.
    """
    session = record.read_session()
    chosen = wanted or ws.backend_of(session)
    open_backend(chosen, ws.node_store).capacity(JOB_MEMORY_MB)
    if chosen != session.backend:
        if wanted is not None and is_driven(ws, record):
            raise Busy(
                f"{record.session_id} runs, with its trainings on {ws.backend_of(session)}. "
                f"To move them, stop it first: {Remedy.STOP.of(session=record.session_id)}"
            )
        record.save_session(session.model_copy(update={"backend": chosen}))
    return chosen


def start_driver(ws: Workspace, record: SessionRecord, job_id: str | None = None) -> None:
    """Start the driver unless one is alive; as a background job it waits for its turn."""
    session = record.read_session()
    command = (*DRIVER, "--session-id", record.session_id)
    env = SINGLE_THREAD if job_id is None else SINGLE_THREAD | job_settings(ws)
    env = env | {"P2P_BACKEND": ws.backend_of(session)}
    needed = (*ws.variables_to_reach(ws.backend_of(session)), *model_variables(session), *log_variables(session))
    status = record.read_status()
    if status is None or status.status is SessionStatus.PENDING:  # before it, for it may die before its first word
        record.set_status(SessionStatus.RUNNING)
    spec = JobSpec(argv=(*command, "--runs-dir", str(ws.runs.path)), env=env, secrets=needed)
    if job_id is None:
        ws.backend.submit(spec, record.driver_dir)
    else:
        ws.background.submit(in_turn(ws, record, spec), record.driver_dir)
    keep_logs(ws, record)


def job_settings(ws: Workspace) -> dict[str, str]:
    """Environment variables that pass settings on to a background job."""
    env = {"P2P_MAX_JOBS": str(ws.settings.max_jobs)}
    env["P2P_MIN_FREE_DISK_GB"] = str(ws.settings.min_free_disk_gb)
    env["P2P_MAX_MEMORY_SHARE"] = str(ws.settings.max_memory_share)
    if ws.settings.max_parallel is not None:
        env["P2P_MAX_PARALLEL"] = str(ws.settings.max_parallel)
    return env


def discard_film(ws: Workspace, record: SessionRecord) -> None:
    """Discard the videos of a session that continues; its end makes new ones."""
    end_film(ws, record)
    files.discard(record.film_dir)
