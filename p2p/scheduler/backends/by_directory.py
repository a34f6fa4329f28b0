"""Dispatch a job to the backend recorded in its directory."""

from pathlib import Path
from typing import Any

from p2p import registry
from p2p.contracts.cluster import Cluster
from p2p.contracts.errors import UnknownName
from p2p.contracts.job import Capabilities, Capacity, JobSpec, JobState, JobStatus
from p2p.contracts.protocols import Backend
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.processes import is_supervised
from p2p.store.clusters import ClusterStore
from p2p.store.nodes import NodeStore
from p2p.store.placed import PlacedJobRecord
from p2p.store.remote import RemoteJobRecord

SOME_CLUSTER = "slurm"
"""Backend of a job whose record is broken: each says so, and asks nobody."""


class ByDirectory:
    """Submit to one backend; look up jobs of any backend.

    A session may be begun on this machine and gone on with on a node or a cluster, or the other way round: what still
    runs where it was started is left there, so nothing runs twice.

    Args:
        backend: what jobs are submitted to.
        store: the nodes that p2p knows; the clusters are beside them.
    """

    def __init__(self, backend: Backend, store: NodeStore) -> None:
        self.backend = backend
        self._store = store
        self._local = LocalBackend()

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of the backend that new jobs go to."""
        return self.backend.capabilities

    def capacity(self, job_memory_mb: int) -> Capacity:
        """Capacity of the backend that new jobs go to."""
        return self.backend.capacity(job_memory_mb)

    def submit(self, spec: JobSpec, directory: Path) -> JobStatus:
        """Start `spec`, unless the job is running on any backend or completed."""
        directory = directory.resolve()
        owner = self._of(directory)
        if owner is self._local:
            return (owner if is_supervised(directory) else self.backend).submit(spec, directory)
        status = owner.status(directory)
        if not status.state.finished or status.state is JobState.COMPLETED:
            return owner.submit(spec, directory)
        if self.backend.capabilities.takes != "cluster":
            PlacedJobRecord(directory).forget()
        if self.backend.capabilities.takes != "nodes":
            RemoteJobRecord(directory).forget()
        return self.backend.submit(spec, directory)

    def status(self, directory: Path) -> JobStatus:
        """Status of the job, from its own backend."""
        return self._of(directory).status(directory)

    def cancel(self, directory: Path) -> JobStatus:
        """End the job and every process it started."""
        return self._of(directory).cancel(directory)

    def logs(self, directory: Path, offset: int = 0) -> tuple[str, int]:
        """Log text from byte `offset` on, and the next offset."""
        return self._of(directory).logs(directory, offset)

    def _of(self, directory: Path) -> Backend:
        """Backend that the job was submitted to."""
        if RemoteJobRecord(directory).elsewhere:
            return _made("ssh", None, self._store)
        record = PlacedJobRecord(directory)
        if not record.elsewhere:
            return self._local
        placed = record.read()
        kind, where = require_backend(placed.backend if placed is not None else SOME_CLUSTER)
        try:
            return _made(kind, where, self._store)
        except UnknownName:  # it was removed while the job ran; its scheduler may still be found
            gone: Backend = _kind(kind)(Cluster(name=where or kind, kind=kind))
            return gone


def open_backend(name: str, store: NodeStore) -> Backend:
    """Backend by its name: "local", "inline", "ssh:attic", "pool:local,attic", "slurm" or "slurm:lab".

    Raises:
        UnknownName: there is no such backend, or no such cluster.
        MissingExtra: what it needs is not installed.
    """
    return ByDirectory(_made(*require_backend(name), store), store)


def runs_here(name: str) -> bool:
    """Whether all jobs of the backend called `name` run on this machine."""
    here: bool = _kind(require_backend(name)[0]).capabilities.here
    return here


def variables_of(name: str) -> tuple[str, ...]:
    """Environment variables that the backend called `name` is reached by."""
    needed: tuple[str, ...] = _kind(require_backend(name)[0]).capabilities.variables
    return needed


def require_backend(name: str) -> tuple[str, str | None]:
    """Parse a backend's name into its kind and what follows the colon.

    Raises:
        UnknownName: there is no such backend.
    """
    kind, _, where = name.partition(":")
    if kind not in registry.BACKENDS or (where and not _kind(kind).capabilities.takes):
        raise UnknownName("backend", name, registry.backend_forms())
    return kind, where or None


def _kind(kind: str) -> Any:
    return registry.load("backend", registry.BACKENDS, kind)


def _made(kind: str, where: str | None, store: NodeStore) -> Backend:
    backend = _kind(kind)
    made: Backend
    match backend.capabilities.takes:
        case "nodes":
            made = backend(where, store)
        case "cluster":
            made = backend(ClusterStore(store.path).find(kind, where))
        case _:
            made = backend()
    return made
