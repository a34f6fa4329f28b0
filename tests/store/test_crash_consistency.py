"""What is called complete is complete after a power cut: contents reach the disk before the name, then the name.

Watched at the system calls that decide it: a file is renamed only after an fsync that followed its last change, and
the directory gets its fsync before the next step begins.
"""

import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from p2p.contracts.session import SessionStatus
from p2p.contracts.training import ResumePoint
from p2p.contracts.work import PictureResult
from p2p.scheduler import supervisor
from p2p.scheduler.nodes import transfer
from p2p.store import arrays, files, layout
from p2p.store.background import BackgroundDirectory
from p2p.store.exports import ExportedFiles
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import SeenPictures, SheetRecord, take_over
from p2p.store.resume_points import ResumeRecord
from p2p.store.sessions import RunsDirectory


class Disk:
    """What has reached the disk, as far as the system calls promise."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.synced: dict[tuple[int, int], tuple[int, int]] = {}
        self.names: set[str] = set()
        """Directories with a new name that may be lost."""
        self.renamed: list[str] = []
        self.faults: list[str] = []
        self._fsync = os.fsync
        monkeypatch.setattr(os, "fsync", self.fsync)
        for name in ("replace", "rename", "link"):
            monkeypatch.setattr(os, name, self.renaming(getattr(os, name)))

    def fsync(self, descriptor: int) -> None:
        self._fsync(descriptor)
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            self.names = {name for name in self.names if Path(name).stat().st_ino != status.st_ino}
        self.synced[status.st_dev, status.st_ino] = status.st_size, status.st_mtime_ns

    def renaming(self, rename: Callable[..., None]) -> Callable[..., None]:
        def watched(source: Any, target: Any, **where: Any) -> None:
            status = Path(source).stat()
            is_file = stat.S_ISREG(status.st_mode)  # what is in a directory was watched file by file
            if is_file and self.synced.get((status.st_dev, status.st_ino)) != (status.st_size, status.st_mtime_ns):
                self.faults.append(f"{Path(target).name} is renamed before the disk has it")
            rename(source, target, **where)
            self.renamed.append(Path(target).name)
            self.names.add(str(Path(target).parent))

        return watched


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def _text(place: Path) -> None:
    files.write_text(place / "x.txt", "text")


def _json(place: Path) -> None:
    files.write_json(place / "x.json", [1])


def _arrays(place: Path) -> None:
    arrays.save_arrays(place / "x.npz", {"a": np.ones(5)})


def _features(place: Path) -> None:
    arrays.save_features(place / "features.npz", [{"speed": np.ones(5)}])


def _picture(place: Path) -> None:
    SeenPictures(place).keep(b"picture", ".jpg")


def _any_writer(place: Path) -> None:
    """A video or a model: written by a library that opens the path by itself."""
    with files.replacing(place / "x.mp4") as temporary, temporary.open("wb") as file:
        file.write(b"video")


def _session(place: Path) -> None:
    record = RunsDirectory(place).session("one")
    record.set_status(SessionStatus.RUNNING)
    record.end(SessionStatus.PASSED)
    record.iteration(1).save_reward_source("reward")


def _supervisor(place: Path) -> None:
    supervisor.put_status(place, state="completed")


def _export(place: Path) -> None:
    package = ExportedFiles(place / "package")
    files.write_text(place / "policy", "policy")
    package.copy(place / "policy", package.policy_path)
    files.write_text(package.report_path, "{}")
    package.deliver(place / "delivered")


def _arrival(place: Path) -> None:
    (place / "x.npz.part").write_bytes(b"arrays")
    offered = {"x.npz": {"sha256": hashlib.sha256(b"arrays").hexdigest()}}
    assert transfer.settle(place, [{"name": "x.npz"}], offered)


def _pictures(place: Path) -> None:
    """Pictures of a report, taken over by their iteration; the notes tell that all are there."""
    report, iteration = place / "report", place / "iter_1"
    files.make_directory(iteration)
    for name in (layout.LEARNING_CURVE, layout.CONTACT_SHEET, f"{layout.FRAMES}/{layout.frame_name(1)}"):
        files.write_text(report / name, "picture")
    SheetRecord(report).save_result(PictureResult(sheet=layout.CONTACT_SHEET, sizes={}))
    take_over(report, iteration)
    assert SheetRecord(iteration).read_result() is not None


def _key(place: Path) -> None:
    """A caller's key, bound to its job: without it a retry trains twice."""
    BackgroundDirectory(place).claim("key", "job_" + "1" * 32)


