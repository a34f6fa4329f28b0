"""What may go wrong on one machine: killed submitters and supervisors, stubborn trees, races, broken files."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from job_helpers import is_running, pid_in, shell, until

from p2p.contracts.errors import EnvironmentProblem, StorageProblem
from p2p.contracts.job import JobSpec, JobState
from p2p.scheduler import supervisor
from p2p.scheduler.backends import local
from p2p.scheduler.backends.local import LocalBackend

backend = LocalBackend()

SUBMIT = """
import sys, time
from pathlib import Path
from p2p.contracts.job import JobSpec
from p2p.scheduler.backends.local import LocalBackend
LocalBackend().submit(JobSpec.model_validate_json(sys.argv[1]), Path(sys.argv[2]))
if "stay" in sys.argv: time.sleep(60)
"""


def supervisor_of(directory: Path) -> int:
    return int(json.loads((directory / "handle.json").read_text())["pid"])


def test_waiting_yields_each_job_as_it_ends(jobs: Path) -> None:
    backend.submit(shell("until [ -e ../a/go ]; do sleep 0.02; done; exit 3"), jobs / "slow")
    backend.submit(shell("true"), jobs / "a")
    ends = []
    for directory, status in backend.wait([jobs / "slow", jobs / "a"]):
        ends.append((directory.name, status.state, status.exit_code))
        (jobs / "a/go").touch()
    assert ends == [("a", JobState.COMPLETED, 0), ("slow", JobState.FAILED, 3)]


def test_cancel_ends_a_tree_that_ignores_polite_signals_and_leaves_its_session(jobs: Path) -> None:
    script = """
        trap '' TERM
        setsid sh -c 'trap "" TERM; echo $$ > far; setsid sleep 60 & echo $! > farther; wait' &
        sleep 60 & echo $! > near
        echo $$ > self
        while :; do sleep 1; done
    """
    backend.submit(shell(script), jobs / "a")
    pids = [pid_in(jobs / "a" / name) for name in ("self", "near", "far", "farther")]
    assert all(map(is_running, pids))
    assert backend.cancel(jobs / "a").state is JobState.CANCELLED
    assert not any(map(is_running, pids))


def test_a_cancelled_job_may_tidy_up(jobs: Path) -> None:
    backend.submit(
        shell("trap 'echo tidy > done; exit 0' TERM; echo $$ > pid; while :; do sleep 0.05; done"), jobs / "a"
    )
    pid_in(jobs / "a/pid")
    assert backend.cancel(jobs / "a").state is JobState.CANCELLED
    assert (jobs / "a/done").read_text() == "tidy\n"


def test_a_supervisor_asked_to_stop_cancels_its_job(jobs: Path) -> None:
    backend.submit(shell("echo $$ > pid; exec sleep 60"), jobs / "a")
    os.kill(supervisor_of(jobs / "a"), signal.SIGTERM)
    (_, end), *_ = backend.wait([jobs / "a"])
    assert end.state is JobState.CANCELLED
    assert not is_running(pid_in(jobs / "a/pid"))


def test_a_job_has_longer_to_end_when_its_supervisor_is_told_so_by_a_signal(jobs: Path) -> None:
    tidies = "trap 'sleep 3; echo tidy > done; exit 0' TERM; echo $$ > pid; while :; do sleep 0.05; done"
    backend.submit(shell(tidies), jobs / "a")
    pid_in(jobs / "a/pid")
    os.kill(supervisor_of(jobs / "a"), signal.SIGTERM)
    assert next(backend.wait([jobs / "a"]))[1].state is JobState.CANCELLED
    assert (jobs / "a/done").read_text() == "tidy\n"


def test_what_a_job_leaves_behind_ends_with_it(jobs: Path) -> None:
    backend.submit(shell("setsid sleep 60 & echo $! > stray; exit 0"), jobs / "a")
    assert next(backend.wait([jobs / "a"]))[1].state is JobState.COMPLETED
    assert not is_running(pid_in(jobs / "a/stray"))


def test_a_job_goes_on_when_its_submitter_is_killed(jobs: Path) -> None:
    spec = shell("echo $$ > pid; until [ -e go ]; do sleep 0.02; done; exit 5")
    submitter = subprocess.Popen([sys.executable, "-c", SUBMIT, spec.model_dump_json(), str(jobs / "a"), "stay"])
    pid = pid_in(jobs / "a/pid")
    submitter.kill()
    submitter.wait()
    assert not backend.status(jobs / "a").state.finished
    assert is_running(pid)
    (jobs / "a/go").touch()
    assert next(backend.wait([jobs / "a"]))[1].exit_code == 5


def test_a_killed_supervisor_takes_its_job_along_and_the_job_can_be_submitted_again(jobs: Path) -> None:
    spec = shell("sleep 60 & echo $! > grandchild; echo $$ > pid; until [ -e go ]; do sleep 0.02; done")
    backend.submit(spec, jobs / "a")
    pid, grandchild = pid_in(jobs / "a/pid"), pid_in(jobs / "a/grandchild")
    os.kill(supervisor_of(jobs / "a"), signal.SIGKILL)
    until(lambda: not is_running(pid))
    lost = next(backend.wait([jobs / "a"]))[1]
    assert lost.state is JobState.LOST
    assert "submit the job again" in (lost.error or "")
    (jobs / "a/go").touch()
    assert backend.submit(spec, jobs / "a").state in (JobState.RUNNING, JobState.COMPLETED)
    assert not is_running(grandchild)
    assert next(backend.wait([jobs / "a"]))[1].state is JobState.COMPLETED


def test_a_lost_job_can_be_cancelled_with_all_that_is_left_of_it(jobs: Path) -> None:
    backend.submit(shell("sleep 60 & echo $! > grandchild; sleep 60"), jobs / "a")
    grandchild = pid_in(jobs / "a/grandchild")
    os.kill(supervisor_of(jobs / "a"), signal.SIGKILL)
    assert backend.cancel(jobs / "a").state is JobState.CANCELLED
    until(lambda: not is_running(grandchild))


def test_a_frozen_supervisor_is_killed_by_a_patient_cancel(jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("p2p.scheduler.backends.local.KILL_AFTER_S", 0.2)
    backend.submit(shell("echo $$ > pid; exec sleep 60"), jobs / "a")
    pid = pid_in(jobs / "a/pid")
    os.kill(supervisor_of(jobs / "a"), signal.SIGSTOP)
    assert backend.cancel(jobs / "a").state is JobState.CANCELLED
    until(lambda: not is_running(pid))


def test_submitting_from_many_sides_at_once_starts_one_job(jobs: Path) -> None:
    spec = shell("echo started >> starts; until [ -e go ]; do sleep 0.02; done")
    with ThreadPoolExecutor(6) as pool:
        states = list(pool.map(lambda _: backend.submit(spec, jobs / "a").state, range(6)))
    assert set(states) <= {JobState.RUNNING, JobState.SUBMITTING}
    until(lambda: (jobs / "a/starts").exists())
    (jobs / "a/go").touch()
    assert next(backend.wait([jobs / "a"]))[1].state is JobState.COMPLETED
    assert (jobs / "a/starts").read_text() == "started\n"


def test_readers_never_see_a_live_job_as_lost_nor_keep_one_from_starting(jobs: Path) -> None:
    seen = set()
    with ThreadPoolExecutor(4) as pool:
        for attempt in range(4):
            submission = pool.submit(backend.submit, shell(f"exit {attempt + 1}"), jobs / "a")
            while not submission.done():
                if (jobs / "a/job.json").exists():
                    seen.add(backend.status(jobs / "a").state)
            assert next(backend.wait([jobs / "a"]))[1].exit_code == attempt + 1
    assert JobState.LOST not in seen


def test_a_job_whose_submitter_was_killed_before_it_began_is_lost_and_can_be_cancelled_or_submitted(jobs: Path) -> None:
    for name in ("a", "b"):
        (jobs / name).mkdir(parents=True)
        (jobs / name / "job.json").write_text(shell("true").model_dump_json())
        assert backend.status(jobs / name).state is JobState.LOST
        assert backend.logs(jobs / name) == ("", 0)
    assert backend.cancel(jobs / "a").state is JobState.CANCELLED
    backend.submit(shell("true"), jobs / "b")
    assert next(backend.wait([jobs / "b"]))[1].state is JobState.COMPLETED


def test_a_job_that_is_being_submitted_is_queued_and_lost_only_when_its_submitter_is_killed(jobs: Path) -> None:
    slow = "import subprocess, sys, time; from pathlib import Path; from p2p.contracts.job import JobSpec\n"
    slow += "from p2p.scheduler.backends import local\n"
    slow += "local._start_supervisor = lambda _: time.sleep(600)\n"
    slow += "local.LocalBackend().submit(JobSpec(argv=('true',)), Path(sys.argv[1]))"
    with subprocess.Popen([sys.executable, "-c", slow, str(jobs / "a")]) as submitter:
        until(lambda: (jobs / "a/job.json").exists())
        assert backend.status(jobs / "a").state is JobState.QUEUED
        submitter.kill()
    assert backend.status(jobs / "a").state is JobState.LOST


def test_a_job_whose_status_file_is_broken_is_lost_and_may_start_again(jobs: Path) -> None:
    backend.submit(shell("exit 1"), jobs / "a")
    next(backend.wait([jobs / "a"]))
    (jobs / "a/status.json").write_text('{"state": "compl')
    assert next(backend.wait([jobs / "a"]))[1].state is JobState.LOST  # nobody waits for it for ever
    backend.submit(shell("true"), jobs / "a")
    assert next(backend.wait([jobs / "a"]))[1].state is JobState.COMPLETED


def test_a_submission_that_comes_late_starts_nothing_again(jobs: Path) -> None:
    late = [sys.executable, "-I", "-S", supervisor.__file__, str(jobs / "b"), ""]  # whoever sent it saw no status
    backend.submit(shell("echo run >> count; exec sleep 60"), jobs / "b")
    until(lambda: (jobs / "b/count").exists())
    backend.cancel(jobs / "b")
    assert subprocess.run(late, check=False).returncode == 0
    assert backend.status(jobs / "b").state is JobState.CANCELLED
    assert (jobs / "b/count").read_text() == "run\n"
    backend.submit(shell("echo run >> count"), jobs / "b")
    assert next(backend.wait([jobs / "b"]))[1].state is JobState.COMPLETED


def test_a_submission_of_a_live_job_leaves_nothing_behind_that_could_come_late(
    jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.submit(shell("sleep 60"), jobs / "a")
    started: list[Path] = []
    monkeypatch.setattr(local, "_start_supervisor", lambda directory: started.append(directory))
    assert backend.submit(shell("sleep 60"), jobs / "a").state is JobState.RUNNING
    assert not started
    os.kill(supervisor.read(jobs / "a" / supervisor.HANDLE)["pid"], signal.SIGKILL)
    until(lambda: backend.status(jobs / "a").state is JobState.LOST)
    backend.submit(shell("sleep 60"), jobs / "a")
    assert started == [jobs / "a"]


@pytest.mark.parametrize("failures", [1, 2])
def test_a_supervisor_that_dies_in_its_first_moment_is_started_once_more(
    jobs: Path, monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    start, died = local._start_supervisor, list[Path]()

    def starts(directory: Path) -> None:
        if len(died) < failures:
            died.append(directory)
            raise EnvironmentProblem("its supervisor died")
        start(directory)

    monkeypatch.setattr(local, "_start_supervisor", starts)
    if failures == 2:
        with pytest.raises(EnvironmentProblem, match="its supervisor died"):
            backend.submit(shell("true"), jobs / "a")
    else:
        backend.submit(shell("true"), jobs / "a")
        assert next(backend.wait([jobs / "a"]))[1].state is JobState.COMPLETED
    assert len(died) == failures


def test_a_job_whose_directory_is_removed_ends(jobs: Path) -> None:
    backend.submit(shell("echo $$ > pid; exec sleep 60"), jobs / "a")
    pid, pid_above = pid_in(jobs / "a/pid"), supervisor_of(jobs / "a")
    (jobs / "a").rename(jobs / "away")
    until(lambda: not is_running(pid) and not is_running(pid_above))


def test_keys_reach_a_job_only_when_it_names_them(jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "P2P_OTHER_API_KEY", "GEMINI_API_KEY", "MY_TOKEN", "SSH_AUTH_SOCK", "NOT_KNOWN"):
        monkeypatch.setenv(name, f"canary {name}")
    monkeypatch.setenv("P2P_RUNS_DIR", "runs here")
    monkeypatch.setenv("LC_TIME", "C")
    spec = shell(
        "env; tr '\\0' '\\n' < /proc/$PPID/environ",
        env={"MINE": "yes", "OPENAI_API_KEY": "canary"},
        secrets=["GEMINI_API_KEY"],
    )
    backend.submit(spec, jobs / "a")
    next(backend.wait([jobs / "a"]))
    log = backend.logs(jobs / "a")[0]
    for expected in (
        "GEMINI_API_KEY=canary",
        "MINE=yes",
        "P2P_RUNS_DIR=runs here",
        "LC_TIME=C",
        f"P2P_JOB={jobs / 'a'}",
    ):
        assert expected in log
    for name in ("ANTHROPIC_API_KEY", "P2P_OTHER_API_KEY", "OPENAI_API_KEY", "MY_TOKEN", "SSH_AUTH_SOCK", "NOT_KNOWN"):
        assert name not in log
    files = [path for path in (jobs / "a").iterdir() if path.name not in ("output.log", "job.json")]
    assert not any("canary" in path.read_text() for path in files)


def test_a_job_that_wants_more_memory_than_allowed_fails(jobs: Path) -> None:
    script = "print(len(bytearray(300 << 20)))"
    backend.submit(JobSpec(argv=("{python}", "-c", script), max_memory_mb=200), jobs / "a")
    end = next(backend.wait([jobs / "a"]))[1]
    assert end.state is JobState.FAILED
    assert "MemoryError" in (end.error or "")


def test_jobs_submitted_by_a_job_outlive_its_end_but_not_its_cancellation(jobs: Path) -> None:
    inner = shell("echo $$ > pid; exec sleep 60").model_dump_json()

    def driver(then: str) -> JobSpec:
        submit = f'"$0" -c "$1" "$2" ../inner && {then}'
        return JobSpec(argv=("/bin/sh", "-c", submit, sys.executable, SUBMIT, inner))

    backend.submit(driver("exit 4"), jobs / "driver")
    assert next(backend.wait([jobs / "driver"]))[1].exit_code == 4
    pid = pid_in(jobs / "inner/pid")
    assert backend.status(jobs / "inner").state is JobState.RUNNING
    backend.cancel(jobs / "inner")

    (jobs / "inner/pid").unlink()
    backend.submit(driver("sleep 60"), jobs / "driver")
    pid = pid_in(jobs / "inner/pid")
    assert is_running(pid)
    assert backend.cancel(jobs / "driver").state is JobState.CANCELLED
    assert not is_running(pid)
    assert backend.status(jobs / "inner").state is JobState.CANCELLED


@pytest.mark.parametrize("place", ["/proc/jobs/a", "file/a"])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageProblem, match=f"Cannot write .*{place}"):
        backend.submit(shell("true"), tmp_path / place)
