"""Jobs of a real Slurm whose parts fail: every fault is a named state, and nothing is lost or started twice."""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from job_helpers import is_running, pid_in, shell, until
from slurm_lab import SlurmLab
from small_training import policies, prepared
from ssh_lab import Lab

from p2p.contracts.cluster import Cluster
from p2p.contracts.errors import EnvironmentProblem, InvalidInput
from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.contracts.protocols import Backend
from p2p.scheduler.backends.by_directory import ByDirectory, open_backend
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.backends.slurm import SlurmBackend
from p2p.scheduler.backends.ssh import SSHBackend
from p2p.service.jobs.worker_jobs import worker_job
from p2p.store.clusters import ClusterStore
from p2p.store.iterations import IterationRecord
from p2p.store.nodes import NodeStore
from p2p.store.placed import PlacedJobRecord
from p2p.training.trainer import RETRIES, Trainer

pytestmark = pytest.mark.slow
CANARY = "canary-7f3a91"


@pytest.fixture
def backend(slurm_cluster: Cluster) -> SlurmBackend:
    return SlurmBackend(slurm_cluster)


def until_it_is(backend: SlurmBackend, directory: Path, state: JobState, seconds: float = 120.0) -> JobStatus:
    seen: list[JobStatus] = []

    def reached() -> bool:
        seen[:] = [backend.status(directory)]
        return seen[0].state is state

    try:
        until(reached, seconds)
    except AssertionError as error:
        raise AssertionError(f"{seen[0]}\n{backend.table._jobs}") from error
    return seen[0]


def number(slurm: SlurmLab, directory: Path) -> str:
    """Slurm's number of the job."""
    rows = slurm.run("squeue", "--noheader", "--states=all", "--format=%i %Z").splitlines()
    return next(row.split()[0] for row in reversed(rows) if row.split()[1] == str(directory))


def test_a_requeued_job_goes_on_in_its_directory(backend: SlurmBackend, slurm: SlurmLab, jobs: Path) -> None:
    backend.submit(shell("echo start >> starts; until [ -e go ]; do sleep 0.1; done"), jobs / "a")
    until_it_is(backend, jobs / "a", JobState.RUNNING)
    job = number(slurm, jobs / "a")
    until(lambda: slurm.succeeds("scontrol", "requeue", job))
    waiting = until_it_is(backend, jobs / "a", JobState.QUEUED)
    assert waiting.error == "BeginTime"
    slurm.run("scontrol", "update", f"JobId={job}", "StartTime=now")
    (jobs / "a/go").touch()
    until_it_is(backend, jobs / "a", JobState.COMPLETED)
    assert (jobs / "a/starts").read_text().split() == ["start", "start"]


def test_a_job_outlives_the_controller(backend: SlurmBackend, slurm: SlurmLab, jobs: Path) -> None:
    backend.submit(shell("until [ -e go ]; do sleep 0.1; done; echo done"), jobs / "a")
    until_it_is(backend, jobs / "a", JobState.RUNNING)
    slurm.kill("slurmctld")
    until(lambda: "does not answer" in said_by(backend))
    assert backend.status(jobs / "a").state is JobState.RUNNING  # its supervisor says so itself
    (jobs / "a/go").touch()
    assert until_it_is(backend, jobs / "a", JobState.COMPLETED).exit_code == 0
    slurm.make_good()


def said_by(backend: SlurmBackend) -> str:
    """What asking the controller for a job that it never had brings."""
    try:
        return backend.report("p2p-none").reason
    except EnvironmentProblem as error:
        return str(error)


def test_a_submission_that_the_controller_does_not_hear_is_sent_again(
    backend: SlurmBackend, slurm: SlurmLab, jobs: Path
) -> None:
    slurm.kill("slurmctld")
    status = backend.submit(shell("echo once >> runs"), jobs / "a")
    assert status.state is JobState.UNREACHABLE
    assert "none is started twice" in (status.error or "")
    slurm.make_good()
    until(lambda: released(backend, slurm, jobs / "a").state is JobState.COMPLETED)
    assert (jobs / "a/runs").read_text() == "once\n"


