"""The directory of a job that somebody else wrote: it names processes, files and commands of its own choice."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from job_helpers import shell, until

from p2p.contracts.job import JobState
from p2p.scheduler import supervisor
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.processes import kill


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A job that seems to run."""
    directory = tmp_path / "copied"
    directory.mkdir()
    (directory / "job.json").write_text(json.dumps({"argv": ["touch", str(tmp_path / "run by the copy")]}))
    (directory / "status.json").write_text(json.dumps({"state": "running", "started_at": "2026-01-01T00:00:00Z"}))
    return directory


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process does not tell whose supervisor it is")
def test_a_process_that_a_copied_handle_names_is_not_killed(copied: Path) -> None:
    """Pid and beginning of every process can be read by every user."""
    with subprocess.Popen(["sleep", "60"]) as shell_of_the_reader:
        pid = shell_of_the_reader.pid
        (copied / "handle.json").write_text(json.dumps({"pid": pid, "began": supervisor.processes()[pid][1]}))
        assert LocalBackend().cancel(copied).state is JobState.CANCELLED
        assert shell_of_the_reader.poll() is None
        shell_of_the_reader.kill()


@pytest.mark.parametrize(
    "handle",
    ['{"pid": 1}', '{"pid": [1], "began": "x"}', '{"pid": "1", "began": ""}', '{"pid": -1, "began": ""}', "[]"],
)
def test_a_handle_of_any_content_names_nobody(copied: Path, handle: str) -> None:
    (copied / "handle.json").write_text(handle)
    assert not supervisor.is_alive(supervisor.read(copied / "handle.json"))
    kill(copied)
    assert LocalBackend().cancel(copied).state is JobState.CANCELLED


@pytest.mark.parametrize("name", ["handle.json", "status.json"])
def test_a_pipe_or_a_link_in_place_of_a_file_is_no_file(copied: Path, tmp_path: Path, name: str) -> None:
    (copied / name).unlink(missing_ok=True)
    (elsewhere := tmp_path / "elsewhere").write_text('{"pid": 1}')
    os.mkfifo(copied / name)
    read: list[object] = []
    reader = threading.Thread(target=lambda: read.append(supervisor.read(copied / name)), daemon=True)
    reader.start()
    reader.join(20)
    assert read == [{}]
    (copied / name).unlink()
    (copied / name).symlink_to(elsewhere)
    assert supervisor.read(copied / name) == {}


def test_what_is_written_follows_no_link(copied: Path, tmp_path: Path) -> None:
    (precious := tmp_path / "precious").write_text("mine")
    (copied / f".status.json.{os.getpid()}").symlink_to(precious)
    supervisor.put_status(copied, state="failed")
    (copied / "cancel").symlink_to(tmp_path / "made by a link")
    LocalBackend().cancel(copied)
    assert precious.read_text() == "mine"
    assert not (tmp_path / "made by a link").exists()


def test_a_job_that_is_submitted_runs_what_was_asked_for_and_not_what_the_copy_says(
    copied: Path, tmp_path: Path
) -> None:
    LocalBackend().submit(shell("echo asked > count"), copied)
    until(lambda: LocalBackend().status(copied).state.finished)
    assert (copied / "count").read_text() == "asked\n"
    assert not (tmp_path / "run by the copy").exists()
