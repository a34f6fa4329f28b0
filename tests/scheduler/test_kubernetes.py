"""Faults of a cluster, as a job there shows them; pods are processes of this machine."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from job_helpers import is_running, pid_in, shell, until
from small_training import policies, prepared

from p2p.contracts.cluster import Cluster
from p2p.contracts.errors import EnvironmentProblem, InvalidInput, MissingExtra
from p2p.contracts.job import JobState, JobStatus
from p2p.scheduler.backends.by_directory import ByDirectory
from p2p.scheduler.backends.k8s.backend import KubernetesBackend
from p2p.service.jobs.worker_jobs import worker_job
from p2p.store.nodes import NodeStore
from p2p.store.placed import PlacedJobRecord
from p2p.training.trainer import Trainer

if TYPE_CHECKING:
    from k8s_lab import KubernetesLab

pytestmark = pytest.mark.slow
ENDLESS = "echo $$ >> pids; exec sleep 300"


@pytest.fixture
def backend(k8s_cluster: Cluster) -> KubernetesBackend:
    return KubernetesBackend(k8s_cluster)


def job_of(kubernetes: "KubernetesLab", directory: Path) -> str:
    """Name of the Job of a directory."""
    with kubernetes.lock:
        named = {job["metadata"]["annotations"]["p2p/directory"]: name for name, job in kubernetes.jobs.items()}
    return named[str(directory)]


def reached(backend: KubernetesBackend, directory: Path, wanted: Callable[[JobStatus], object]) -> JobStatus:
    """The first status that is wanted; none before it may be an end."""

    def status() -> JobStatus | None:
        now = backend.status(directory)
        if wanted(now):
            return now
        assert not now.state.finished, now
        return None

    return until(status)


def running(backend: KubernetesBackend, directory: Path) -> None:
    reached(backend, directory, lambda now: now.state is JobState.RUNNING)


def started(backend: KubernetesBackend, directory: Path) -> int:
    """Process id of a job that does not end by itself, once its cluster says that it runs."""
    backend.submit(shell(ENDLESS), directory)
    pid = pid_in(directory / "pids")
    running(backend, directory)
    return pid


def lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def test_an_evicted_pod_is_replaced_and_its_job_never_seems_to_have_ended(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path
) -> None:
    backend.submit(shell(ENDLESS), jobs / "a")
    first = pid_in(jobs / "a/pids")
    running(backend, jobs / "a")
    evicted = kubernetes.evict(job_of(kubernetes, jobs / "a"))
    reached(backend, jobs / "a", lambda _: len(lines(jobs / "a/pids")) == 2)
    assert not is_running(first)
    running(backend, jobs / "a")
    [pod] = kubernetes.pods_of(job_of(kubernetes, jobs / "a"))
    assert pod["metadata"]["name"] != evicted


@pytest.mark.nightly
def test_a_training_whose_pod_is_evicted_twice_gives_the_policies_of_one_that_was_not(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("P2P_RESUME_S", "1")
    plain, evicted = prepared(jobs, "plain", "evicted")
    learned = [0]

    def evict() -> None:
        """Drain the node of the one run whenever it has a later resume point, twice."""
        point = evicted.read_resume_point()
        if len(learned) < 3 and point is not None and point.rollouts > learned[-1]:
            job = job_of(kubernetes, evicted.path)
            pod = kubernetes.evict(job)
            until(lambda: kubernetes.pods_of(job)[-1]["metadata"]["name"] != pod)
            point = evicted.read_resume_point()
            assert point is not None
            learned.append(point.rollouts)

    directories = ByDirectory(backend, NodeStore(jobs / "nodes"))
    Trainer(directories, worker_job("train"), 2, evict).train([plain, evicted], poll_s=1.0)
    assert len(learned) == 3
    summary = evicted.read_summary()
    assert summary is not None
    assert summary.resumed == 2
    assert policies(evicted) == policies(plain)
    assert len(policies(plain)) == 2


def test_no_key_of_the_submitter_is_in_what_the_cluster_is_given(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary-7f3a91")
    monkeypatch.setenv("SOME_TOKEN", "canary-7f3a91")
    backend.submit(shell(ENDLESS), jobs / "a")
    running(backend, jobs / "a")
    given = json.dumps([kubernetes.jobs, kubernetes.pods])
    assert str(jobs / "a") in given
    assert "canary" not in given + "".join(path.read_text() for path in (jobs / "a").iterdir() if path.is_file())


def test_a_job_without_room_waits_and_says_why_and_what_to_do(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path
) -> None:
    kubernetes.cores = 0
    backend.submit(shell("true"), jobs / "a")
    status = reached(backend, jobs / "a", lambda now: now.error)
    assert status.state is JobState.QUEUED
    assert "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu" in (status.error or "")
    assert "when there is room" in (status.error or "")
    kubernetes.cores = 8
    reached(backend, jobs / "a", lambda now: now.state is JobState.COMPLETED)


def test_an_image_that_is_not_there_is_named(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path
) -> None:
    kubernetes.images_missing = True
    backend.submit(shell("true"), jobs / "a")
    status = reached(backend, jobs / "a", lambda now: now.error)
    assert status.state is JobState.QUEUED
    assert 'ImagePullBackOff: Back-off pulling image "p2p:test". Correct image=…' in (status.error or "")
    assert backend.cancel(jobs / "a").state is JobState.CANCELLED


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("claims_missing", 'FailedMount: MountVolume.SetUp failed for volume "runs"'),
        ("pods_refused", "FailedCreate: pods is forbidden: violates PodSecurity"),
    ],
)
def test_what_only_events_tell_is_told_when_it_takes_long(
    fault: str,
    said: str,
    backend: KubernetesBackend,
    kubernetes: "KubernetesLab",
    jobs: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("p2p.scheduler.backends.k8s.reports.PATIENCE_S", 1.0)
    setattr(kubernetes, fault, True)
    backend.submit(shell("true"), jobs / "a")
    status = reached(backend, jobs / "a", lambda now: now.error)
    assert status.state is JobState.QUEUED
    assert said in (status.error or "")


def test_who_may_not_see_events_is_not_told_them_and_misses_nothing_else(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("p2p.scheduler.backends.k8s.reports.PATIENCE_S", 1.0)
    kubernetes.denied = {("list", "events")}
    kubernetes.claims_missing = True
    backend.submit(shell("true"), jobs / "a")
    kubernetes.requests.clear()
    until(lambda: (backend.status(jobs / "a"), ("list", "events") in kubernetes.requests)[1])
    assert backend.status(jobs / "a").state is JobState.QUEUED
    kubernetes.claims_missing = False
    reached(backend, jobs / "a", lambda now: now.state is JobState.COMPLETED)


def test_a_job_that_took_too_much_memory_failed_and_names_the_limit(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path
) -> None:
    pid = started(backend, jobs / "a")
    kubernetes.exhaust_memory(job_of(kubernetes, jobs / "a"))
    status = reached(backend, jobs / "a", lambda now: now.state is JobState.FAILED)
    assert status.over_a_limit
    assert "4000 MiB" in (status.error or "")
    assert not is_running(pid)


def test_a_job_whose_time_is_up_is_interrupted_and_goes_on_when_it_is_submitted_again(
    kubernetes: "KubernetesLab", k8s_cluster: Cluster, jobs: Path
) -> None:
    backend = KubernetesBackend(k8s_cluster.model_copy(update={"time_limit_min": 30}))
    pid = started(backend, jobs / "a")
    kubernetes.end_time(job_of(kubernetes, jobs / "a"))
    status = reached(backend, jobs / "a", lambda now: now.state is JobState.LOST)
    assert status.interrupted
    assert "DeadlineExceeded" in (status.error or "")
    assert not is_running(pid)
    backend.submit(shell("true"), jobs / "a")
    reached(backend, jobs / "a", lambda now: now.state is JobState.COMPLETED)


def test_a_job_that_somebody_deleted_is_cancelled(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path
) -> None:
    pid = started(backend, jobs / "a")
    kubernetes.delete_job(job_of(kubernetes, jobs / "a"))
    status = reached(backend, jobs / "a", lambda now: now.state is JobState.CANCELLED)
    assert "somebody deleted its Job" in (status.error or "")
    assert not is_running(pid)


def test_while_the_api_server_is_down_a_job_runs_and_ends_as_its_directory_says(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("p2p.scheduler.backends.job_table.ASK_S", (0.0, 0.0))
    backend.submit(shell(ENDLESS), jobs / "a")
    backend.submit(shell("until [ -e go ]; do sleep 0.05; done"), jobs / "b")
    running(backend, jobs / "a")
    running(backend, jobs / "b")
    kubernetes.stop_answering()
    assert backend.status(jobs / "a").state is JobState.RUNNING  # its heart beats
    (jobs / "b/go").touch()
    reached(backend, jobs / "b", lambda now: now.state is JobState.COMPLETED)
    monkeypatch.setattr("p2p.scheduler.backends.placed.BEATS_S", -1.0)
    silent = backend.status(jobs / "a")
    assert silent.state is JobState.UNREACHABLE
    assert "The Kubernetes API server of lab does not answer" in (silent.error or "")
    assert backend.submit(shell("true"), jobs / "a").state is JobState.UNREACHABLE
    assert backend.cancel(jobs / "a").state is JobState.UNREACHABLE
    kubernetes.start_answering()
    reached(backend, jobs / "a", lambda now: now.state is JobState.CANCELLED)


def test_a_job_submitted_while_the_api_server_is_down_begins_once_when_it_is_back(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path
) -> None:
    kubernetes.stop_answering()
    assert backend.submit(shell("echo once >> runs"), jobs / "a").state is JobState.UNREACHABLE
    kubernetes.start_answering()
    reached(backend, jobs / "a", lambda now: now.state is JobState.COMPLETED)
    assert lines(jobs / "a/runs") == ["once"]


def test_a_submitter_killed_before_it_noted_the_answer_leaves_one_job_that_is_found(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path, k8s_cluster: Cluster
) -> None:
    program = f"""
