"""A stand-in for a Kubernetes cluster of one node: its pods are processes of this machine.

It has the part of the API that p2p uses, of one namespace, and does with Jobs what the real one's documentation says of
`backoffLimit: 0`, `podFailurePolicy` and eviction. What it answers is checked against the official client's models, so
that it cannot have fields that do not exist. What it does not have: admission, volumes, control groups, images.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from job_helpers import until
from kubernetes import client

from p2p.contracts.cluster import Cluster

NAMESPACE = "robots"
TURN_S = 0.05
CONTAINER = """
import ctypes, os, signal, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # adopts what its main process leaves behind
main = subprocess.Popen(sys.argv[1:], start_new_session=True)
signal.signal(signal.SIGTERM, lambda *_: main.send_signal(signal.SIGTERM))
signal.signal(signal.SIGUSR1, lambda *_: main.kill())
code = main.wait()
def parent(pid):
    try:
        return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
    except OSError:
        return None
while left := [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and parent(pid) == os.getpid()]:
    for pid in left:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
sys.exit(code if code >= 0 else 128 - code)
"""
"""A container as a process: when its main process ends, all that it started ends too. SIGUSR1 is its SIGKILL."""


class KubernetesLab:
    """API server, scheduler, Job controller and kubelet.

    Args:
        place: Where its files are kept.
        cores: What its only node has.
    """

    def __init__(self, place: Path, cores: int = 8) -> None:
        self.place = place
        self.kubeconfig = place / "kubeconfig"
        self.all_cores = cores
        self.lock = threading.RLock()
        self.jobs: dict[str, dict[str, Any]] = {}
        self.pods: dict[str, dict[str, Any]] = {}
        self.events: dict[str, dict[str, Any]] = {}
        self.containers: dict[str, subprocess.Popen[bytes]] = {}
        self.requests: list[tuple[str, str]] = []
        """Verb and kind of everything that was asked."""
        self.server: ThreadingHTTPServer | None = None
        self.port = 0
        self.make_good()
        self._closed = threading.Event()
        self._loop = threading.Thread(target=self._turn_until_closed, daemon=True)
        self._loop.start()

    def cluster(self, mount: Path) -> Cluster:
        """The cluster as p2p knows it, its claim mounted at a directory of this machine."""
        options = {"image": "p2p:test", "claim": "runs", "mount": str(mount)}
        return Cluster(name="k8s", kind="k8s", settle_s=1.0, options=options)

    # the faults that a test may want

    def make_good(self) -> None:
        """End all jobs, and undo all faults."""
        self.cores = self.all_cores
        self.denied: set[tuple[str, str]] = set()
        self.quota: int | None = None
        self.images_missing = self.claims_missing = self.pods_refused = False
        self.start_answering()
        self.let_in("a token")
        with self.lock:
            for name in list(self.jobs):
                self.delete_job(name)
        until(lambda: not self.jobs)

    def stop_answering(self) -> None:
        """Stop the API server; jobs go on."""
        server, self.server = self.server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def start_answering(self) -> None:
        """Start the API server, at the address that it had."""
        if self.server is None:
            lab = self
            handler = type("Handler", (_Handler,), {"lab": lab})
            self.server = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
            self.port = self.server.server_port
            threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def let_in(self, token: str) -> None:
        """Accept this token alone, and write it into the kubeconfig."""
        self.token = token
        address = {"server": f"http://127.0.0.1:{self.port}"}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "lab",
            "clusters": [{"name": "lab", "cluster": address}],
            "users": [{"name": "me", "user": {"token": token}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "me", "namespace": NAMESPACE}}],
        }
        self.kubeconfig.write_text(json.dumps(config))

    def evict(self, job: str) -> str:
        """Drain the node of a Job's pod; return the pod's name."""
        with self.lock:
            pod = self.pods_of(job)[-1]
            _set(pod, "DisruptionTarget", reason="EvictionByEvictionAPI", message="Eviction API: evicting")
            self._end_pod(pod)
        return str(pod["metadata"]["name"])

    def exhaust_memory(self, job: str) -> None:
        """Do what the kernel does to a container over its limit of memory."""
        with self.lock:
            pod = self.pods_of(job)[-1]
            pod["killed"] = "OOMKilled"
            self.containers[pod["metadata"]["name"]].send_signal(signal.SIGUSR1)

    def end_time(self, job: str) -> None:
        """Do what the kubelet does to a pod whose time is up."""
        with self.lock:
            pod = self.pods_of(job)[-1]
            assert pod["spec"]["activeDeadlineSeconds"]
            pod["status"] |= {"phase": "Failed", "reason": "DeadlineExceeded", "message": "Pod was active too long"}
            self.containers[pod["metadata"]["name"]].send_signal(signal.SIGTERM)

    def delete_job(self, name: str) -> None:
        """Delete a Job as `kubectl delete job` does; it goes when its pods have ended."""
        with self.lock:
            self.jobs[name]["metadata"].setdefault("deletionTimestamp", _now())

    def pods_of(self, job: str) -> list[dict[str, Any]]:
        """Pods of a Job, the newest last."""
        with self.lock:
            return [pod for pod in self.pods.values() if pod["metadata"]["labels"]["job-name"] == job]

    def close(self) -> None:
        """End everything."""
        self.make_good()
        self._closed.set()
        self._loop.join()
        self.stop_answering()

    # the Job controller, the scheduler and the kubelet

    def _turn_until_closed(self) -> None:
        while not self._closed.wait(TURN_S):
            with self.lock:
                for job in list(self.jobs.values()):
                    self._control(job)
                for pod in list(self.pods.values()):
                    self._run(pod)

    def _control(self, job: dict[str, Any]) -> None:
        mine = self.pods_of(job["metadata"]["name"])
        if "deletionTimestamp" in job["metadata"]:
            self._finish_deletion(job, mine)
            return
        if job["status"].get("conditions"):
            return
        if not mine:
            self._make_pod(job)
            return
        pod = mine[-1]
        if pod["metadata"]["name"] in self.containers:
            return
        if pod["status"]["phase"] == "Succeeded":
            _set(job, "Complete", reason="CompletionsReached")
        elif pod["status"]["phase"] == "Failed" and _has(pod, "DisruptionTarget"):
            del self.pods[pod["metadata"]["name"]]
            self._make_pod(job)
        elif pod["status"]["phase"] == "Failed":
            _set(job, "Failed", reason="BackoffLimitExceeded", message="Job has reached the specified backoff limit")

    def _finish_deletion(self, job: dict[str, Any], pods: list[dict[str, Any]]) -> None:
        for pod in pods:
            self._end_pod(pod)
        if not any(pod["metadata"]["name"] in self.containers for pod in pods):
            del self.jobs[job["metadata"]["name"]]
            for pod in pods:
                del self.pods[pod["metadata"]["name"]]

    def _make_pod(self, job: dict[str, Any]) -> None:
        owner = job["metadata"]["name"]
        if self.pods_refused:
            self._warn(owner, "FailedCreate", "pods is forbidden: violates PodSecurity: hostPath volumes")
            return
        template = json.loads(json.dumps(job["spec"]["template"]))
        name = f"{owner}-{os.urandom(3).hex()}"
        self.pods[name] = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": NAMESPACE,
                "creationTimestamp": _now(),
                "labels": template["metadata"]["labels"] | {"job-name": owner},
            },
            "spec": template["spec"],
            "status": {"phase": "Pending", "conditions": []},
        }

    def _run(self, pod: dict[str, Any]) -> None:
        name = pod["metadata"]["name"]
        if name in self.containers:
            self._watch(pod)
        elif pod["status"]["phase"] == "Pending" and "deletionTimestamp" in pod["metadata"]:
            pod["status"]["phase"] = "Failed"
        elif pod["status"]["phase"] == "Pending" and self._has_room(pod):
            self._start(pod)

    def _has_room(self, pod: dict[str, Any]) -> bool:
        taken = sum(_cores(self.pods[name]) for name in self.containers)
        if taken + _cores(pod) > self.cores:
            said = f"0/1 nodes are available: 1 Insufficient cpu. {self.cores - taken} of {self.cores} are free."
            _set(pod, "PodScheduled", "False", reason="Unschedulable", message=said)
            return False
        pod["spec"]["nodeName"] = "node-1"
        _set(pod, "PodScheduled", "True")
        return True

    def _start(self, pod: dict[str, Any]) -> None:
        name = pod["metadata"]["name"]
        container = pod["spec"]["containers"][0]
        if self.images_missing:
            said = f'Back-off pulling image "{container["image"]}"'
            _put(pod, container, {"waiting": {"reason": "ImagePullBackOff", "message": said}})
            return
        if self.claims_missing:
            _put(pod, container, {"waiting": {"reason": "ContainerCreating"}})
            self._warn(name, "FailedMount", 'MountVolume.SetUp failed for volume "runs": mount failed: exit status 32')
            return
        environment = {one["name"]: one["value"] for one in container["env"]}
        image = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "MUJOCO_GL": "osmesa"}
        with (self.place / f"{name}.log").open("wb") as log:
            self.containers[name] = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", CONTAINER, *container["command"]],
                cwd="/",
                env=image | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        pod["status"]["phase"] = "Running"
        _put(pod, container, {"running": {"startedAt": _now()}})

    def _watch(self, pod: dict[str, Any]) -> None:
        name = pod["metadata"]["name"]
        container = self.containers[name]
        due = pod["metadata"].get("deletionTimestamp")
        if due is not None and due < _now():
            container.send_signal(signal.SIGUSR1)
        if (code := container.poll()) is None:
            return
        del self.containers[name]
        reason = pod.pop("killed", "Completed" if code == 0 else "Error")
        printed = (self.place / f"{name}.log").read_text()[-2048:] if code else ""
        _put(
            pod, pod["spec"]["containers"][0], {"terminated": {"exitCode": code, "reason": reason, "message": printed}}
        )
        pod["status"]["phase"] = "Succeeded" if code == 0 else "Failed"

    def _end_pod(self, pod: dict[str, Any]) -> None:
        if "deletionTimestamp" not in pod["metadata"]:
            pod["metadata"]["deletionTimestamp"] = _now(pod["spec"]["terminationGracePeriodSeconds"])
            if (container := self.containers.get(pod["metadata"]["name"])) is not None:
                container.send_signal(signal.SIGTERM)

    def _warn(self, name: str, reason: str, message: str) -> None:
        self.events[name] = {
            "metadata": {"name": f"{name}.1", "namespace": NAMESPACE},
            "involvedObject": {"name": name},
            "type": "Warning",
            "reason": reason,
            "message": message,
            "lastTimestamp": _now(),
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    lab: KubernetesLab

    def do_GET(self) -> None:
        kind = urlsplit(self.path).path.rpartition("/")[2]
        models = {"jobs": client.V1JobList, "pods": client.V1PodList, "events": client.CoreV1EventList}
        if self._admitted("list", kind):
            wanted = parse_qs(urlsplit(self.path).query).get("labelSelector", [""])[0]
            with self.lab.lock:
                things = {"jobs": self.lab.jobs, "pods": self.lab.pods, "events": self.lab.events}[kind]
                items = [one for one in json.loads(json.dumps(list(things.values()))) if _fits(one, wanted)]
            for one in items:
                one.pop("killed", None)
            answer = {"apiVersion": "v1", "kind": f"{kind.title()}List", "metadata": {}, "items": items}
            models[kind].model_validate(answer)
            self._say(200, answer)

    def do_POST(self) -> None:
        job = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._admitted("create", "jobs"):
            return
        name = job["metadata"]["name"]
        with self.lab.lock:
            if not re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", name):
                self._refuse(422, "Invalid", f"Job.batch {name!r} is invalid")
            elif name in self.lab.jobs:
                self._refuse(409, "AlreadyExists", f'jobs.batch "{name}" already exists')
            elif self.lab.quota is not None and len(self.lab.jobs) >= self.lab.quota:
                limit = f"count/jobs.batch={self.lab.quota}"
                self._refuse(
                    403, "Forbidden", f'jobs.batch "{name}" is forbidden: exceeded quota: all, limited: {limit}'
                )
            else:
                job["metadata"] |= {"namespace": NAMESPACE, "creationTimestamp": _now()}
                self.lab.jobs[name] = job | {"status": {}}
                self._say(201, job)

    def do_DELETE(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        name = urlsplit(self.path).path.rpartition("/")[2]
        if self._admitted("delete", "jobs"):
            with self.lab.lock:
                if name not in self.lab.jobs:
                    self._refuse(404, "NotFound", f'jobs.batch "{name}" not found')
                    return
                self.lab.delete_job(name)
            self._say(200, {"kind": "Status", "apiVersion": "v1", "status": "Success"})

    def _admitted(self, verb: str, kind: str) -> bool:
        """Whether the request may go on; else it has been answered, or dropped with the server."""
        self.lab.requests.append((verb, kind))
        if self.lab.server is not self.server:
            self.close_connection = True
            return False
        if self.headers.get("Authorization") != f"Bearer {self.lab.token}":
            self._refuse(401, "Unauthorized", "Unauthorized")
            return False
        if f"/namespaces/{NAMESPACE}/" not in self.path:
            self._refuse(404, "NotFound", "namespaces not found")
            return False
        if (verb, kind) in self.lab.denied:
            self._refuse(
                403,
                "Forbidden",
                f'{kind} is forbidden: User "me" cannot {verb} resource "{kind}" in API group "batch" in the namespace '
                f'"{NAMESPACE}"',
            )
            return False
        return True

    def _refuse(self, code: int, reason: str, message: str) -> None:
        said = {"status": "Failure", "reason": reason, "message": message, "code": code}
        self._say(code, {"kind": "Status", "apiVersion": "v1", "metadata": {}, **said})

    def _say(self, code: int, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        pass


def _now(later_s: float = 0.0) -> str:
    return (datetime.now(UTC) + timedelta(seconds=later_s)).isoformat(timespec="seconds").replace("+00:00", "Z")


def _fits(thing: dict[str, Any], selector: str) -> bool:
    wanted = dict(one.split("=") for one in selector.split(",") if one)
    return wanted.items() <= thing["metadata"].get("labels", {}).items()


def _set(thing: dict[str, Any], kind: str, status: str = "True", **said: str) -> None:
    """Give an object a condition, in place of an earlier one of its type."""
    conditions = thing["status"].setdefault("conditions", [])
    conditions[:] = [one for one in conditions if one["type"] != kind]
    conditions.append({"type": kind, "status": status, "lastTransitionTime": _now(), **said})


def _has(thing: dict[str, Any], kind: str) -> bool:
    return any(one["type"] == kind for one in thing["status"].get("conditions", ()))


def _put(pod: dict[str, Any], container: dict[str, Any], state: dict[str, Any]) -> None:
    """Give the only container of a pod a state."""
    status = {"name": container["name"], "image": container["image"], "imageID": "", "ready": False, "restartCount": 0}
    pod["status"]["containerStatuses"] = [{**status, "state": state}]


def _cores(pod: dict[str, Any]) -> int:
    return int(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])
