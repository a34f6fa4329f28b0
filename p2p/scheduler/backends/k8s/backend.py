"""Jobs of a Kubernetes cluster whose pods mount the runs directory."""

import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from pathlib import PurePath
from typing import Any, ClassVar, TypeVar

from p2p.contracts.errors import EnvironmentProblem, NodeUnreachable
from p2p.contracts.job import Capabilities, Capacity
from p2p.scheduler.backends.job_table import Ending, Phase, Report
from p2p.scheduler.backends.k8s.api_server import PAGE, ApiServer, kubeconfig
from p2p.scheduler.backends.k8s.manifest import APP, job_manifest
from p2p.scheduler.backends.k8s.options import KubernetesOptions
from p2p.scheduler.backends.k8s.reports import is_stuck, reports
from p2p.scheduler.backends.placed import PlacedBackend, Placement
from p2p.scheduler.resources import JOB_MEMORY_MB

T = TypeVar("T")
LABELS = ",".join(f"{name}={value}" for name, value in APP.items())
WATCHED_S = 60.0
"""A job that had not ended less than so long ago [s], and is gone, was deleted: Kubernetes keeps ended ones longer."""
UNKNOWN = Report(Phase.OVER, "Kubernetes does not know its Job any more: it was deleted, or ended long ago")
DELETED = Report(Phase.OVER, "somebody deleted its Job", Ending.CANCELLED)


class _Namespace:
    """Jobs of a namespace."""

    def __init__(self, *where: str | None) -> None:
        self._where = where
        self._server: ApiServer | None = None
        self._jobs: dict[str, Report] = {}
        self._gone: dict[str, Report] = {}
        self._asked = float("-inf")

    def connect(self) -> ApiServer:
        """The API server, as the kubeconfig described it when it was asked first, or failed last.

        Raises:
            MissingExtra: the client is not installed.
            EnvironmentProblem: the kubeconfig is absent, or lacks the context.
        """
        if self._server is None:
            self._server = ApiServer(*self._where)
        return self._server

    def create(self, manifest: dict[str, Any]) -> str:
        """Create a Job, as `ApiServer.create_job` does."""
        return self._through(lambda server: server.create_job(manifest))

    def delete(self, name: str) -> None:
        """Delete a Job, as `ApiServer.delete_job` does."""
        self._through(lambda server: server.delete_job(name))

    def ask(self) -> dict[str, Report]:
        """What the API server says of all jobs, and what became of those that it has listed before.

        Raises:
            NodeUnreachable: the API server does not answer.
            EnvironmentProblem: it refuses.
        """
        watched = time.time() - self._asked < WATCHED_S
        listed, pods = self._through(lambda server: (server.jobs(LABELS), server.pods(LABELS)))
        warnings = []
        if is_stuck(listed, pods):
            with suppress(EnvironmentProblem):  # who may not see events is not told why it takes so long
                warnings = self.connect().warnings()
        jobs = reports(listed, pods, warnings)
        for name in self._jobs.keys() - jobs.keys():
            last = self._jobs[name]
            self._gone[name] = last if last.phase is Phase.OVER else DELETED if watched else UNKNOWN
        self._asked = time.time()
        self._jobs = jobs
        return {**self._gone, **jobs}

    def _through(self, call: Callable[[ApiServer], T]) -> T:
        """Answer of the API server. One that refuses is asked once more as the kubeconfig is now: renewed credentials
        are taken without a restart."""
        remembered = self._server
        try:
            return call(self.connect())
        except EnvironmentProblem as error:
            self._server = None
            if remembered is None or isinstance(error, NodeUnreachable):
                raise
        return call(self.connect())


_NAMESPACES: dict[tuple[str | None, str | None, str | None], _Namespace] = {}
"""By kubeconfig, context and namespace: one for all backends of this process."""


class KubernetesBackend(PlacedBackend):
    """Backend "k8s", or "k8s:NAME" for a cluster that was added."""

    capabilities: ClassVar = Capabilities(
        here=False,
        takes="cluster",
        variables=("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "AWS_PROFILE"),
    )
    Options = KubernetesOptions
    options: KubernetesOptions
    forgotten: ClassVar = UNKNOWN
    python: ClassVar = "python"

    def require_client(self) -> None:
        """Refuse where the client, its configuration, the image or the volume is missing.

        Raises:
            MissingExtra: the client is not installed.
            EnvironmentProblem: there is no kubeconfig, or the cluster's options do not say what to run, or where.
        """
        options = self.options
        if options.image is None or not (options.claim or options.host_path) or options.mounted_at is None:
            raise EnvironmentProblem(
                f"The cluster {self.cluster.name!r} lacks an image, or the volume of the runs directory. "
                f"Add it with image=…, claim=… and mount=…, see {PAGE}."
            )
        self._namespace().connect()

    def capacity(self, job_memory_mb: int = JOB_MEMORY_MB) -> Capacity:
        """Number of runs handed over at a time, if p2p may list jobs.

        Raises:
            MissingExtra: the client is not installed.
            EnvironmentProblem: the cluster is not configured, or its API server refuses us.
        """
        capacity = super().capacity(job_memory_mb)
        with suppress(NodeUnreachable):  # one that is silent may answer later; one that refuses will not
            self._namespace().ask()
        return capacity

    def enqueue(self, placement: Placement) -> str:
        """Create a Job.

        Raises:
            MissingExtra: the client is not installed.
            NodeUnreachable: the API server does not answer.
            EnvironmentProblem: it refuses the job, or the volume does not hold the job's directory.
        """
        self.require_client()
        mount = self.options.mounted_at or ""
        if not placement.directory.is_relative_to(PurePath(mount)):
            raise EnvironmentProblem(
                f"Pods of {self.cluster.name} see {mount} alone, and {placement.directory} is not in it. "
                f"Use a runs directory below {mount}, or add the cluster again with another mount=…"
            )
        return self._namespace().create(job_manifest(placement, self.cluster, self.options))

    def ask(self) -> dict[str, Report]:
        """What the API server says of all jobs.

        Raises:
            NodeUnreachable: the API server does not answer, or does not let us see jobs.
        """
        try:
            return self._namespace().ask()
        except NodeUnreachable:
            raise
        except EnvironmentProblem as error:  # the jobs may go on all the same
            raise NodeUnreachable(str(error)) from error

    @property
    def scheduler(self) -> Hashable:
        """Kubeconfig, context and namespace."""
        return kubeconfig(), self.options.context, self.options.namespace

    def end(self, name: str) -> None:
        """Delete a Job; its pods are told to end, and it is listed until they have.

        Raises:
            NodeUnreachable: the API server does not answer, or does not let us delete jobs.
        """
        try:
            self._namespace().delete(name)
        except NodeUnreachable:
            raise
        except EnvironmentProblem as error:  # its supervisor has been told to end it
            raise NodeUnreachable(str(error)) from error

    def _namespace(self) -> _Namespace:
        key = kubeconfig(), self.options.context, self.options.namespace
        if key not in _NAMESPACES:
            _NAMESPACES[key] = _Namespace(*key)
        return _NAMESPACES[key]
