"""Clusters whose schedulers run trainings."""

import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from p2p import registry
from p2p.contracts.cluster import Cluster
from p2p.contracts.errors import Busy, EnvironmentProblem, InvalidInput, MissingExtra, NodeUnreachable, UnknownName
from p2p.contracts.job import JobState, JobStatus
from p2p.contracts.node import ClusterView, NodeState, StoppedCluster
from p2p.contracts.remedies import Remedy
from p2p.contracts.sandbox import SandboxReport
from p2p.scheduler.backends.by_directory import open_backend
from p2p.scheduler.backends.job_table import Phase
from p2p.service.jobs.worker_jobs import worker_job
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.clusters import ClusterStore
from p2p.store.job_records import read_sandbox_report
from p2p.store.placed import placed_jobs

if TYPE_CHECKING:
    from p2p.scheduler.backends.placed import PlacedBackend

PATIENCE_S = 300.0
"""How long a check waits in the cluster's queue."""
POLL_S = 0.5


def add_cluster(ws: Workspace, cluster: Cluster) -> ClusterView:
    """Save a new cluster; nothing is sent to it.

    Raises:
        UnknownName: there is no scheduler of its kind.
        InvalidInput: there is another of its name, or an option is none of its scheduler's.
    """
    if cluster.kind not in registry.cluster_kinds():
        raise UnknownName("kind of cluster", cluster.kind, registry.cluster_kinds())
    _backend(cluster)
    _store(ws).add(cluster)
    return _view(ws, cluster)


def list_clusters(ws: Workspace) -> tuple[ClusterView, ...]:
    """All clusters by name, with what this machine lacks to reach them; their schedulers are not asked."""
    return tuple(_view(ws, cluster) for _, cluster in sorted(_store(ws).all().items()))


def check_cluster(
    ws: Workspace, name: str, patience_s: float = PATIENCE_S, tick: Callable[[JobStatus], None] = lambda _: None
) -> ClusterView:
    """Run a job of about a second on a cluster: it starts p2p's worker there, which tells how it is confined.

    Args:
        name: Of a cluster; or the kind of one that was not added and has default settings.
        patience_s: How long the job may wait and run [s]; then it is cancelled.
        tick: Called with the job's status while it waits and runs.

    Raises:
        UnknownName: there is no such cluster.
    """
    cluster = _cluster(ws, name)
    place = ws.runs.path / ".clusters" / f"{name}-{secrets.token_hex(4)}"
    try:
        return _checked(ws, cluster, place, patience_s, tick)
    except NodeUnreachable as error:
        return _view(ws, cluster, NodeState.UNREACHABLE, str(error))
    except EnvironmentProblem as error:
        return _view(ws, cluster, NodeState.NOT_READY, str(error))
    finally:
        files.discard(place)


def remove_cluster(ws: Workspace, name: str) -> None:
    """Forget a cluster.

    Raises:
        UnknownName: there is none of its name.
        InvalidInput: jobs of this runs directory have not ended there.
    """
    cluster = _cluster(ws, name)
    if live := _live_jobs(ws, cluster):
        raise Busy(
            f"{len(live)} jobs have not ended on {name}, the first is {live[0]}. "
            f"Wait for them, or stop their sessions: {Remedy.STOP.of(session=live[0].parent.parent.name)}"
        )
    if started := _backend(cluster).started_here():
        raise Busy(f"p2p has started {started} for {name}. Stop it first: {Remedy.STOP_CLUSTER.of(cluster=name)}")
    _store(ws).remove(name)


def stop_cluster(ws: Workspace, name: str, interrupt: bool = False) -> StoppedCluster:
    """End what p2p itself has started on this machine for a cluster, such as a local Ray; nothing that others started.

    Args:
        name: Of a cluster.
        interrupt: Whether trainings that have not ended there are interrupted. They go on from their resume points when
            the cluster runs again; those of other runs directories too.

    Raises:
        UnknownName: there is no such cluster.
        Busy: trainings have not ended there, or it does not say whether they have.
    """
    cluster = _cluster(ws, name)
    backend = _backend(cluster)
    if not backend.started_here():
        return StoppedCluster(cluster=name, stopped="")
    if not interrupt:
        _require_idle(ws, cluster, backend)
    live = _live_jobs(ws, cluster)
    stopped = backend.stop_started(live)
    return StoppedCluster(cluster=name, stopped=stopped, interrupted=tuple(map(str, live)))


