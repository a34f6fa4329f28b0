"""Jobs that the scheduler of a cluster places on its machines, which all see the runs directory.

The truth is the job's directory, as everywhere: our supervisor runs inside the scheduler's job and writes
`status.json`, the log, checkpoints and resume points. The scheduler is asked only for what the directory cannot tell:
that a job waits and why, and that nothing will write any more.

    status.json says completed or failed   that is the end, and nobody is asked
    the scheduler says it waits            queued, with the scheduler's reason
    it says it runs                        as status.json says
    it has let it go                       as status.json says when it is read again; if that is no end and nobody
                                           writes it any more: lost, interrupted, cancelled or failed, by the
                                           scheduler's last word
    it does not answer                     unreachable; what was submitted goes on, and nothing is started twice
"""

import hashlib
import os
import secrets
import shlex
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple

from pydantic import ValidationError

from p2p.contracts.base import Contract
from p2p.contracts.cluster import Cluster, PlacedJob
from p2p.contracts.errors import EnvironmentProblem, InvalidInput, NodeUnreachable
from p2p.contracts.job import Capabilities, Capacity, JobSpec, JobState, JobStatus, WaitsFor
from p2p.scheduler.backends.job_table import Ending, JobTable, Phase, Report, table_of
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.resources import JOB_MEMORY_MB
from p2p.store.clock import now
from p2p.store.placed import PlacedJobRecord

DECIDED = ("P2P_ALLOW_WEAK_SANDBOX", "P2P_RESUME_S")
"""Variables that go along with a job."""
GENTLE_S = 15.0
"""Patience of `cancel` with the job's own supervisor before the scheduler is told to end the job."""
CANCEL_S = 60.0
"""How long `cancel` waits for the end of a job on a cluster that answers."""
ASK_AGAIN_S = 0.2
BEATS_S = 10.0
"""Age of a heartbeat up to which a job lives, whoever is silent: its supervisor writes one every 2 s."""


class Placement(NamedTuple):
    """What a scheduler is asked to run; GPUs and time limits are those of the cluster."""

    name: str
    """By which it is found again; from the job's directory and the submission, so no other job has it."""
    directory: Path
    command: str
    """For a shell on the cluster's machines."""
    log: Path
    """File for what it prints before our supervisor takes over."""
    cores: int
    memory_mb: int


