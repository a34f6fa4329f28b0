"""Dispatch a job to the backend recorded in its directory."""

from pathlib import Path

from p2p import registry
from p2p.contracts.errors import UnknownName
from p2p.contracts.job import Capacity, JobSpec, JobState, JobStatus
from p2p.contracts.protocols import Backend
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.processes import is_supervised
from p2p.store.nodes import NodeStore
from p2p.store.remote import RemoteJobRecord

REMOTE = "ssh"
TAKES_MACHINES = ("ssh", "pool")
"""Backends whose name may name machines, as in "ssh:attic", and which are built from them; all others run jobs here."""


class ByDirectory:
    """Submit to one backend; look up jobs of any backend.

    A session may be begun on this machine and gone on with on a node, or the other way round: what still runs where it
    was started is left there, so nothing runs twice.

    Args:
        backend: what jobs are submitted to.
        store: the nodes that p2p knows.
    """

    def __init__(self, backend: Backend, store: NodeStore) -> None:
        self.backend = backend
        self._store = store
        self._local = LocalBackend()

    def capacity(self, job_memory_mb: int) -> Capacity:
        """Capacity of the backend that new jobs go to."""
        return self.backend.capacity(job_memory_mb)

    def submit(self, spec: JobSpec, directory: Path) -> JobStatus:
        """Start `spec`, unless the job is running on any backend or completed."""
        record = RemoteJobRecord(directory.resolve())
        if record.elsewhere:
            status = self._remote().status(directory)
            if not status.state.finished or status.state is JobState.COMPLETED:
                return self._remote().submit(spec, directory)
            if isinstance(self.backend, LocalBackend):
                record.forget()
        elif is_supervised(directory):
            return self._local.submit(spec, directory)
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
        return self._remote() if RemoteJobRecord(directory).elsewhere else self._local

    def _remote(self) -> Backend:
        backend: Backend = registry.load("backend", registry.BACKENDS, REMOTE)(None, self._store)
        return backend


def open_backend(name: str, store: NodeStore) -> Backend:
    """Backend by its name: "local", "inline", "ssh", "ssh:attic", "pool" or "pool:local,attic".

    Raises:
        UnknownName: there is no such backend.
        MissingExtra: what it needs is not installed.
    """
    kind, where = require_backend(name)
    made = registry.load("backend", registry.BACKENDS, kind)
    backend: Backend = made(where, store) if kind in TAKES_MACHINES else made()
    return ByDirectory(backend, store)


def runs_here(name: str) -> bool:
    """Whether all jobs of the backend called `name` run on this machine."""
    return name.partition(":")[0] not in TAKES_MACHINES


def require_backend(name: str) -> tuple[str, str | None]:
    """Parse a backend's name into its kind and machines, without loading it.

    Raises:
        UnknownName: there is no such backend.
    """
    kind, _, where = name.partition(":")
    if kind not in registry.BACKENDS or (where and kind not in TAKES_MACHINES):
        raise UnknownName("backend", name, [*registry.BACKENDS, "ssh:NODE", "pool:local,NODE"])
    return kind, where or None
