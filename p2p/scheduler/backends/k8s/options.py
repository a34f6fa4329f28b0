"""What only a Kubernetes cluster knows, given by `p2p clusters add NAME k8s --set …`."""

from pathlib import PurePosixPath

from pydantic import Field, JsonValue, field_validator

from p2p.contracts.base import Contract

OURS = ("containers", "volumes", "restartPolicy", "activeDeadlineSeconds")
"""Fields of a pod that p2p writes itself."""


class KubernetesOptions(Contract):
    """Where jobs run, and what their pods are given besides cores, memory and GPUs."""

    context: str | None = None
    """Context of the kubeconfig; None takes its current one or, in a pod without kubeconfig, the pod's own account."""
    namespace: str | None = None
    """None takes the context's."""
    image: str | None = None
    """Image that has p2p with its extra `train`, as the Dockerfile builds it."""
    claim: str | None = None
    """PersistentVolumeClaim that holds the runs directory."""
    mount: str | None = None
    """Where a pod finds the claim: the path at which this machine sees the same files."""
    host_path: str | None = None
    """Directory of the node that is mounted in place of a claim: for clusters of one machine."""
    service_account: str | None = None
    """None takes the namespace's; its token is not given to the pod."""
    labels: dict[str, str] = Field(default={})
    """Labels of a Job, such as the queue that Kueue takes it from: {"kueue.x-k8s.io/queue-name": "robots"}."""
    pod: dict[str, JsonValue] = Field(default={})
    """Further fields of a pod's `spec`, such as nodeSelector, tolerations, imagePullSecrets, securityContext."""
    ttl_s: int = Field(default=86_400, ge=60)
    """How long Kubernetes keeps a Job that has ended [s]."""

    @field_validator("mount", "host_path")
    @classmethod
    def _absolute(cls, path: str | None) -> str | None:
        if path is not None and not PurePosixPath(path).is_absolute():
            raise ValueError(f"expected an absolute path, got {path!r}")
        return path

    @field_validator("pod")
    @classmethod
    def _without_ours(cls, pod: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if taken := [name for name in OURS if name in pod]:
            raise ValueError(f"{', '.join(taken)} cannot be given, p2p writes it itself")
        return pod

    @property
    def mounted_at(self) -> str | None:
        """Path at which pods and this machine see the runs directory's volume; None if that was not said."""
        return self.mount or self.host_path