import os, signal
from pathlib import Path
from p2p.contracts.cluster import Cluster
from p2p.contracts.job import JobSpec
from p2p.scheduler.backends.k8s.backend import KubernetesBackend

class Killed(KubernetesBackend):
    def enqueue(self, placement):
        super().enqueue(placement)
        os.kill(os.getpid(), signal.SIGKILL)

cluster = Cluster.model_validate_json({k8s_cluster.model_dump_json()!r})
Killed(cluster).submit(JobSpec(argv=("/bin/sh", "-c", "echo once >> runs; sleep 1")), Path({str(jobs / "a")!r}))
"""
    done = subprocess.run([sys.executable, "-c", program], env=os.environ, check=False)
    assert done.returncode == -signal.SIGKILL
    placed = PlacedJobRecord(jobs / "a").read()
    assert placed is not None
    assert not placed.submitted
    assert job_of(kubernetes, jobs / "a")
    reached(backend, jobs / "a", lambda now: now.state is JobState.COMPLETED)
    assert lines(jobs / "a/runs") == ["once"]
    assert len([one for one in kubernetes.jobs.values() if str(jobs) in str(one)]) == 1


def test_a_submitter_killed_before_it_asked_leaves_a_job_that_is_submitted_at_the_next_look(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path
) -> None:
    kubernetes.stop_answering()
    backend.submit(shell("echo once >> runs"), jobs / "a")
    kubernetes.start_answering()
    again = KubernetesBackend(backend.cluster)
    reached(again, jobs / "a", lambda now: now.state is JobState.COMPLETED)
    assert lines(jobs / "a/runs") == ["once"]


def test_a_full_namespace_keeps_a_job_waiting(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("p2p.scheduler.backends.job_table.FULL_S", 0.5)
    kubernetes.quota = 0
    status = backend.submit(shell("true"), jobs / "a")
    assert status.state is JobState.QUEUED
    assert "exceeded quota" in (status.error or "")
    kubernetes.quota = None
    reached(backend, jobs / "a", lambda now: now.state is JobState.COMPLETED)


def test_who_may_not_create_jobs_is_told_which_right_is_missing(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path
) -> None:
    kubernetes.denied = {("create", "jobs")}
    with pytest.raises(EnvironmentProblem, match=r"'create' of jobs \(docs/k8s/rbac.yaml\); see docs/clusters_k8s.md"):
        backend.submit(shell("true"), jobs / "a")
    assert not PlacedJobRecord(jobs / "a").elsewhere


def test_who_may_not_list_jobs_is_told_before_anything_is_submitted_and_loses_no_job(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("p2p.scheduler.backends.job_table.ASK_S", (0.0, 0.0))
    monkeypatch.setattr("p2p.scheduler.backends.placed.BEATS_S", -1.0)
    backend.submit(shell(ENDLESS), jobs / "a")
    running(backend, jobs / "a")
    kubernetes.denied = {("list", "pods")}
    with pytest.raises(EnvironmentProblem, match="the verb 'list' of pods"):
        backend.capacity()
    status = backend.status(jobs / "a")
    assert status.state is JobState.UNREACHABLE
    assert "the verb 'list' of pods" in (status.error or "")
    kubernetes.denied = set()
    running(backend, jobs / "a")


def test_who_may_not_delete_jobs_ends_them_by_their_supervisor(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path
) -> None:
    kubernetes.denied = {("delete", "jobs")}
    pid = started(backend, jobs / "a")
    assert backend.cancel(jobs / "a").state is JobState.CANCELLED
    assert not is_running(pid)


def test_renewed_credentials_are_taken_without_a_restart(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("p2p.scheduler.backends.job_table.ASK_S", (0.0, 0.0))
    monkeypatch.setattr("p2p.scheduler.backends.placed.BEATS_S", -1.0)
    backend.submit(shell(ENDLESS), jobs / "a")
    running(backend, jobs / "a")
    kubernetes.token = "another token"
    status = backend.status(jobs / "a")
    assert status.state is JobState.UNREACHABLE
    assert "does not accept the credentials" in (status.error or "")
    kubernetes.let_in("another token")
    running(backend, jobs / "a")
    kubernetes.let_in("a third token")
    backend.submit(shell("true"), jobs / "b")
    reached(backend, jobs / "b", lambda now: now.state is JobState.COMPLETED)


def test_many_jobs_are_asked_for_together(backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path) -> None:
    for number in range(5):
        backend.submit(shell(ENDLESS), jobs / str(number))
    kubernetes.requests.clear()
    for number in range(5):
        backend.status(jobs / str(number))
    assert kubernetes.requests.count(("list", "jobs")) <= 2
    assert {kind for _, kind in kubernetes.requests} <= {"jobs", "pods"}


def test_a_directory_outside_the_volume_is_refused(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", tmp_path: Path
) -> None:
    mount = tmp_path / "elsewhere"
    options = backend.cluster.options | {"mount": str(mount)}
    moved = KubernetesBackend(backend.cluster.model_copy(update={"options": options}))
    with pytest.raises(EnvironmentProblem, match=r"see .*/elsewhere alone"):
        moved.submit(shell("true"), tmp_path / "jobs/a")
    assert kubernetes.jobs == {}


def test_a_field_of_a_pod_that_kubernetes_does_not_know_is_named(
    backend: KubernetesBackend, kubernetes: "KubernetesLab", jobs: Path
) -> None:
    options = backend.cluster.options | {"pod": {"nodeSelecter": {"gpu": "yes"}}}
    wrong = KubernetesBackend(backend.cluster.model_copy(update={"options": options}))
    with pytest.raises(EnvironmentProblem, match="nodeSelecter"):
        wrong.submit(shell("true"), jobs / "a")
    assert kubernetes.jobs == {}


def test_an_interpreter_that_the_image_lacks_is_told_in_the_words_of_the_shell(
    kubernetes: "KubernetesLab", k8s_cluster: Cluster, jobs: Path
) -> None:
    assert kubernetes
    backend = KubernetesBackend(k8s_cluster.model_copy(update={"python": "/opt/none/bin/python"}))
    backend.submit(shell("true"), jobs / "a")
    status = reached(backend, jobs / "a", lambda now: now.state is JobState.LOST)
    assert "exit code 127" in (status.error or "")
    assert "/opt/none/bin/python" in (status.error or "")


def test_without_its_client_the_extra_is_named(k8s_cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    monkeypatch.setenv("KUBECONFIG", "/absent/of-this-test")
    with pytest.raises(MissingExtra, match=r"pip install 'p2p-mcp\[k8s\]'"):
        KubernetesBackend(k8s_cluster).capacity()


@pytest.mark.parametrize(
    ("change", "kubeconfig", "said"),
    [
        ({"image": None}, None, "lacks an image, or the volume"),
        ({"claim": None}, None, "lacks an image, or the volume"),
        ({"mount": None}, None, "lacks an image, or the volume"),
        ({"context": "another"}, None, "another"),
        ({}, "/absent/kubeconfig", "KUBECONFIG"),
    ],
)
def test_what_a_cluster_lacks_is_told_before_anything_is_sent(
    change: dict[str, str | None],
    kubeconfig: str | None,
    said: str,
    kubernetes: "KubernetesLab",
    k8s_cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if kubeconfig is not None:
        monkeypatch.setenv("KUBECONFIG", kubeconfig)
    kubernetes.requests.clear()
    with pytest.raises(EnvironmentProblem, match=said):
        KubernetesBackend(k8s_cluster.model_copy(update={"options": k8s_cluster.options | change})).require_client()
    assert kubernetes.requests == []


@pytest.mark.parametrize(
    "wrong", [{"mount": "runs"}, {"pod": {"restartPolicy": "Always"}}, {"ttl_s": 5}, {"imag": "x"}]
)
def test_an_option_that_cannot_be_is_refused_when_the_cluster_is_made(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        KubernetesBackend(Cluster.model_validate({"name": "lab", "kind": "k8s", "options": wrong}))
