"""Resume point of a run: `resume/point.json` and one file of arrays, named by its digest."""

import hashlib
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.training import ResumePoint
from p2p.store import files, layout
from p2p.store.arrays import load_arrays
from p2p.store.iterations import IterationRecord
from p2p.store.untrusted_files import open_to_read

Arrays = Mapping[str, NDArray[Any]]


class ResumeRecord:
    """Directory `resume/` of a run, from its first resume point to its end.

    Args:
        run: The run.
    """

    def __init__(self, run: IterationRecord) -> None:
        self._run = run
        self._path = run.path / layout.RESUME
        self._point_path = self._path / layout.RESUME_POINT

    def save(self, point: ResumePoint, arrays: Arrays) -> None:
        """Write a resume point; it replaces the last one once it is on disk.

        Raises:
            StorageProblem: the disk is full, or not writable; the last point stays.
        """
        temporary = self._arrays_path(layout.SAVING)
        try:
            files.make_directory(self._path)
            temporary.unlink(missing_ok=True)  # also a link in a copied run
            with temporary.open("xb") as file:
                np.savez(file, allow_pickle=False, **arrays)
                file.flush()
                os.fsync(file.fileno())
            digest = _digest(temporary)
            temporary.replace(self._arrays_path(digest))
            files.sync(self._path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise files.storage_problem(temporary, error) from error
        update = {"digest": digest, "scalars_bytes": _bytes_on_disk(self._run.scalars_path)}
        files.write_model(self._point_path, point.model_copy(update=update))
        for path in self._path.glob(layout.resume_arrays_name("*")):
            if path != self._arrays_path(digest):
                files.remove(path)

    def read(self) -> tuple[ResumePoint, dict[str, NDArray[Any]]] | None:
        """Last complete point and its arrays; None without one.

        Raises:
            ValueError: it is damaged, or what it builds on is.
        """
        if not self._point_path.exists():
            return None
        point = files.read_model(self._point_path, ResumePoint)
        if point is None:
            raise ValueError(f"{self._point_path.name} is damaged")
        path = self._arrays_path(point.digest)
        arrays = load_arrays(path) if _digest(path) == point.digest else None
        if arrays is None:
            raise ValueError(f"{path.name} is damaged or missing")
        if files.size(self._run.scalars_path) < point.scalars_bytes:
            raise ValueError("the metrics up to there are gone")
        for step in steps_of(point):
            if load_arrays(self._run.checkpoint(step).policy_path) is None:
                raise ValueError(f"the policy of checkpoint {step} is gone")
        for selected in point.evaluated:
            if self._run.checkpoint(selected.step).read_evaluation() is None:
                raise ValueError(f"the evaluation of checkpoint {selected.step} is gone")
        return point, arrays

    def rewind(self, point: ResumePoint | None) -> None:
        """Delete what was written after `point`; everything if it is None."""
        kept = steps_of(point) if point is not None else ()
        # Truncate by replacing the file with a shorter copy, so that readers notice.
        size = point.scalars_bytes if point is not None else 0
        if not size:
            files.remove(self._run.scalars_path)
        else:
            with open_to_read(self._run.scalars_path) as file:
                files.write_text(self._run.scalars_path, file.read(size).decode())
        for checkpoint in self._run.checkpoints():
            if checkpoint.step not in kept:
                files.discard(checkpoint.path)
        for path in self._run.trajectories_dir.glob("trajectory_*"):
            if int(path.stem.split("_")[1]) not in kept:
                files.remove(path)
        files.discard(self._run.videos_dir)

    def set_aside(self) -> None:
        """Keep an unusable point for inspection until the run ends."""
        aside = self._path.with_name(f"{layout.RESUME}{layout.SET_ASIDE}")
        files.discard(aside)
        if self._path.exists():
            self._path.rename(aside)

    def remove(self) -> None:
        """Delete the resume points of a finished run."""
        for path in self._run.path.glob(f"{layout.RESUME}*"):
            files.discard(path)

    def _arrays_path(self, digest: str) -> Path:
        return self._path / layout.resume_arrays_name(digest)


def steps_of(point: ResumePoint) -> Collection[int]:
    """Steps of the checkpoints that exist at a point."""
    return {*(selected.step for selected in point.evaluated), *point.pending}


def _digest(path: Path) -> str:
    """SHA-256 of a file; empty if unreadable."""
    try:
        with open_to_read(path, longest=None) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _bytes_on_disk(path: Path) -> int:
    """Length of a file after fsync."""
    if not path.exists():
        return 0
    with path.open("rb") as file:
        os.fsync(file.fileno())
        return os.fstat(file.fileno()).st_size
