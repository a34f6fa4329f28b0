"""What background jobs ask for in the queue of the machine, and why they and their trainings wait, and how long.

`p2p/scheduler/machine_queue.py` keeps the queue.
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from p2p.contracts.background import JobKind
from p2p.contracts.job import Holder, JobSpec, JobState, JobStatus, Waiting, WaitsFor
from p2p.scheduler import machine_queue
from p2p.service.jobs.time_left import training_time_left
from p2p.service.workspace import Workspace
from p2p.store.background import BackgroundRecord
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import RunsDirectory, SessionRecord, session_of


def in_turn(ws: Workspace, record: SessionRecord, spec: JobSpec, *, trains_here: bool = False) -> JobSpec:
    """Background job that waits for its turn in its runs directory.

    Args:
        record: Session that it works for.
        spec: What it runs.
        trains_here: Whether it begins with trainings on this machine: then it waits for a core too, at the same time.
    """
    digest = hashlib.sha256(str(ws.runs.path.resolve()).encode()).hexdigest()[:16]
    turn = {"line": f"{WaitsFor.TURN}_{digest}", "places": ws.settings.max_jobs, "group": _group(record)}
    return spec.model_copy(update=turn | {"cores_ahead": int(trains_here)})


def let_others_go(record: SessionRecord) -> None:
    """Give up the place in the queue that a job of the session kept for its first trainings."""
    with suppress(OSError):  # the queue is not ours: nothing waits there
        machine_queue.withdraw(_group(record))


def _group(record: SessionRecord) -> str:
    return str(record.path.resolve())


def waiting_of(status: JobStatus | None, what: WaitsFor, since: str | None = None) -> Waiting | None:
    """Reason why a job waits; None if it does not.

    Args:
        status: Of the job; None if there is none.
        what: What it waits for where its status does not say: it waits on another machine, or to be submitted.
        since: When it began to wait; None for the start of its process.
    """
    if status is None or status.state is not JobState.QUEUED:
        return None
    directories = [Path(name) for name in status.waits_for]
    return Waiting(
        waits_for=status.lacks or what,
        holders=tuple(dict.fromkeys(holder_of(directory) for directory in directories)),
        place=status.place,
        since=since or status.started_at,
        estimate_s=estimated_wait([_time_left(directory) for directory in directories], status.place),
        reason=(status.error or "") if status.lacks is WaitsFor.CLUSTER else "",
    )


def estimated_wait(times: Sequence[float | None], place: int | None) -> float | None:
    """Time until a place in the queue is served, if each holder that ends lets one in [s]; None if unknown.

    Args:
        times: Remaining time of each holder [s]; None where its pace is not known.
        place: Place in the queue, from 1; None if it is not known.
    """
    known = sorted(time for time in times if time is not None)
    if not known or len(known) < len(times) or place is None:
        return None
    rounds, index = divmod(place - 1, len(known))
    return rounds * known[-1] + known[index]


def shared_wait(waits: Sequence[Waiting | None]) -> Waiting | None:
    """Combined reason why all unfinished parts wait; None if one of them runs, or there are none."""
    waiting = [wait for wait in waits if wait is not None]
    if not waiting or len(waiting) < len(waits):
        return None
    first = min(waiting, key=lambda wait: wait.place if wait.place is not None else len(waits))
    holders = dict.fromkeys(holder for wait in waiting for holder in wait.holders)
    since = min((wait.since for wait in waiting if wait.since is not None), default=None)
    return first.model_copy(update={"holders": tuple(holders), "since": since})


def holder_of(directory: Path) -> Holder:
    """Owner of the job in a directory."""
    ticket = BackgroundRecord(directory).read_ticket()
    job = ticket.job_id if ticket is not None else str(directory)
    session_id = ticket.session_id if ticket is not None else session_of(directory)
    runs_dir = directory.parent if session_id is None else _runs_dir(directory)
    return Holder(runs_dir=str(runs_dir), session_id=session_id, job=job)


def _runs_dir(directory: Path) -> Path:
    """Runs directory of a job that works for a session: it lies in the session, or with all background jobs."""
    session_id = session_of(directory)
    return next((path.parent for path in directory.parents if path.name == session_id), directory.parents[1])


def _time_left(directory: Path) -> float | None:
    """Remaining time of the trainings of a job, or of the one in its directory, at their pace so far [s]."""
    ticket = BackgroundRecord(directory).read_ticket()
    if ticket is None:
        return _time_of_run(IterationRecord(directory))
    # Remaining time of a job's trainings begun so far [s].
    iterations = RunsDirectory(_runs_dir(directory)).session(ticket.session_id).iteration_records()
    if ticket.kind is JobKind.TRAINING:
        iterations = [iteration for iteration in iterations if iteration.number == ticket.iteration]
    runs = iterations[-1].runs() if iterations else []
    times = [time for run in runs if (time := _time_of_run(run)) is not None]
    return max(times, default=None)


def _time_of_run(run: IterationRecord) -> float | None:
    """Remaining training time of a run at its pace so far [s]; None while unknown."""
    try:
        return training_time_left(run, *run.parse_scalars())
    except OSError:  # somebody else's directory
        return None