def _require_idle(ws: Workspace, cluster: Cluster, backend: "PlacedBackend") -> None:
    """Refuse where trainings have not ended on a cluster, in this runs directory or another.

    Raises:
        Busy: they have not, or the scheduler does not say.
    """
    even_so = Remedy.INTERRUPT_CLUSTER.of(cluster=cluster.name)
    if live := _live_jobs(ws, cluster):
        raise Busy(
            f"{len(live)} trainings have not ended on {cluster.name}, the first is {live[0]}. Wait for them, or stop "
            f"their sessions: {Remedy.STOP.of(session=live[0].parent.parent.name)} To interrupt them: {even_so}"
        )
    try:
        others = [job for job, report in backend.ask().items() if report.phase is not Phase.OVER]
    except NodeUnreachable as error:
        raise Busy(
            f"Whether trainings run on {cluster.name} is not known: {error} To stop it anyway: {even_so}"
        ) from error
    if others:
        raise Busy(
            f"{len(others)} jobs that were not started from {ws.runs.path} have not ended on {cluster.name}, the first "
            f"is {others[0]}. Wait for them; to interrupt them: {even_so}"
        )


def _checked(
    ws: Workspace, cluster: Cluster, place: Path, patience_s: float, tick: Callable[[JobStatus], None]
) -> ClusterView:
    backend = open_backend(cluster.backend, ws.node_store)
    backend.capacity(cluster.memory_mb)
    deadline = time.monotonic() + patience_s
    status = backend.submit(worker_job("sandbox"), place)
    while not status.state.finished and time.monotonic() < deadline:
        tick(status)
        time.sleep(POLL_S)
        status = backend.status(place)
    if not status.state.finished:
        waits = f" ({status.error})" if status.error else ""
        backend.cancel(place)
        raise EnvironmentProblem(f"After {patience_s:.0f} s a job of one second was {status.state}{waits}.")
    if status.state is not JobState.COMPLETED:
        raise EnvironmentProblem(f"A job of one second {status.state}: {status.error or 'no reason was given'}")
    if (report := read_sandbox_report(place)) is None:
        raise EnvironmentProblem(f"A job of one second left no answer in {place}. Does the cluster share this disk?")
    return _view(ws, cluster, NodeState.READY, report=report)


def _cluster(ws: Workspace, name: str) -> Cluster:
    known = _store(ws).all()
    if name not in known and name in registry.cluster_kinds():
        return _store(ws).find(name, None)
    if name not in known:
        raise UnknownName("cluster", name, [*known, *registry.cluster_kinds()])
    return known[name]


def _backend(cluster: Cluster) -> "PlacedBackend":
    made: PlacedBackend = registry.load("backend", registry.BACKENDS, cluster.kind)(cluster)
    return made


def _view(
    ws: Workspace,
    cluster: Cluster,
    state: NodeState | None = None,
    problem: str = "",
    report: SandboxReport | None = None,
) -> ClusterView:
    if state is None:
        try:
            _backend(cluster).require_client()
        except (EnvironmentProblem, MissingExtra, InvalidInput) as error:
            state, problem = NodeState.NOT_READY, str(error)
    return ClusterView(
        cluster=cluster,
        backend=cluster.backend,
        state=state,
        problem=problem,
        sandbox=str(report.level) if report is not None else None,
        jobs=len(_live_jobs(ws, cluster)),
    )


def _live_jobs(ws: Workspace, cluster: Cluster) -> list[Path]:
    """Jobs of this runs directory on a cluster that have not ended, as far as their directories tell."""
    return [
        record.path
        for record in placed_jobs(ws.runs.path)
        if (placed := record.read()) is not None
        and placed.backend == cluster.backend
        and not record.read_status().state.finished
    ]


def _store(ws: Workspace) -> ClusterStore:
    return ClusterStore(ws.node_store.path)