class PlacedBackend(ABC):
    """Base of the backends of schedulers.

    A subclass says how its scheduler is asked; what follows from the answers is here, once. Jobs are known to the
    scheduler by a name that is made from their directory, so that no record can name the job of somebody else, and a
    submission whose answer was lost is found again.

    Args:
        cluster: Which scheduler, and what it is to give each run.

    Raises:
        InvalidInput: the cluster's options are none of this kind.
    """

    capabilities: ClassVar = Capabilities(here=False, takes="cluster")
    Options: ClassVar[type[Contract]] = Contract
    """What only this kind of scheduler knows; `Cluster.options` is one of it."""
    forgotten: ClassVar = Report(Phase.OVER, "the scheduler does not know the job any more")
    """What is said of a job that the scheduler does not know."""
    python: ClassVar[str] = sys.executable
    """Interpreter on its machines, where the cluster names none."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        try:
            self.options = self.Options.model_validate(cluster.options)
        except ValidationError as error:
            known = ", ".join(self.Options.model_fields)
            wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
            raise InvalidInput(
                f"The options of the cluster {cluster.name!r} are wrong: {wrong}. Expected some of {known}."
            ) from error

    @abstractmethod
    def require_client(self) -> None:
        """Refuse early where this machine cannot talk to such a scheduler at all.

        Raises:
            EnvironmentProblem: its client is not installed or not configured.
        """

    @abstractmethod
    def enqueue(self, placement: Placement) -> str:
        """Hand a job to the scheduler.

        Returns:
            Empty when it has it; else why it takes no more jobs now, and the submission is tried again later.

        Raises:
            NodeUnreachable: it does not answer; it may have the job all the same.
            EnvironmentProblem: it refuses the job.
        """

    @abstractmethod
    def ask(self) -> Mapping[str, Report]:
        """What the scheduler says of all jobs of p2p, by name, in one answer.

        Raises:
            NodeUnreachable: it does not answer.
        """

    @abstractmethod
    def end(self, name: str) -> None:
        """Have the scheduler end a job, whatever it does now; nothing if it does not know it.

        Raises:
            NodeUnreachable: it does not answer.
        """

    def started_here(self) -> str:
        """What p2p itself has started on this machine for the cluster and still runs, in words; empty if nothing."""
        return ""

    def stop_started(self, known: Iterable[Path]) -> str:  # noqa: ARG002  most have started nothing
        """End that; jobs that ran by it are interrupted, and go on from their resume points when it runs again.

        Args:
            known: Directories of jobs that may be there, besides those that the scheduler tells of.

        Returns:
            What was ended, as `started_here` says it.
        """
        return ""

    @property
    def scheduler(self) -> Hashable:
        """What tells this scheduler from others of its kind, such as an address; equal ones are asked once."""
        return None

    @property
    def table(self) -> JobTable:
        """What the scheduler said last."""
        return table_of((self.cluster.kind, self.scheduler))

    def report(self, name: str, fresh: bool = False) -> Report:
        """What the scheduler says of a job, `OVER` for one that it does not know; from an answer seconds old at most.

        Args:
            name: Of the job.
            fresh: Whether an answer from before this call will not do.

        Raises:
            NodeUnreachable: it does not answer.
        """
        return self.table.find(name, self.ask, fresh) or self.forgotten

    def capacity(self, job_memory_mb: int = JOB_MEMORY_MB) -> Capacity:  # noqa: ARG002  the scheduler counts memory
        """Number of runs handed over at a time; the scheduler's own queue decides when each begins.

        Raises:
            EnvironmentProblem: this machine cannot talk to the scheduler.
        """
        self.require_client()
        runs = self.cluster.max_runs
        return Capacity(runs=runs, cores=runs * self.cluster.cores, cores_per_run=self.cluster.cores)

    def submit(self, spec: JobSpec, directory: Path) -> JobStatus:
        """Hand `spec` to the scheduler. A live or completed job is left as it is.

        Raises:
            InvalidInput: `spec` has no command or asks for keys, which never leave this machine.
            EnvironmentProblem: the scheduler refuses the job.
            StorageProblem: the directory cannot be written.
        """
        if not spec.argv:
            raise InvalidInput("A job needs a command: expected argv with at least one word.")
        if spec.secrets:
            raise InvalidInput(f"A job on a cluster gets no keys; this one asks for {', '.join(spec.secrets)}.")
        record = PlacedJobRecord(directory.resolve())
        with record.changing():
            if record.elsewhere:
                status = self._next_step(record)
                if status.state is JobState.COMPLETED or not status.state.finished:
                    return status
            placed = PlacedJob(backend=self.cluster.backend, token=secrets.token_hex(4), cores=max(1, spec.cores))
            record.begin(_as_there(spec), placed)
            try:
                return self._hand_over(record, placed)
            except NodeUnreachable as error:
                return _unreachable(record, error)
            except EnvironmentProblem:
                record.forget()
                raise

    def status(self, directory: Path) -> JobStatus:
        """Status of the job, as the table at the top of this file says.

        Raises:
            InvalidInput: `directory` holds no job.
        """
        record = _record(directory)
        placed = record.read()
        status = record.read_status()
        if placed is None:
            return _broken(record)
        if _is_final(placed, status):
            return status
        if placed.submitted and not placed.cancelled and placed.over_since is None:
            try:
                report = self.report(self.name_of(record, placed))
            except NodeUnreachable as error:
                return _unreachable(record, error)
            if report.phase is not Phase.OVER:
                return _live(status, placed, report)
        with record.changing():
            return self._next_step(record)

    def cancel(self, directory: Path) -> JobStatus:
        """End the job and all that it started; return when the scheduler has let it go.

        While the scheduler does not answer the wish is kept, and carried out at the next look that reaches it.

        Raises:
            InvalidInput: `directory` holds no job.
        """
        record = _record(directory)
        deadline = time.monotonic() + CANCEL_S
        with record.changing():
            placed = record.read()
            if placed is not None and not _is_final(placed, record.read_status()):
                record.save(placed.model_copy(update={"cancelled": True}))
        while True:
            status = self.status(record.path)
            if status.state.finished or status.state is JobState.UNREACHABLE or time.monotonic() > deadline:
                return status
            time.sleep(ASK_AGAIN_S)

    def logs(self, directory: Path, offset: int = 0) -> tuple[str, int]:
        """Log text from byte `offset` on, at most 1 MiB, and the next offset.

        Raises:
            InvalidInput: `directory` holds no job, or `offset` is negative.
        """
        return LocalBackend().logs(directory, offset)

    def _next_step(self, record: PlacedJobRecord) -> JobStatus:
        """Do what is due next for a job: the rest of its submission, its cancellation, or the record of its end.

        Args:
            record: The job; the caller holds its lock.
        """
        placed = record.read()
        if placed is None:
            return _broken(record)
        if _is_final(placed, status := record.read_status()):
            return status
        if not placed.submitted and not placed.cancelled and (why_not := self.table.refusal):
            return _waiting(status, why_not)
        try:
            report = self.report(self.name_of(record, placed), fresh=not placed.submitted)
            if placed.submitted or placed.cancelled or report.phase is not Phase.OVER:
                return self._follow(record, placed, report)
            return self._hand_over(record, placed)
        except NodeUnreachable as error:
            return _unreachable(record, error)
        except EnvironmentProblem as error:
            return self._ended(record, placed, JobState.FAILED, str(error))

    def _follow(self, record: PlacedJobRecord, placed: PlacedJob, report: Report) -> JobStatus:
        """Status of a job that was handed over, or whose cancellation came first."""
        if report.phase is Phase.OVER:
            return self._over(record, placed, report)
        if placed.cancelled:
            waited_s = record.end_asked_for_s()
            if report.phase is Phase.WAITING or waited_s > GENTLE_S:
                self.end(self.name_of(record, placed))
                self.table.outdate()
        if placed.over_since is not None or not placed.submitted:
            record.save(placed.model_copy(update={"over_since": None, "submitted": True}))
        return _live(record.read_status(), placed, report)

    def _hand_over(self, record: PlacedJobRecord, placed: PlacedJob) -> JobStatus:
        """Submit a recorded job."""
        python = self.cluster.python or self.python
        words = shlex.join((python, "-m", "p2p.scheduler.foreground", str(record.path), placed.token))
        placement = Placement(
            name=self.name_of(record, placed),
            directory=record.path,
            command="\n".join((*self.cluster.setup, f"exec {self.cluster.wrapper} {words}")),
            log=record.scheduler_log_path,
            cores=max(placed.cores, self.cluster.cores),
            memory_mb=self.cluster.memory_mb,
        )
        if not (why_not := self.table.refusal):
            why_not = self.table.refusal = self.table.through(partial(self.enqueue, placement))
            self.table.outdate()
        if why_not:
            return _waiting(record.read_status(), why_not)
        record.save(placed.model_copy(update={"submitted": True}))
        return _live(record.read_status(), placed, Report(Phase.WAITING))

    def _over(self, record: PlacedJobRecord, placed: PlacedJob, report: Report) -> JobStatus:
        """Status of a job that the scheduler has let go: what was written meanwhile, or what its last word means."""
        status = record.read_status_anew()
        if _is_final(placed, status):
            return status
        if record.beats(BEATS_S):  # it goes on without its scheduler, as after a restart that forgot all jobs
            if placed.cancelled:
                record.end_asked_for_s()
            return status
        if placed.cancelled:
            return self._ended(record, placed, JobState.CANCELLED, None)
        since = placed.over_since or time.time()
        if time.time() - since < self.cluster.settle_s:
            if placed.over_since is None:
                record.save(placed.model_copy(update={"over_since": since}))
            return status.model_copy(update={"state": JobState.RUNNING}) if status.state.finished else status
        known = report != self.forgotten  # a command that was killed while nobody can say why was not at fault
        if status.state is JobState.FAILED and known and report.ending is Ending.UNKNOWN:
            record.save(placed.model_copy(update={"ended": True}))
            return status
        return self._last_word(record, placed, report, status)

    def _last_word(self, record: PlacedJobRecord, placed: PlacedJob, report: Report, status: JobStatus) -> JobStatus:
        """Record the end of a job that left none itself: what the scheduler said of it last."""
        if report.ending is Ending.CANCELLED:
            return self._ended(record, placed, JobState.CANCELLED, f"Ended in {self.cluster.kind}: {report.reason}")
        if report.ending is Ending.FAILED:
            return self._ended(record, placed, JobState.FAILED, report.reason)
        said = f"{self.cluster.kind} let it go: {report.reason}"
        if not status.started_at and (printed := record.scheduler_log()):
            said = f"{said}\n{printed}"
        told_to_end = status.state is JobState.CANCELLED  # by the scheduler: no person wanted it
        return self._ended(record, placed, JobState.LOST, said, told_to_end or report.ending is Ending.INTERRUPTED)

    def _ended(
        self, record: PlacedJobRecord, placed: PlacedJob, state: JobState, error: str | None, interrupted: bool = False
    ) -> JobStatus:
        started_at = record.read_status().started_at
        status = JobStatus(state=state, error=error, started_at=started_at, updated_at=now(), interrupted=interrupted)
        record.save_status(status)
        record.save(placed.model_copy(update={"ended": True}))
        return status

    def name_of(self, record: PlacedJobRecord, placed: PlacedJob) -> str:
        """Name of a job for the scheduler."""
        digest = hashlib.sha256(str(record.path).encode()).hexdigest()[:16]
        return f"p2p-{digest}-{placed.token}"


def _is_final(placed: PlacedJob, status: JobStatus) -> bool:
    """Whether nothing that the scheduler could say changes the status any more.

    A command that was killed may have been so by the scheduler, which ends all processes of a job at once.
    """
    if status.state is JobState.FAILED and status.signal in (signal.SIGTERM, signal.SIGKILL):
        return placed.ended
    return status.state in (JobState.COMPLETED, JobState.FAILED) or (placed.ended and status.state.finished)


def _live(status: JobStatus, placed: PlacedJob, report: Report) -> JobStatus:
    """Status of a job that the scheduler has, from what its directory says."""
    if _is_final(placed, status):
        return status
    if report.phase is Phase.WAITING:
        return _waiting(status, report.reason)
    if status.state in (JobState.RUNNING, JobState.SUBMITTING):
        return status
    return JobStatus(state=JobState.SUBMITTING, updated_at=status.updated_at)


def _waiting(status: JobStatus, reason: str) -> JobStatus:
    """Status of a job that waits for its cluster, from what its directory says."""
    since = status.updated_at
    return JobStatus(state=JobState.QUEUED, error=reason or None, updated_at=since, lacks=WaitsFor.CLUSTER)


def _unreachable(record: PlacedJobRecord, error: Exception) -> JobStatus:
    """Status of a job whose scheduler does not answer; one whose supervisor still writes runs, whoever is silent."""
    status = record.read_status()
    if status.state in (JobState.COMPLETED, JobState.FAILED) or record.beats(BEATS_S):
        return status
    said = f"{str(error).rstrip('.')}. Its jobs there go on; none is started twice."
    return status.model_copy(update={"state": JobState.UNREACHABLE, "error": said})


def _broken(record: PlacedJobRecord) -> JobStatus:
    reason = (
        f"It was submitted to a cluster, and {record.path / 'placed.json'}, which says how, is broken. Delete the "
        "file to give the job up."
    )
    return JobStatus(state=JobState.UNREACHABLE, error=reason)


def _record(directory: Path) -> PlacedJobRecord:
    record = PlacedJobRecord(directory.resolve())
    if not record.has_job():
        raise InvalidInput(f"{directory} is not a job: expected job.json in it, as written by its submission.")
    return record


def _as_there(spec: JobSpec) -> JobSpec:
    """Job with this machine's settings for trainings; cores, turns and priority are the scheduler's to decide."""
    decided = {name: value for name in DECIDED if (value := os.environ.get(name))}
    own = {"cores": 0, "cores_ahead": 0, "line": None, "places": None, "group": None, "niceness": 0}
    return spec.model_copy(update={"env": decided | spec.env, **own})
