"""Close a session: decide the outcome from its judgments, save it, film its checkpoints."""

from contextlib import suppress

from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.session import EventName, Session, SessionStatus
from p2p.contracts.work import FilmRequest
from p2p.service.jobs.free_space import keeps_videos
from p2p.service.jobs.worker_jobs import worker_job
from p2p.service.logs.job import keep_logs
from p2p.service.progress.lineage import record_iteration
from p2p.service.rewards.authors import wishes_are_read
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord


def outcome(ws: Workspace, session_id: str) -> SessionStatus | None:
    """Outcome of the session after its iterations so far; None to continue."""
    record = ws.record(session_id)
    session = record.read_session()
    judgments = [j for iteration in record.iteration_records() if (j := iteration.read_judgment()) is not None]
    unread = session.extends is not None and len(judgments) == 1 and bool(record.read_wishes())
    if unread and session.max_iterations > 1 and wishes_are_read(record):
        return None  # it may well pass as it did before: the revision after it reads the wish
    if judgments and judgments[-1].passed:
        return SessionStatus.PASSED
    if judgments and not session.prompt:
        return SessionStatus.COMPLETED
    if len(judgments) >= session.max_iterations or (judgments and session.author == "given"):
        return SessionStatus.MAX_ITERATIONS
    return None


def close(ws: Workspace, session_id: str, outcome: SessionStatus, error: str | None = None) -> Session:
    """Save the end of a session once; its status is written last and marks the rest complete."""
    record = ws.record(session_id)

    def tell_end() -> None:
        record_iteration(record, len(record.iteration_records()), outcome, error)
        failed = outcome in (SessionStatus.ERROR, SessionStatus.INVALID_CODE)
        history = record.read_history()
        record.events.emit(
            EventName.SESSION_ERROR if failed else EventName.SESSION_COMPLETED,
            status=outcome,
            best_score=history.best_score if history else None,
            error=error,
        )

    ended = record.end(outcome, error, tell_end)
    if ended and outcome is not SessionStatus.CANCELLED:  # whoever stops a session wants the machine back
        with suppress(EnvironmentProblem):  # a session ends as it ended, with its videos or without
            # Start the job that films all checkpoints, latest iteration first; do not wait for it.
            iterations = reversed(record.iteration_records())
            runs = [run for iteration in iterations for run in iteration.runs() if run.read_summary() is not None]
            if runs and not keeps_videos(ws):
                message = (
                    "The disk is nearly full: the videos of this session were left out, and its checkpoints are kept."
                )
                record.events.emit(EventName.GUARDRAIL, message=message)
            elif runs:
                names = tuple(f"../{run.path.relative_to(record.path)}" for run in runs)
                IterationRecord(record.film_dir).save_film_request(FilmRequest(runs=names))
                ws.background.submit(worker_job("film"), record.film_dir)
    keep_logs(ws, record)
    return record.read_session()