def _resume_point(place: Path) -> None:
    point = ResumePoint(
        inputs={}, rollouts=1, seconds=1.0, resumed=0, peak_memory_mb=1, evaluated=(), pending=(), digest=""
    )
    ResumeRecord(IterationRecord(place)).save(point, {"a": np.ones(5)})


WRITERS = (
    _pictures,
    _key,
    _text,
    _json,
    _arrays,
    _features,
    _picture,
    _any_writer,
    _session,
    _supervisor,
    _export,
    _arrival,
)


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__.strip("_"))
def test_contents_reach_the_disk_before_the_name_and_the_name_before_the_next_step(
    tmp_path: Path, disk: Disk, write: Callable[[Path], None]
) -> None:
    write(tmp_path)
    assert disk.renamed
    assert disk.faults == []
    assert disk.names == set()


def test_lines_that_are_to_last_have_reached_the_disk(tmp_path: Path, disk: Disk) -> None:
    files.append_line(tmp_path / "x.jsonl", "{}")
    status = (tmp_path / "x.jsonl").stat()
    assert disk.synced[status.st_dev, status.st_ino] == (status.st_size, status.st_mtime_ns)


def test_the_watch_sees_a_rename_without_fsync(tmp_path: Path, disk: Disk) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "a").replace(tmp_path / "b")
    assert disk.faults == ["b is renamed before the disk has it"]
    assert disk.names == {str(tmp_path)}


TRAINING = """
import sys
from pathlib import Path
from pole import train
import anyio
anyio.run(train, Path(sys.argv[1]))
"""
CALL = re.compile(r"(?P<call>[a-z0-9]+)\((?P<arguments>.*)\)\s+= \d+")


@pytest.mark.nightly
@pytest.mark.parametrize("pictured", [False, True])
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace watches the system calls, and is not installed")
def test_in_a_whole_session_nothing_gets_its_name_before_the_disk_has_it(pictured: bool, tmp_path: Path) -> None:
    """All processes of a session that is created, checked, trained and evaluated, watched from outside."""
    runs, traces = tmp_path / "runs", tmp_path / "traces"
    traces.mkdir()
    calls = "fsync,fdatasync,rename,renameat,renameat2,link,linkat"
    watch = ["strace", "-ff", "--seccomp-bpf", "-y", "-qq", "-s", "0", "-e", f"trace={calls}", "-o", str(traces / "of")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "mcp"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment["P2P_RENDERER"] = "" if pictured else "none"
    done = subprocess.run(
        [*watch, sys.executable, "-c", TRAINING, str(runs)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if "ptrace" in done.stderr.lower() and "not permitted" in done.stderr:
        pytest.skip("this machine lets nobody watch a process")
    assert done.returncode == 0, done.stderr[-2000:]
    synced, named, faults = set(), [], []
    lines = [line for trace in traces.iterdir() for line in trace.read_text(errors="replace").splitlines()]
    for found in filter(None, map(CALL.match, lines)):
        call, arguments = found["call"], found["arguments"]
        if call in ("fsync", "fdatasync"):
            synced.add(arguments.partition("<")[2].rstrip(">"))
        elif call in ("rename", "link"):
            source, target = re.findall(r'"([^"]*)"', arguments)
            named.append(Path(target))
            if Path(target).is_relative_to(runs) and Path(source).name.startswith(".") and source not in synced:
                faults.append(target)
    ours = {path.name for path in named if path.is_relative_to(runs)}
    assert faults == []
    assert {"session.json", "criteria.json", "policy.npz", "evaluation.json", "features.npz", "summary.json"} <= ours
    assert {"ticket.json", "end.json", "reward_fn.py"} <= ours
    assert not pictured or {"contact_sheet.json", "report_median.mp4"} <= ours
    moved = {str(path.parent) for path in named if path.is_relative_to(runs) and "shader_cache" not in str(path)}
    assert moved <= synced, "a directory with a new name is synced"
