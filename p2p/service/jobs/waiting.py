"""Reasons why jobs wait: the resource, its holders, and the estimated time."""

from collections.abc import Sequence
from pathlib import Path

from p2p.analysis.pace import seconds_per_step
from p2p.contracts.background import JobKind, JobTicket
from p2p.contracts.job import Holder, JobState, JobStatus, Waiting, WaitsFor
from p2p.contracts.protocols import Backend
from p2p.service.jobs.queue import queue_position
from p2p.store.background import BackgroundDirectory
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import RunsDirectory, session_of


def waits_on_machine(job: JobStatus | None, what: WaitsFor) -> Waiting | None:
    """Reason why a job is queued for cores or for a place to film; None if it is not queued."""
    if job is None or job.state is not JobState.QUEUED:
        return None
    directories = [Path(name) for name in job.waits_for]
    times = [_time_left(IterationRecord(directory)) for directory in directories]
    holders = dict.fromkeys(_holder(directory) for directory in directories)
    estimate = _estimate(times, job.place)
    return Waiting(
        waits_for=what,
        holders=tuple(holders),
        place=job.place,
        since=job.started_at,
        estimate_s=estimate,
    )


def waits_for_turn(runs_dir: Path, backend: Backend, ticket: JobTicket | None) -> Waiting | None:
    """Reason why a background job has no slot yet; None if it has one."""
    if ticket is None or (place := queue_position(runs_dir, backend, ticket.job_id)) is None:
        return None
    jobs = BackgroundDirectory(runs_dir)
    held = [held for job_id in jobs.slot_holders() if (held := jobs.new(job_id).read_ticket()) is not None]
    return Waiting(
        waits_for=WaitsFor.TURN,
        holders=tuple(Holder(runs_dir=str(runs_dir), session_id=one.session_id, job=one.job_id) for one in held),
        place=place,
        since=ticket.created_at,
        estimate_s=_estimate([_time_of_job(runs_dir, one) for one in held], place),
    )


def shared_wait(waits: Sequence[Waiting | None]) -> Waiting | None:
    """Combined reason why all unfinished parts wait; None if one of them runs, or there are none."""
    waiting = [wait for wait in waits if wait is not None]
    if not waiting or len(waiting) < len(waits):
        return None
    first = min(waiting, key=lambda wait: wait.place if wait.place is not None else len(waits))
    holders = dict.fromkeys(holder for wait in waiting for holder in wait.holders)
    since = min((wait.since for wait in waiting if wait.since is not None), default=None)
    return first.model_copy(update={"holders": tuple(holders), "since": since})


def _holder(directory: Path) -> Holder:
    """Owner of the job in a directory."""
    session_id = session_of(directory)
    if session_id is None:
        return Holder(runs_dir=str(directory.parent), session_id=None, job=str(directory))
    session = next(path for path in directory.parents if path.name == session_id)
    return Holder(runs_dir=str(session.parent), session_id=session_id, job=str(directory))


def _estimate(times: Sequence[float | None], place: int | None) -> float | None:
    """Estimated wait at position `place` [s], with one admission per finished holder; None if unknown."""
    known = sorted(time for time in times if time is not None)
    if not known or len(known) < len(times) or place is None:
        return None
    rounds, index = divmod(place - 1, len(known))
    return rounds * known[-1] + known[index]


def _time_of_job(runs_dir: Path, ticket: JobTicket) -> float | None:
    """Remaining time of a job's trainings begun so far [s]."""
    iterations = RunsDirectory(runs_dir).session(ticket.session_id).iteration_records()
    if ticket.kind is JobKind.TRAINING:
        iterations = [iteration for iteration in iterations if iteration.number == ticket.iteration]
    runs = iterations[-1].runs() if iterations else []
    times = [time for run in runs if (time := _time_left(run)) is not None]
    return max(times, default=None)


def _time_left(run: IterationRecord) -> float | None:
    """Remaining training time of a run at its pace so far [s]; None while unknown."""
    try:
        config = run.read_config()
        training, _ = run.parse_scalars()
    except OSError:  # somebody else's directory
        return None
    pace = seconds_per_step(training)
    if config is None or pace is None:
        return None
    return max(0, config.total_timesteps - int(training[-1]["global_step"])) * pace
