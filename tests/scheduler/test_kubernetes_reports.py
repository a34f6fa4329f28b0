"""What Jobs, pods and events mean, as API servers tell them; what pods of the stand-in cannot do is here."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from p2p.scheduler.backends.job_table import Ending, Phase, Report
from p2p.scheduler.backends.k8s.reports import is_stuck, reports

Thing = dict[str, Any]
NOW = datetime.now(UTC)
RUNNING = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
KILLED = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}


def at(seconds: float) -> str:
    return (NOW + timedelta(seconds=seconds)).isoformat(timespec="seconds").replace("+00:00", "Z")


YOUNG = at(3600)
"""When things were made that are younger than any patience, however long the tests before these take."""


def job(*conditions: Thing, **metadata: str) -> Thing:
    return {
        "metadata": {"name": "job", "creationTimestamp": YOUNG, **metadata},
        "status": {"conditions": list(conditions)},
    }


def pod(phase: str, *conditions: Thing, state: Thing | None = None, reason: str = "", **metadata: str) -> Thing:
    statuses = [{"name": "run", "state": state}] if state is not None else None
    return {
        "metadata": {"name": "job-1", "creationTimestamp": YOUNG, "labels": {"job-name": "job"}, **metadata},
        "spec": {"nodeName": "node-1", "containers": [{"resources": {"limits": {"memory": "8000Mi"}}}]},
        "status": {
            "phase": phase,
            "conditions": list(conditions),
            "containerStatuses": statuses,
            **({"reason": reason} if reason else {}),
        },
    }


def condition(kind: str, status: str = "True", **said: str) -> Thing:
    return {"type": kind, "status": status, **said}


def ended(code: int, **said: str) -> Thing:
    return {"terminated": {"exitCode": code, **said}}


FAILED = condition("Failed", reason="BackoffLimitExceeded", message="Job has reached the specified backoff limit")
UNSCHEDULABLE = {"kind": "PodScheduled", "status": "False", "reason": "Unschedulable"}
BOUND = condition("PodScheduled")


def report(job: Thing, *pods: Thing, warnings: tuple[Thing, ...] = ()) -> Report:
    return reports([job], pods, warnings)["job"]


@pytest.mark.parametrize(
    ("things", "phase", "ending"),
    [
        ((job(),), Phase.WAITING, Ending.UNKNOWN),
        ((job(), pod("Pending")), Phase.WAITING, Ending.UNKNOWN),
        ((job(), pod("Running", state=RUNNING)), Phase.RUNNING, Ending.UNKNOWN),
        ((job(), pod("Failed", state=ended(1))), Phase.RUNNING, Ending.UNKNOWN),
        ((job(FAILED), pod("Failed", reason="DeadlineExceeded", state=RUNNING)), Phase.RUNNING, Ending.UNKNOWN),
        ((job(deletionTimestamp=at(0)), pod("Pending")), Phase.RUNNING, Ending.UNKNOWN),
        ((job(condition("Complete")), pod("Succeeded", state=ended(0))), Phase.OVER, Ending.UNKNOWN),
        ((job(FAILED), pod("Failed", state=ended(1))), Phase.OVER, Ending.UNKNOWN),
        ((job(FAILED), pod("Failed", state=KILLED)), Phase.OVER, Ending.FAILED),
        ((job(FAILED), pod("Failed", reason="DeadlineExceeded", state=ended(1))), Phase.OVER, Ending.INTERRUPTED),
        ((job(condition("Failed", reason="DeadlineExceeded")),), Phase.OVER, Ending.INTERRUPTED),
        ((job(FAILED), pod("Failed", reason="Evicted")), Phase.OVER, Ending.INTERRUPTED),
        ((job(FAILED), pod("Failed", condition("DisruptionTarget"), state=ended(143))), Phase.OVER, Ending.INTERRUPTED),
        ((job(), pod("Failed", condition("DisruptionTarget"), state=ended(143))), Phase.WAITING, Ending.UNKNOWN),
        ((job(condition("Suspended", reason="JobSuspended")),), Phase.WAITING, Ending.UNKNOWN),
    ],
)
def test_phase_and_ending_follow_from_the_job_and_its_pods(
    things: tuple[Thing, ...], phase: Phase, ending: Ending
) -> None:
    found = report(*things)
    assert (found.phase, found.ending) == (phase, ending)


@pytest.mark.parametrize(
    ("message", "remedy"),
    [
        ("0/3 nodes are available: 3 Insufficient nvidia.com/gpu.", "It starts when there is room"),
        ("0/3 nodes are available: 3 node(s) had untolerated taint {gpu: yes}.", "tolerations, nodeSelector"),
        ("0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.", "tolerations, nodeSelector"),
        ('0/3 nodes are available: persistentvolumeclaim "runs" not found.', "Correct claim=…"),
        ("0/3 nodes are available: 3 Too many pods.", "kubectl describe pod job-1"),
    ],
)
def test_a_pod_without_a_node_has_the_schedulers_reason_and_one_remedy(message: str, remedy: str) -> None:
    waiting = condition(**UNSCHEDULABLE, message=message)
    assert report(job(), pod("Pending", waiting)).reason.startswith(f"Unschedulable: {message} ")
    assert remedy in report(job(), pod("Pending", waiting)).reason


@pytest.mark.parametrize(
    ("waiting", "said"),
    [
        ({"reason": "ErrImagePull", "message": "manifest unknown"}, "ErrImagePull: manifest unknown. Correct image=…"),
        ({"reason": "InvalidImageName"}, "InvalidImageName. Correct image=…"),
        (
            {
                "reason": "CreateContainerConfigError",
                "message": "image will run as root, pod has runAsNonRoot",
            },
            "runAsNonRoot. To look: kubectl describe pod job-1",
        ),
        ({"reason": "ContainerCreating"}, ""),
    ],
)
def test_a_container_that_is_not_made_says_why(waiting: Thing, said: str) -> None:
    found = report(job(), pod("Pending", BOUND, state={"waiting": waiting}))
    assert found.phase is Phase.WAITING
    assert said in found.reason
    assert bool(found.reason) == bool(said)


def test_a_pod_on_a_machine_that_does_not_answer_waits_and_names_the_machine() -> None:
    gone = pod("Running", condition("DisruptionTarget"), state=RUNNING, deletionTimestamp=at(-300))
    found = report(job(), gone)
    assert found.phase is Phase.WAITING
    assert "Its machine node-1 does not answer" in found.reason
    assert "kubectl delete pod job-1 --force" in found.reason
    assert report(job(), gone | {"metadata": gone["metadata"] | {"deletionTimestamp": YOUNG}}).phase is Phase.RUNNING


def test_how_a_pod_ended_is_told_in_its_last_words() -> None:
    last = ended(1, reason="Error", message="sh: 1: cd: can't cd to /data/runs/session_1\n")
    found = report(job(FAILED), pod("Failed", state=last))
    assert found.reason == "its pod ended with exit code 1: sh: 1: cd: can't cd to /data/runs/session_1"


def test_the_newest_pod_and_the_latest_event_count() -> None:
    old = pod("Failed", condition("DisruptionTarget"), state=ended(143), name="job-0", creationTimestamp=at(-500))
    new = pod("Pending", BOUND, state={"waiting": {"reason": "ContainerCreating"}}, creationTimestamp=at(-100))
    events = tuple(
        {"involvedObject": {"name": "job-1"}, "reason": "FailedMount", "message": said, "lastTimestamp": at(-age)}
        for said, age in (("timed out", 5), ("no such export", 50))
    )
    assert report(job(), new, old, warnings=events).reason.startswith("FailedMount: timed out. ")


@pytest.mark.parametrize(
    ("things", "stuck"),
    [
        ((job(),), False),
        ((job(creationTimestamp=at(-100)),), True),
        ((job(FAILED, creationTimestamp=at(-100)),), False),
        ((job(), pod("Pending", BOUND, creationTimestamp=at(-100))), True),
        ((job(), pod("Pending", condition(**UNSCHEDULABLE), creationTimestamp=at(-100))), False),
        ((job(), pod("Running", BOUND, state=RUNNING, creationTimestamp=at(-100))), False),
    ],
)
def test_events_are_asked_for_where_nothing_else_says_why(things: tuple[Thing, ...], stuck: bool) -> None:
    assert is_stuck(things[:1], things[1:]) is stuck
