"""Run jobs on another machine; the local job directory mirrors the remote one.

Everything is found from the job's directory: `remote.json` names the node and the directory there. Each look
at the job does what is due next, be it the rest of a submission, a cancellation, or the fetching of what has come out.
"""

import getpass
import os
import posixpath
import re
import secrets
import socket
import time
from contextlib import suppress
from pathlib import Path

from p2p.contracts.errors import EnvironmentProblem, InvalidInput, NodeUnreachable, P2PError, StorageProblem
from p2p.contracts.job import Capabilities, Capacity, JobSpec, JobState, JobStatus
from p2p.contracts.node import Node, RemoteJob
from p2p.contracts.remedies import Remedy
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.nodes.environments import environment
from p2p.scheduler.nodes.links import links
from p2p.scheduler.nodes.remote_job import RemoteJobHandle
from p2p.scheduler.resources import JOB_MEMORY_MB, cores_of_a_training
from p2p.store.clock import now
from p2p.store.nodes import NodeStore
from p2p.store.remote import RemoteJobRecord

LOOK_S = 0.5
"""A job is looked at no more often, whoever asks [s]."""
DECIDED = ("P2P_ALLOW_WEAK_SANDBOX", "P2P_RESUME_S")
"""Variables that go to a node along with a job."""
CANCEL_S = 45.0
"""How long `cancel` waits for the end of a job on a node that answers [s]."""


class SSHBackend:
    """Backend for one node; stateless apart from open connections.

    Args:
        where: name of the node that jobs are submitted to; None where there is only one.
        store: the nodes that p2p knows.
    """

    capabilities = Capabilities(here=False, takes="nodes", copies=True)

    def __init__(self, where: str | None = None, store: NodeStore | None = None) -> None:
        self.where = where
        self.store = store or NodeStore()
        self.links = links(self.store)

    def capacity(self, job_memory_mb: int = JOB_MEMORY_MB) -> Capacity:
        """Capacity of the node."""
        return capacity_of(self.node(), job_memory_mb)

    def node(self) -> Node:
        """Node that jobs are submitted to.

        Raises:
            UnknownName: there is none of its name.
            InvalidInput: none was named, and there is not exactly one.
        """
        nodes = self.store.all()
        if self.where is None and len(nodes) == 1:
            return next(iter(nodes.values()))
        if self.where is None:
            known = ", ".join(nodes) or f"none yet; add one with {Remedy.ADD_NODE.of()}"
            raise InvalidInput(f"Which node? Expected ssh:NAME. Known: {known}.")
        return self.store.get(self.where)

    def submit(self, spec: JobSpec, directory: Path) -> JobStatus:
        """Upload the files of `directory` and start `spec` on the node; its files are copied back.

        A job that lives, or may live on a node that is out of reach, and one that is completed is left as it is.

        Raises:
            InvalidInput: `spec` has no command or asks for keys, which never leave this machine.
            EnvironmentProblem: the node is not prepared.
            StorageProblem: the directory cannot be written.
        """
        if not spec.argv:
            raise InvalidInput("A job needs a command: expected argv with at least one word.")
        if spec.secrets:
            raise InvalidInput(f"A job on a node gets no keys; this one asks for {', '.join(spec.secrets)}.")
        record = RemoteJobRecord(directory.resolve())
        with record.mirroring(wait=True):
            earlier = record.read()
            status = _last(record)
            if earlier is None and record.elsewhere:
                return status
            if earlier is not None and not self.store.is_sealed(earlier):
                raise InvalidInput(_foreign(record))
            if earlier is not None and not status.state.finished:
                return self._look(record, earlier)
            if status.state is JobState.COMPLETED:
                return status
            node = self.node()
            with suppress(NodeUnreachable), self.links.to(node.name) as link:
                environment(link)  # what a person must put right is said before anything is recorded
            remote = self.store.sealed(_placed(node, record, earlier))
            # Job with this machine's settings for all trainings; on a node it runs at normal priority.
            decided = {name: value for name in DECIDED if (value := os.environ.get(name))}
            record.begin(spec.model_copy(update={"env": decided | spec.env, "niceness": 0, "group": None}), remote)
            return self._look(record, remote)

    def status(self, directory: Path) -> JobStatus:
        """Status of the job; while its node does not answer it is `unreachable` since `updated_at`, and may go on.

        Raises:
            InvalidInput: `directory` holds no job.
        """
        return self._status(_record(directory), LOOK_S)

    def cancel(self, directory: Path) -> JobStatus:
        """End the job and its processes; if the node is out of reach, keep the request until it answers.

        Raises:
            InvalidInput: `directory` holds no job.
        """
        record = _record(directory)
        status = self._status(record, 0.0)
        if not status.state.finished:
            record.want_cancelled()
        deadline = time.monotonic() + CANCEL_S
        while not status.state.finished and time.monotonic() < deadline:
            status = self._status(record, 0.0)
            if status.state is JobState.UNREACHABLE:
                break
            time.sleep(0.0 if status.state.finished else 0.1)
        return status

    def logs(self, directory: Path, offset: int = 0) -> tuple[str, int]:
        """Log text from byte `offset` on, at most 1 MiB, and the next offset.

        Raises:
            InvalidInput: `directory` holds no job, or `offset` is negative.
        """
        self.status(directory)
        return LocalBackend().logs(directory, offset)

    def _status(self, record: RemoteJobRecord, fresh_s: float) -> JobStatus:
        if (last := _last(record)).state.finished:
            return last
        if (remote := record.read()) is not None and not self.store.is_sealed(remote):
            return JobStatus(state=JobState.UNREACHABLE, error=_foreign(record))
        with record.mirroring() as mine:
            last = _last(record)
            remote = record.read()
            if remote is None or not mine or last.state.finished or record.looked_at(fresh_s):
                return last
            return self._look(record, remote)

    def _look(self, record: RemoteJobRecord, remote: RemoteJob) -> JobStatus:
        """Poll the job and do what is due; reopen a link lost since its last use."""
        record.note_look()
        try:
            for last_try in (False, True):
                try:
                    with self.links.to(remote.node) as link:
                        return self._step(record, RemoteJobHandle(record, remote, link))
                except NodeUnreachable:
                    if last_try:
                        raise
                    remote = record.read() or remote
        except (P2PError, OSError) as error:
            # Record that a job is out of reach, with the time of the first failure.
            last = record.read_status()
            known = last is not None and last.state is JobState.UNREACHABLE
            status = JobStatus(
                state=JobState.UNREACHABLE,
                error=f"{error} Its jobs there go on; none is restarted automatically. If {remote.node} will not come "
                f"back: {Remedy.REMOVE_NODE.of(node=remote.node)}",
                started_at=last.started_at if last is not None else None,
                updated_at=last.updated_at if known and last is not None else now(),
            )
            with suppress(StorageProblem):  # it may be this very disk that is full
                record.save_status(status)
            return status
        raise AssertionError("one of two tries returns or raises")

    def _step(self, record: RemoteJobRecord, job: RemoteJobHandle) -> JobStatus:
        if record.cancel_wanted:
            status = job.cancel()
        elif not job.remote.submitted:
            status = job.start()
        else:
            status = job.status()
        if not status.state.finished:
            job.mirror()
        elif status.state is not JobState.LOST or status.started_at:
            status = status if job.fetch() else JobStatus(state=JobState.RUNNING, error="fetching its files again")
        if status.state.finished:
            record.save(job.remote.model_copy(update={"ended": status}))
        record.save_status(status)
        if status.state.finished and status.state is not JobState.LOST:
            with suppress(P2PError, OSError):  # it takes some room there, and all of it is here
                job.discard()
        return status