def released(backend: SlurmBackend, slurm: SlurmLab, directory: Path) -> JobStatus:
    """Status of a job; Slurm holds one whose start failed while its node had not found the new controller yet."""
    status = backend.status(directory)
    if "held" in (status.error or ""):
        slurm.run("scontrol", "release", number(slurm, directory))
    return status


def test_a_submitter_that_died_before_it_recorded_the_answer_submits_once(
    backend: SlurmBackend, slurm: SlurmLab, jobs: Path
) -> None:
    backend.submit(shell("echo once >> runs; until [ -e go ]; do sleep 0.1; done"), jobs / "a")
    record = PlacedJobRecord(jobs / "a")
    placed = record.read()
    assert placed is not None
    record.save(placed.model_copy(update={"submitted": False}))  # as it was when the submitter was killed
    until_it_is(SlurmBackend(backend.cluster), jobs / "a", JobState.RUNNING)
    assert backend.submit(shell("echo twice >> runs"), jobs / "a").state is JobState.RUNNING
    (jobs / "a/go").touch()
    until_it_is(backend, jobs / "a", JobState.COMPLETED)
    assert (jobs / "a/runs").read_text() == "once\n"
    assert len(slurm.run("squeue", "--noheader", "--states=all", "--format=%Z").split(str(jobs / "a"))) == 2


def test_a_job_cancelled_in_slurm_is_cancelled_with_all_that_it_started(
    backend: SlurmBackend, slurm: SlurmLab, jobs: Path
) -> None:
    backend.submit(shell("setsid sleep 300 & echo $! > orphan; echo $$ > pid; sleep 300"), jobs / "a")
    child, orphan = pid_in(jobs / "a/pid"), pid_in(jobs / "a/orphan")
    until_it_is(backend, jobs / "a", JobState.RUNNING)
    slurm.run("scancel", number(slurm, jobs / "a"))
    status = until_it_is(backend, jobs / "a", JobState.CANCELLED)
    assert "slurm" in (status.error or "")
    assert not is_running(child)
    assert not is_running(orphan)


@pytest.mark.nightly
def test_a_job_whose_machine_died_waits_for_another(backend: SlurmBackend, slurm: SlurmLab, jobs: Path) -> None:
    backend.submit(shell("echo start >> starts; until [ -e go ]; do sleep 0.1; done"), jobs / "a")
    until_it_is(backend, jobs / "a", JobState.RUNNING)
    job = number(slurm, jobs / "a")
    handle = json.loads((jobs / "a/handle.json").read_text())
    slurm.kill("slurmd")
    kill_matching(f"slurmstepd: \\[{job}")
    kill_matching(f"foreground {jobs / 'a'}")
    for pid in (handle["pid"], handle["child"]):
        os.kill(pid, signal.SIGKILL)
    given_up = (JobState.QUEUED, JobState.LOST)  # Slurm requeues it, or ends it where its start had just been confirmed
    status = until(lambda: (now := backend.status(jobs / "a")).state in given_up and now)
    slurm.make_good()
    (jobs / "a/go").touch()
    if status.state is JobState.LOST:
        assert status.interrupted
        backend.submit(shell("echo start >> starts"), jobs / "a")
    slurm.run("scontrol", "update", f"JobId={job}", "StartTime=now")
    until_it_is(backend, jobs / "a", JobState.COMPLETED)
    assert (jobs / "a/starts").read_text().split() == ["start", "start"]


def kill_matching(pattern: str) -> None:
    subprocess.run(["pkill", "-KILL", "-f", pattern], check=False)


