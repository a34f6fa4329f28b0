"""Job that Kubernetes is asked to run: one pod, replaced when it is evicted, and never tried again when it fails."""

import os
import shlex
from typing import Any

from p2p.contracts.cluster import Cluster
from p2p.scheduler.backends.k8s.options import KubernetesOptions
from p2p.scheduler.backends.placed import Placement

APP = {"app": "p2p"}
"""Label of everything that p2p creates, by which it is listed."""
GRACE_S = 60
"""Time from SIGTERM to SIGKILL: a training has 25 s of it for its rollout and its resume point, the rest
is for a slow volume."""
VOLUME = "runs"


def job_manifest(placement: Placement, cluster: Cluster, options: KubernetesOptions) -> dict[str, Any]:
    """Manifest of a batch/v1 Job.

    A pod that is drained, preempted or pushed off a full node has the condition DisruptionTarget: it is replaced, and
    the training goes on from its resume point. Any other end of the pod ends the Job.
    """
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": placement.name,
            "labels": options.labels | APP,
            "annotations": {"p2p/directory": str(placement.directory)},
        },
        "spec": {
            "backoffLimit": 0,
            "podFailurePolicy": {
                "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
            },
            "ttlSecondsAfterFinished": options.ttl_s,
            "template": {"metadata": {"labels": APP}, "spec": _pod(placement, cluster, options)},
        },
    }


def _pod(placement: Placement, cluster: Cluster, options: KubernetesOptions) -> dict[str, Any]:
    user = os.getuid()  # the files are shared with this machine, and so is their owner
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": GRACE_S,
        # code that a model wrote runs in the pod: it has no way to the API server
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsUser": user,
            "runAsGroup": os.getgid(),
            "runAsNonRoot": user != 0,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(placement, cluster, options)],
        "volumes": [{"name": VOLUME, **_source(options)}],
    }
    if cluster.time_limit_min is not None:
        # the pod's limit, not the Job's: it counts from the start on a node, and leaves the time in the queue out
        pod["activeDeadlineSeconds"] = cluster.time_limit_min * 60
    if options.service_account is not None:
        pod["serviceAccountName"] = options.service_account
    return pod | options.pod


def _container(placement: Placement, cluster: Cluster, options: KubernetesOptions) -> dict[str, Any]:
    limits = {"cpu": str(placement.cores), "memory": f"{placement.memory_mb}Mi"}
    if cluster.gpus:
        limits["nvidia.com/gpu"] = str(cluster.gpus)
    # no workingDir: a container runtime makes one that is absent, as root, and so hides that the volume is another
    script = (
        f"cd {shlex.quote(str(placement.directory))} || exit 1\n"
        f"exec >>{shlex.quote(str(placement.log))} 2>&1\n{placement.command}\n"
    )
    return {
        "name": "run",
        "image": options.image,
        "command": ["/bin/sh", "-c", script],
        "env": [{"name": "HOME", "value": "/tmp"}],  # the user may be unknown to the image
        "resources": {"requests": limits, "limits": limits},
        "volumeMounts": [{"name": VOLUME, "mountPath": options.mounted_at}],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def _source(options: KubernetesOptions) -> dict[str, Any]:
    if options.claim is not None:
        return {"persistentVolumeClaim": {"claimName": options.claim}}
    return {"hostPath": {"path": options.host_path, "type": "Directory"}}
