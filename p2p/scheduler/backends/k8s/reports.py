"""What a Job, its pods and the warnings about them mean for a training."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from p2p.contracts.remedies import Remedy
from p2p.scheduler.backends.job_table import Ending, Phase, Report, out_of_memory

PATIENCE_S = 15.0
"""How long a pod may take to be made, or to get its volume and its image, before warnings about it are looked for."""
NODE_GONE_S = 60.0
"""How long after its last moment a pod is still listed when its node does not answer."""

NO_IMAGE = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError"}
INTERRUPTED = {
    "Evicted",
    "Preempting",
    "NodeLost",
    "NodeShutdown",
    "Shutdown",
    "Terminated",
    "UnexpectedAdmissionError",
}
"""Reasons of a failed pod that are its node's; those of today also have the condition DisruptionTarget."""
TIME_IS_UP = "DeadlineExceeded"
REMEDIES = (
    (r"persistentvolumeclaim|volume", "Correct claim=… of the cluster; to look: kubectl get persistentvolumeclaims"),
    (r"quota", "It starts when other jobs have ended."),
    (r"insufficient", f"It starts when there is room. To ask for less: {Remedy.ASK_LESS.of()}"),
    (r"taint|affinity|selector", "Say which nodes it may use in pod=… of the cluster (tolerations, nodeSelector)."),
)
"""By what the scheduler or an event says."""
OTHERWISE = "To look: kubectl describe {what}"