def test_a_job_that_slurm_forgot_is_lost_and_starts_again(backend: SlurmBackend, slurm: SlurmLab, jobs: Path) -> None:
    backend.submit(shell("echo start >> starts; sleep 300"), jobs / "a")
    until((jobs / "a/starts").exists)
    record = PlacedJobRecord(jobs / "a")
    placed = record.read()
    assert placed is not None
    slurm.run("scancel", number(slurm, jobs / "a"))
    until(lambda: not (jobs / "a/handle.json").exists() or not is_running(pid_of_supervisor(jobs / "a")))
    record.save(placed.model_copy(update={"token": "0" * 8}))  # under this name Slurm never had one
    status = until_it_is(backend, jobs / "a", JobState.LOST)
    assert "does not know the job" in (status.error or "")
    backend.submit(shell("echo start >> starts"), jobs / "a")
    until_it_is(backend, jobs / "a", JobState.COMPLETED)
    assert (jobs / "a/starts").read_text().split() == ["start", "start"]


def pid_of_supervisor(directory: Path) -> int:
    return int(json.loads((directory / "handle.json").read_text())["pid"])


def test_a_held_job_says_so_and_how_it_goes_on(backend: SlurmBackend, slurm: SlurmLab, jobs: Path) -> None:
    held = SlurmBackend(backend.cluster.model_copy(update={"options": {"extra": ["--hold"]}}))
    held.submit(shell("true"), jobs / "a")
    job = number(slurm, jobs / "a")
    until(lambda: held.status(jobs / "a").error == f"JobHeldUser. It is held. To let it run: scontrol release {job}")
    slurm.run("scontrol", "release", job)
    until_it_is(held, jobs / "a", JobState.COMPLETED)


def test_a_partition_that_is_down_is_the_reason_to_wait(backend: SlurmBackend, jobs: Path) -> None:
    down = SlurmBackend(backend.cluster.model_copy(update={"options": {"partition": "closed"}}))
    down.submit(shell("true"), jobs / "a")
    until(lambda: down.status(jobs / "a").error == "PartitionDown")
    assert down.cancel(jobs / "a").state is JobState.CANCELLED


def test_what_slurm_refuses_is_said_and_leaves_no_record(backend: SlurmBackend, jobs: Path) -> None:
    wrong = SlurmBackend(backend.cluster.model_copy(update={"options": {"partition": "nowhere"}}))
    with pytest.raises(EnvironmentProblem, match="invalid partition"):
        wrong.submit(shell("true"), jobs / "a")
    assert not PlacedJobRecord(jobs / "a").elsewhere
    backend.submit(shell("true"), jobs / "a")
    until_it_is(backend, jobs / "a", JobState.COMPLETED)