def capacity_of(node: Node, job_memory_mb: int) -> Capacity:
    """Capacity of a node, from its probe."""
    if node.facts is None:
        raise EnvironmentProblem(
            f"{node.name} is not prepared yet. To prepare it: {Remedy.PREPARE_NODE.of(node=node.name)}"
        )
    if (cluster := node.cluster) is not None:
        runs = node.max_runs or cluster.max_runs
        return Capacity(runs=runs, cores=runs * cluster.cores, cores_per_run=cluster.cores)
    cores = node.facts.cores
    free = node.facts.memory_free_mb
    runs = node.max_runs or max(1, cores if free is None else min(cores, free // job_memory_mb))
    return Capacity(runs=runs, cores=cores, cores_per_run=cores_of_a_training(cores))


def _placed(node: Node, record: RemoteJobRecord, earlier: RemoteJob | None) -> RemoteJob:
    """Remote job directory: the previous one if a lost job's files are still on the same node."""
    lost = earlier is not None and (earlier.ended is None or earlier.ended.state is JobState.LOST)
    if earlier is not None and lost and earlier.node == node.name:
        return RemoteJob(node=node.name, path=earlier.path, number=earlier.number + 1)
    if node.facts is None:
        raise EnvironmentProblem(
            f"{node.name} is not prepared yet. To prepare it: {Remedy.PREPARE_NODE.of(node=node.name)}"
        )
    words = re.sub(r"[^a-zA-Z0-9_-]+", "-", f"{getpass.getuser()}-{socket.gethostname()}-{record.path.name}")
    name = f"{words[:80]}-{secrets.token_hex(8)}"
    return RemoteJob(node=node.name, path=posixpath.join(node.facts.root, "jobs", name))


def _record(directory: Path) -> RemoteJobRecord:
    record = RemoteJobRecord(directory.resolve())
    if not record.has_job():
        raise InvalidInput(f"{directory} is not a job: expected job.json in it, as written by its submission.")
    return record


def _foreign(record: RemoteJobRecord) -> str:
    """Reason to leave a job alone whose `remote.json` another user wrote: it may name any directory of a node."""
    return (
        f"{record.path / 'remote.json'} was not written by this installation of p2p (a copied session, or an "
        "earlier version), so nothing is sent to the node it names. Delete the file to give the job up."
    )


def _last(record: RemoteJobRecord) -> JobStatus:
    """Status at the last poll; a recorded end wins, since the remote copy may be gone by then."""
    status = record.read_status()
    remote = record.read()
    if remote is None and record.elsewhere:
        reason = (
            f"It runs on a node, and {record.path / 'remote.json'}, which names the node, is broken. Delete the file "
        )
        return JobStatus(state=JobState.UNREACHABLE, error=reason + "to give the job up.")
    if status is None and remote is not None and remote.ended is not None:
        return remote.ended
    return status or JobStatus(state=JobState.QUEUED)
