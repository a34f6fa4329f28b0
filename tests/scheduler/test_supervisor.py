"""The supervisor as a file of its own, as it is copied to other machines."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from job_helpers import is_running, pid_in, shell, until

from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.scheduler import limits, supervisor
from p2p.scheduler.backends.local import LocalBackend
from p2p.store import layout


def run(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, timeout=30)


def write_job(directory: Path, spec: JobSpec) -> Path:
    directory.mkdir(parents=True)
    (directory / "job.json").write_text(spec.model_dump_json())
    return directory


@pytest.mark.parametrize("form", ["module", "copy"])
def test_it_starts_a_job_once_and_prints_the_same_handle_again(jobs: Path, tmp_path: Path, form: str) -> None:
    copy = shutil.copy(supervisor.__file__, tmp_path / "copied.py")
    shutil.copy(limits.__file__, tmp_path)
    command = ("-m", "p2p.scheduler.supervisor") if form == "module" else ("-I", "-S", str(copy))
    directory = write_job(jobs / "a", shell("echo once >> runs; until [ -e go ]; do sleep 0.02; done"))
    first, second = run(*command, str(directory)), run(*command, str(directory))
    assert (first.returncode, first.stderr) == (0, "")
    assert second.stdout == first.stdout
    assert json.loads(first.stdout)["pid"] > 0
    (directory / "go").touch()
    until(lambda: LocalBackend().status(directory).state is JobState.COMPLETED)
    assert run(*command, str(directory)).stdout == first.stdout
    assert (directory / "runs").read_text() == "once\n"


def test_every_status_it_writes_is_a_job_status(jobs: Path) -> None:
    for name, script in {"good": "true", "bad": "exit 3", "killed": "kill -9 $$"}.items():
        directory = write_job(jobs / name, shell(script))
        run(supervisor.__file__, str(directory))
        seen = []

        def ended(directory: Path = directory, seen: list[JobStatus] = seen) -> bool:
            seen.append(JobStatus.model_validate_json((directory / "status.json").read_bytes()))
            return seen[-1].state.finished

        until(ended)
        assert {status.state for status in seen} <= {JobState.RUNNING, JobState.COMPLETED, JobState.FAILED}
        assert JobSpec.model_validate_json((directory / "job.json").read_bytes()) == shell(script)
        assert not list(directory.glob(".*"))


def test_it_says_what_is_missing() -> None:
    for arguments in ((), ("/nowhere",)):
        done = run(supervisor.__file__, *arguments)
        assert done.returncode == 2
        assert "job.json" in done.stderr


def test_it_names_the_files_as_the_store_does() -> None:
    ours = (supervisor.JOB, supervisor.LOCK, supervisor.STATUS, supervisor.HANDLE, supervisor.LOG, supervisor.CANCEL)
    theirs = (layout.JOB, layout.LOCK, layout.STATUS, layout.HANDLE, layout.OUTPUT_LOG, layout.CANCEL)
    assert ours == theirs


def test_a_recycled_process_id_is_not_taken_for_its_supervisor() -> None:
    me = {"pid": os.getpid(), "began": supervisor.processes()[os.getpid()][1]}
    assert supervisor.is_alive(me)
    assert not supervisor.is_alive({**me, "began": "another boot 17"})
    assert not supervisor.is_alive({})


def test_importing_the_scheduler_loads_nothing_heavy() -> None:
    code = "import sys, p2p.scheduler.supervisor; print([m for m in ('pydantic', 'numpy') if m in sys.modules])"
    assert run("-c", code).stdout == "[]\n"


def test_a_job_that_is_stopped_says_so_until_it_goes_on(jobs: Path) -> None:
    backend = LocalBackend()
    backend.submit(shell("echo $$ > pid; exec sleep 60"), jobs / "a")
    pid = pid_in(jobs / "a/pid")
    os.kill(pid, signal.SIGSTOP)
    status = until(lambda: (s := backend.status(jobs / "a")).error and s)
    assert status.state is JobState.RUNNING
    assert f"kill -CONT {pid}" in status.error
    os.kill(pid, signal.SIGCONT)
    until(lambda: backend.status(jobs / "a").error is None)
    os.kill(pid, signal.SIGSTOP)
    assert backend.cancel(jobs / "a").state is JobState.CANCELLED
    assert not is_running(pid)


def test_what_killed_writers_of_a_status_left_is_swept(tmp_path: Path) -> None:
    killed, alive, other = (tmp_path / name for name in (".status.json.123", ".status.json.124", ".handle.json.123"))
    for path in (killed, alive, other):
        path.write_text("half")
    for path in (killed, other):
        os.utime(path, (0, 0))
    supervisor.put_status(tmp_path, state="running")
    assert sorted(path.name for path in tmp_path.iterdir()) == [other.name, alive.name, "status.json"]