def test_a_controller_that_has_as_many_jobs_as_it_takes_is_the_reason_to_wait(
    slurm_cluster: Cluster, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("p2p.scheduler.backends.slurm.ANSWER_S", 3.0)
    monkeypatch.setattr("p2p.scheduler.backends.job_table.FULL_S", 0.5)
    with closing(SlurmLab(Path(tempfile.mkdtemp(prefix="slurm-")), 2, ("MaxJobCount=2", "MinJobAge=2"))) as small:
        full = SlurmBackend(slurm_cluster.model_copy(update={"variables": small.variables}))
        for name in ("a", "b"):
            full.submit(shell("until [ -e go ]; do sleep 0.1; done"), jobs / name)
        waits = full.submit(shell("echo once >> runs"), jobs / "c")
        assert waits.state is JobState.QUEUED
        assert "temporarily unable to accept job" in (waits.error or "")
        (jobs / "a/go").touch()
        until_it_is(full, jobs / "c", JobState.COMPLETED)
        assert (jobs / "c/runs").read_text() == "once\n"
        (jobs / "b/go").touch()
        until_it_is(full, jobs / "b", JobState.COMPLETED)


def test_an_interpreter_that_is_not_there_is_named(backend: SlurmBackend, jobs: Path) -> None:
    wrong = SlurmBackend(backend.cluster.model_copy(update={"python": "/no/such/python"}))
    wrong.submit(shell("true"), jobs / "a")
    assert "/no/such/python" in (until_it_is(wrong, jobs / "a", JobState.LOST).error or "")


def test_lines_and_a_wrapper_come_before_the_interpreter(backend: SlurmBackend, jobs: Path) -> None:
    made = {"setup": ("export P2P_DEBUG_MARK=$((40 + 2))",), "wrapper": "nice -n 3"}
    wrapped = SlurmBackend(backend.cluster.model_copy(update=made))
    wrapped.submit(shell("echo $P2P_DEBUG_MARK; nice"), jobs / "a")
    until_it_is(wrapped, jobs / "a", JobState.COMPLETED)
    assert wrapped.logs(jobs / "a")[0] == "42\n3\n"


def test_a_job_that_is_told_that_its_time_is_up_is_interrupted(
    backend: SlurmBackend, slurm: SlurmLab, jobs: Path
) -> None:
    backend.submit(shell("echo start >> starts; [ -e again ] || sleep 300"), jobs / "a")
    until_it_is(backend, jobs / "a", JobState.RUNNING)
    slurm.run("scancel", "--batch", "--signal=TERM", number(slurm, jobs / "a"))  # as --signal=B:TERM@60 does
    status = until_it_is(backend, jobs / "a", JobState.LOST)
    assert status.interrupted
    (jobs / "a/again").touch()
    backend.submit(shell("echo start >> starts; [ -e again ] || sleep 300"), jobs / "a")
    until_it_is(backend, jobs / "a", JobState.COMPLETED)
    assert (jobs / "a/starts").read_text().split() == ["start", "start"]


def test_no_key_of_the_submitter_reaches_the_cluster(
    backend: SlurmBackend, slurm: SlurmLab, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    monkeypatch.setenv("SOME_TOKEN", CANARY)
    backend.submit(shell("env; cat /proc/$PPID/environ; until [ -e go ]; do sleep 0.1; done"), jobs / "a")
    until_it_is(backend, jobs / "a", JobState.RUNNING)
    until(lambda: "PATH=" in backend.logs(jobs / "a")[0])
    shown = slurm.run("scontrol", "show", "job", number(slurm, jobs / "a")) + backend.logs(jobs / "a")[0]
    (jobs / "a/go").touch()
    until_it_is(backend, jobs / "a", JobState.COMPLETED)
    written = b"".join(path.read_bytes() for path in (jobs / "a").iterdir() if path.is_file())
    assert "PATH=" in shown
    assert CANARY not in shown
    assert CANARY.encode() not in written
    with pytest.raises(InvalidInput, match="gets no keys"):
        backend.submit(JobSpec(argv=("true",), secrets=("ANTHROPIC_API_KEY",)), jobs / "b")


def test_many_jobs_are_asked_for_at_once(
    backend: SlurmBackend, slurm: SlurmLab, jobs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert slurm
    squeue = Path(subprocess.check_output(["which", "squeue"], text=True).strip())
    (tmp_path / "bin").mkdir()
    counting = tmp_path / "bin/squeue"
    counting.write_text(f'#!/bin/sh\necho >> {tmp_path}/asked\nexec {squeue} "$@"\n')
    counting.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    held = SlurmBackend(backend.cluster.model_copy(update={"options": {"extra": ["--hold"]}}))
    directories = [jobs / f"run_{i}" for i in range(20)]
    for directory in directories:
        held.submit(shell("true"), directory)
    (tmp_path / "asked").unlink(missing_ok=True)
    for _ in range(10):
        assert {held.status(directory).state for directory in directories} == {JobState.QUEUED}
    assert len((tmp_path / "asked").read_text()) <= 2
    for directory in directories:
        held.cancel(directory)


def test_a_cluster_is_found_by_its_name_and_its_jobs_by_their_directories(
    slurm_cluster: Cluster, jobs: Path, tmp_path: Path
) -> None:
    store = NodeStore(tmp_path / "nodes")
    ClusterStore(store.path).add(slurm_cluster.model_copy(update={"name": "lab"}))
    backend = open_backend("slurm:lab", store)
    backend.submit(shell("echo there; until [ -e go ]; do sleep 0.1; done"), jobs / "a")
    other = open_backend("local", store)
    until(lambda: other.logs(jobs / "a")[0] == "there\n")
    assert not other.submit(shell("echo here"), jobs / "a").state.finished
    ClusterStore(store.path).remove("lab")  # its jobs are found all the same
    (jobs / "a/go").touch()
    until(lambda: other.status(jobs / "a").state is JobState.COMPLETED)
    assert other.logs(jobs / "a")[0] == "there\n"


def test_a_job_lost_on_a_cluster_goes_on_here(backend: SlurmBackend, jobs: Path, tmp_path: Path) -> None:
    wrong = SlurmBackend(backend.cluster.model_copy(update={"python": "/no/such/python"}))
    wrong.submit(shell("echo here"), jobs / "a")
    until_it_is(wrong, jobs / "a", JobState.LOST)
    here = open_backend("local", NodeStore(tmp_path / "nodes"))
    here.submit(shell("echo here"), jobs / "a")
    until(lambda: here.status(jobs / "a").state is JobState.COMPLETED)
    assert not PlacedJobRecord(jobs / "a").elsewhere


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Policies of a training that nobody interrupts."""
    (run,) = prepared(tmp_path_factory.mktemp("undisturbed"), "run")
    train(LocalBackend(), run)
    return policies(run)


def train(backend: Backend, run: IterationRecord, tick: Callable[[], object] = lambda: None) -> int:
    """Train a run; return how often it was resumed."""
    Trainer(backend, worker_job("train"), 1, tick).train([run], poll_s=0.5)
    summary = run.read_summary()
    assert summary is not None, backend.status(run.path)
    return summary.resumed


def rollouts_made(run: IterationRecord) -> int:
    """Rollouts that a run has learned from, saved or not."""
    return len(run.parse_scalars()[0])


def rollouts_saved(run: IterationRecord) -> int:
    """Rollouts at its resume point; 0 without one."""
    point = run.read_resume_point()
    return point.rollouts if point is not None else 0


@pytest.mark.nightly
def test_a_training_that_is_requeued_again_and_again_gives_the_policies_of_one_that_was_not(
    backend: SlurmBackend, slurm: SlurmLab, jobs: Path, undisturbed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("P2P_RESUME_S", "1")
    (run,) = prepared(jobs, "requeued")
    reached = [0]

    def requeue() -> None:
        """Interrupt the run whenever it has a later resume point, twice."""
        if len(reached) < 3 and rollouts_saved(run) > reached[-1]:
            until(lambda: slurm.succeeds("scontrol", "requeue", number(slurm, run.path)))
            until_it_is(backend, run.path, JobState.QUEUED)
            reached.append(rollouts_saved(run))
        begin_now(backend, slurm, run.path)

    assert train(ByDirectory(backend, NodeStore(jobs / "nodes")), run, requeue) == 2
    assert policies(run) == undisturbed


def begin_now(backend: SlurmBackend, slurm: SlurmLab, directory: Path) -> None:
    """Spare a requeued job the two minutes that Slurm lets it wait."""
    if backend.status(directory).error == "BeginTime":
        slurm.run("scontrol", "update", f"JobId={number(slurm, directory)}", "StartTime=now")


@pytest.mark.nightly
def test_a_training_whose_time_is_up_again_and_again_repeats_no_rollout_and_counts_no_retry(
    backend: SlurmBackend, slurm: SlurmLab, jobs: Path, undisturbed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("P2P_RESUME_S", "1000")  # no resume points but those of its ends
    (run,) = prepared(jobs, "limited")
    ends = [0]

    def end() -> None:
        """Tell the run that its time is up as `--signal=B:TERM@60` does; more often than a run may fail."""
        if len(ends) <= RETRIES + 2 and rollouts_made(run) > ends[-1]:
            slurm.run("scancel", "--batch", "--signal=TERM", number(slurm, run.path))
            assert until_it_is(backend, run.path, JobState.LOST).interrupted
            assert rollouts_saved(run) == rollouts_made(run)
            ends.append(rollouts_made(run))

    assert train(backend, run, end) == RETRIES + 2
    assert policies(run) == undisturbed


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_a_training_that_takes_several_time_limits_repeats_no_rollout(
    backend: SlurmBackend, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("P2P_RESUME_S", "1000")
    (run,) = prepared(jobs, "limited", steps=2_000_000)
    starts = list[tuple[int, int]]()

    class Noting(SlurmBackend):
        def submit(self, spec: JobSpec, directory: Path) -> JobStatus:
            starts.append((rollouts_made(run), rollouts_saved(run)))
            return super().submit(spec, directory)

    resumed = train(Noting(backend.cluster.model_copy(update={"time_limit_min": 1})), run)
    print(f"{resumed} limits, {starts}")
    assert resumed >= 2
    assert len(starts) == resumed + 1
    assert [made for made, _ in starts] == [saved for _, saved in starts]


@pytest.fixture
def urgent(backend: SlurmBackend) -> SlurmBackend:
    """Submits jobs that want all cores, and for which Slurm ends others."""
    return SlurmBackend(backend.cluster.model_copy(update={"options": {"partition": "urgent"}, "cores": 8}))


def test_a_job_that_makes_room_for_a_more_urgent_one_goes_on_in_its_directory(
    backend: SlurmBackend, urgent: SlurmBackend, slurm: SlurmLab, jobs: Path
) -> None:
    backend.submit(shell("echo start >> starts; [ -e again ] || sleep 300"), jobs / "a")
    until_it_is(backend, jobs / "a", JobState.RUNNING)
    urgent.submit(shell("true"), jobs / "urgent")
    until_it_is(backend, jobs / "a", JobState.QUEUED)
    until_it_is(urgent, jobs / "urgent", JobState.COMPLETED)
    (jobs / "a/again").touch()
    slurm.run("scontrol", "update", f"JobId={number(slurm, jobs / 'a')}", "StartTime=now")
    until_it_is(backend, jobs / "a", JobState.COMPLETED)
    assert (jobs / "a/starts").read_text().split() == ["start", "start"]


@pytest.mark.nightly
def test_a_training_that_makes_room_for_a_more_urgent_job_goes_on_where_it_was(
    backend: SlurmBackend,
    urgent: SlurmBackend,
    slurm: SlurmLab,
    jobs: Path,
    undisturbed: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("P2P_RESUME_S", "1000")
    (run,) = prepared(jobs, "preempted")
    reached = [0]

    def preempt() -> None:
        """Have another job want all cores, whenever the run has got further, twice."""
        if len(reached) < 3 and rollouts_made(run) > reached[-1]:
            other = jobs / f"urgent_{len(reached)}"
            urgent.submit(shell("true"), other)
            until_it_is(backend, run.path, JobState.QUEUED)
            until_it_is(urgent, other, JobState.COMPLETED)
            assert rollouts_saved(run) == rollouts_made(run)
            reached.append(rollouts_made(run))
        begin_now(backend, slurm, run.path)

    assert train(backend, run, preempt) == 2
    assert policies(run) == undisturbed


@pytest.mark.nightly
def test_a_job_on_a_login_node_waits_in_slurm_and_goes_on_when_it_is_requeued(
    login_node: Lab, slurm: SlurmLab, jobs: Path
) -> None:
    backend = SSHBackend("login", login_node.store)
    assert backend.capacity().runs == 1000
    backend.submit(shell("echo start >> starts; until [ -e go ]; do sleep 0.1; done"), jobs / "a")
    until(lambda: backend.status(jobs / "a").state is JobState.RUNNING)
    there = login_node.remote_directory(jobs / "a")
    job = number(slurm, there)
    until(lambda: slurm.succeeds("scontrol", "requeue", job))
    until(lambda: backend.status(jobs / "a").state is JobState.QUEUED)
    slurm.run("scontrol", "update", f"JobId={job}", "StartTime=now")
    (there / "go").touch()
    until(lambda: backend.status(jobs / "a").state is JobState.COMPLETED)
    assert (jobs / "a/starts").read_text().split() == ["start", "start"]
