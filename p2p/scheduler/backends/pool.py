"""Spread jobs over this machine and all nodes."""

from collections import Counter
from pathlib import Path

from p2p.contracts.errors import InvalidInput, NodeUnreachable, UnknownName
from p2p.contracts.job import Capabilities, Capacity, JobSpec, JobState, JobStatus
from p2p.contracts.protocols import Backend
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.backends.ssh import SSHBackend
from p2p.scheduler.nodes.environments import environment
from p2p.scheduler.nodes.links import links
from p2p.scheduler.resources import JOB_MEMORY_MB
from p2p.store.nodes import NodeStore
from p2p.store.remote import RemoteJobRecord

HERE = "local"


class PoolBackend:
    """Give each job to the machine with the most free capacity, never more than it can run.

    A node that is lost keeps its jobs, which are `unreachable`, until it is back or a person gives them up; all others
    go on. How full a machine is, is read from the directories beside the job's, which are the runs of its iteration.

    Args:
        where: names of the machines, with commas; None for this one, which is called "local", and every prepared node.
        store: the nodes that p2p knows.
    """

    capabilities = Capabilities(here=False, takes="nodes", keys=True)

    def __init__(self, where: str | None = None, store: NodeStore | None = None) -> None:
        self.where = where
        self.store = store or NodeStore()

    def capacity(self, job_memory_mb: int = JOB_MEMORY_MB) -> Capacity:
        """Sum of the machines' capacities, with the cores and memory of the smallest machine for one job."""
        each = [backend.capacity(job_memory_mb) for backend in self._machines().values()]
        return Capacity(
            runs=sum(one.runs for one in each),
            cores=sum(one.cores for one in each),
            cores_per_run=min(one.cores_per_run for one in each),
        )

    def submit(self, spec: JobSpec, directory: Path) -> JobStatus:
        """Start `spec` on a machine that answers and has capacity; without one the job is `queued` and not recorded.

        Raises:
            InvalidInput: `spec` has no command, or asks for keys and would leave this machine.
            StorageProblem: the directory cannot be written.
        """
        directory = directory.resolve()
        loads = _loads(directory)
        machines = self._machines()
        free_slots = {
            name: backend.capacity(JOB_MEMORY_MB).runs - loads[name]
            for name, backend in machines.items()
            if not (spec.secrets and name != HERE)
        }
        for name in sorted(free_slots, key=lambda name: (-free_slots[name], name != HERE)):
            if free_slots[name] > 0 and (name == HERE or self._answers(name)):
                if name == HERE:
                    RemoteJobRecord(directory).forget()
                return machines[name].submit(spec, directory)
        return JobStatus(state=JobState.QUEUED)

    def status(self, directory: Path) -> JobStatus:
        """Status of the job, from its machine."""
        return self._of(directory).status(directory)

    def cancel(self, directory: Path) -> JobStatus:
        """End the job and every process it started."""
        return self._of(directory).cancel(directory)

    def logs(self, directory: Path, offset: int = 0) -> tuple[str, int]:
        """Log text from byte `offset` on, and the next offset."""
        return self._of(directory).logs(directory, offset)

    def _machines(self) -> dict[str, Backend]:
        """Machines by name, without those removed since they were named."""
        nodes = self.store.all()
        named = self.where.split(",") if self.where else [HERE, *(n for n, node in nodes.items() if node.facts)]
        present = [name for name in named if name == HERE or name in nodes]
        if not present:
            raise UnknownName("node", named[0], [HERE, *nodes])
        return {name: LocalBackend() if name == HERE else SSHBackend(name, self.store) for name in present}

    def _answers(self, name: str) -> bool:
        try:
            with links(self.store).to(name) as link:
                environment(link)
        except NodeUnreachable:
            return False
        return True

    def _of(self, directory: Path) -> Backend:
        return SSHBackend(None, self.store) if RemoteJobRecord(directory).elsewhere else LocalBackend()


def _loads(directory: Path) -> Counter[str]:
    """Number of unfinished jobs per machine, apart from that of `directory`."""
    loads = Counter[str]()
    siblings = directory.parent.iterdir() if directory.parent.is_dir() else ()
    for path in siblings:
        record = RemoteJobRecord(path)
        if path == directory or not record.has_job():
            continue
        remote = record.read()
        try:
            status = LocalBackend().status(path) if remote is None else record.read_status()
        except InvalidInput:
            continue
        if status is None or not status.state.finished:
            loads[remote.node if remote is not None else HERE] += 1
    return loads