def reports(
    jobs: Iterable[Mapping[str, Any]], pods: Iterable[Mapping[str, Any]], warnings: Iterable[Mapping[str, Any]] = ()
) -> dict[str, Report]:
    """Report on every Job, by name.

    Args:
        jobs: Jobs as the API server lists them.
        pods: Pods of the same namespace, among them all of these Jobs.
        warnings: Events about them.
    """
    of_job = defaultdict(list)
    for pod in sorted(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp"))):
        of_job[pod["metadata"].get("labels", {}).get("job-name")].append(pod)
    said = {event["involvedObject"].get("name", ""): event for event in sorted(warnings, key=_time_of)}
    return {(name := job["metadata"]["name"]): _report(job, of_job[name], said) for job in jobs}


def is_stuck(jobs: Iterable[Mapping[str, Any]], pods: Iterable[Mapping[str, Any]]) -> bool:
    """Whether something takes so long that only events say why: a pod without its volume, a Job without a pod."""
    with_pod = {pod["metadata"].get("labels", {}).get("job-name") for pod in pods}
    starting = [pod for pod in pods if _is_live(pod) and _is_scheduled(pod) and not _runs(pod)]
    podless = [job for job in jobs if job["metadata"]["name"] not in with_pod and _ended(job) is None]
    return any(_age_s(one["metadata"].get("creationTimestamp")) > PATIENCE_S for one in (*starting, *podless))


def _report(job: Mapping[str, Any], pods: list[Mapping[str, Any]], said: Mapping[str, Mapping[str, Any]]) -> Report:
    live = [pod for pod in pods if _is_live(pod)]
    if lost := next((pod for pod in live if _age_s(pod["metadata"].get("deletionTimestamp")) > NODE_GONE_S), None):
        name, node = lost["metadata"]["name"], lost["spec"].get("nodeName")
        return Report(
            Phase.WAITING,
            f"Its machine {node} does not answer; another pod starts once Kubernetes has given it up. If the machine "
            f"is off for good: kubectl delete pod {name} --force",
        )
    if any(_runs(pod) for pod in live):
        return Report(Phase.RUNNING)
    if (end := _ended(job)) is not None:
        return _over(end, pods[-1] if pods else {})
    if "deletionTimestamp" in job["metadata"]:
        return Report(Phase.RUNNING, "it is being deleted")
    if live:
        return Report(Phase.WAITING, _why_pending(live[-1], said))
    return _between_pods(job, pods, said)


def _over(end: Mapping[str, Any], pod: Mapping[str, Any]) -> Report:
    """Report on a Job that has ended, with its last pod."""
    if end["type"] == "Complete":
        return Report(Phase.OVER, "its pod completed")
    status = pod.get("status", {})
    last = _last_words(pod)
    if last.get("reason") == "OOMKilled":
        memory = pod["spec"]["containers"][0]["resources"]["limits"]["memory"].replace("Mi", " MiB")
        return Report(Phase.OVER, out_of_memory(memory), Ending.FAILED)
    if TIME_IS_UP in (end.get("reason"), status.get("reason")):
        return Report(Phase.OVER, f"{TIME_IS_UP}: its time was up", Ending.INTERRUPTED)
    if (reason := _disruption(pod)) is not None:
        return Report(Phase.OVER, reason, Ending.INTERRUPTED)
    if last:
        words = [f"its pod ended with exit code {last.get('exitCode')}", last.get("reason"), last.get("message")]
        return Report(Phase.OVER, ": ".join(word.strip() for word in words if word and word != "Error"))
    return Report(Phase.OVER, _joined(end.get("reason"), end.get("message")))


def _between_pods(
    job: Mapping[str, Any], pods: list[Mapping[str, Any]], said: Mapping[str, Mapping[str, Any]]
) -> Report:
    """Report on a Job that has not ended and has no pod that could run."""
    name = job["metadata"]["name"]
    if suspended := _condition(job, "Suspended"):
        return Report(Phase.WAITING, _with_remedy({"reason": "Suspended", **suspended}, f"job {name}"))
    if pods and (reason := _disruption(pods[-1])) is not None:
        return Report(Phase.WAITING, f"Its pod was stopped ({reason}); another takes its place.")
    if pods:  # the Job is told of its end in a moment
        return Report(Phase.RUNNING)
    if event := said.get(name):
        return Report(Phase.WAITING, _with_remedy(event, f"job {name}"))
    return Report(Phase.WAITING)


def _why_pending(pod: Mapping[str, Any], said: Mapping[str, Mapping[str, Any]]) -> str:
    """Why a pod does not run yet, with one remedy; empty while all goes well."""
    name = pod["metadata"]["name"]
    scheduled = _condition(pod, "PodScheduled", "False")
    if scheduled is not None:
        return _with_remedy(scheduled, f"pod {name}")
    waiting = next(iter(_states(pod, "waiting")), {})
    reason = waiting.get("reason")
    if reason in NO_IMAGE:
        why = _joined(reason, waiting.get("message"))
        return f"{why} Correct image=… of the cluster, or let its nodes pull it (imagePullSecrets in pod=…)."
    if reason not in (None, "ContainerCreating", "PodInitializing"):
        return _with_remedy(waiting, f"pod {name}")
    late = _age_s(pod["metadata"].get("creationTimestamp")) > PATIENCE_S
    return _with_remedy(said[name], f"pod {name}") if late and name in said else ""


def _with_remedy(problem: Mapping[str, Any], what: str) -> str:
    """What stands in the way, and what to do; `what` is looked at where nothing better is known."""
    why = _joined(problem.get("reason"), problem.get("message"))
    fitting = (remedy for pattern, remedy in REMEDIES if re.search(pattern, why, re.IGNORECASE))
    return f"{why} {next(fitting, OTHERWISE.format(what=what))}"


def _joined(reason: str | None, message: str | None) -> str:
    said = ": ".join(part.strip() for part in (reason, message) if part)
    return said if said.endswith(".") else f"{said}."


def _is_live(pod: Mapping[str, Any]) -> bool:
    """Whether a pod may still write: a failed one may have containers that are about to end."""
    return pod["status"].get("phase") not in ("Succeeded", "Failed") or _runs(pod)


def _runs(pod: Mapping[str, Any]) -> bool:
    return bool(_states(pod, "running"))


def _is_scheduled(pod: Mapping[str, Any]) -> bool:
    return _condition(pod, "PodScheduled") is not None


def _states(pod: Mapping[str, Any], state: str) -> list[Mapping[str, Any]]:
    """States of this kind of a pod's containers."""
    found = (one.get("state", {}).get(state) for one in pod["status"].get("containerStatuses") or ())
    return [one for one in found if one is not None]


def _last_words(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    """How the container of a pod ended; empty if it never ran."""
    return next(iter(_states(pod, "terminated")), {}) if pod else {}


def _disruption(pod: Mapping[str, Any]) -> str | None:
    """Why the cluster took a pod's place away; None if it did not."""
    if not pod:
        return None
    if (condition := _condition(pod, "DisruptionTarget")) is not None:
        return str(condition.get("reason") or "DisruptionTarget")
    reason = pod["status"].get("reason")
    return reason if reason in INTERRUPTED else None


def _ended(job: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Condition by which a Job has ended; None while it has not."""
    return _condition(job, "Complete") or _condition(job, "Failed")


def _condition(thing: Mapping[str, Any], kind: str, status: str = "True") -> Mapping[str, Any] | None:
    found = thing.get("status", {}).get("conditions") or ()
    return next((one for one in found if one["type"] == kind and one["status"] == status), None)


def _time_of(event: Mapping[str, Any]) -> str:
    return str(event.get("lastTimestamp") or event.get("eventTime") or "")


def _age_s(timestamp: str | None) -> float:
    """How long ago that was [s]; negative in the future, and without a time."""
    if not timestamp:
        return -1.0
    return (datetime.now(UTC) - datetime.fromisoformat(timestamp)).total_seconds()
