"""What is called complete is complete after a power cut: contents reach the disk before the name, then the name.

Watched at the system calls that decide it: a file is renamed only after an fsync that followed its last change, and
the directory gets its fsync before the next step begins.
"""

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from p2p.contracts.session import SessionStatus
from p2p.scheduler import supervisor
from p2p.scheduler.nodes import transfer
from p2p.store import arrays, files
from p2p.store.exports import ExportedFiles
from p2p.store.seen import SeenPictures
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
        for name in ("replace", "rename"):
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
            if self.synced.get((status.st_dev, status.st_ino)) != (status.st_size, status.st_mtime_ns):
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


WRITERS = (_text, _json, _arrays, _features, _picture, _any_writer, _session, _supervisor, _export, _arrival)


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
