"""Pictures of an iteration: made with its report rollouts or on request, and kept as judges were sent them."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from p2p.contracts.work import PictureRequest, PictureResult, PlotRequest
from p2p.store import files, layout
from p2p.store.records import json_file


class SheetRecord:
    """Contact sheet of an iteration, and the moments it shows."""

    read_result, save_result = json_file(layout.CONTACT_SHEET_NOTES, PictureResult)
    """Moments on the sheet; absent before the report rollouts are pictured."""

    def __init__(self, iteration: Path) -> None:
        self.path = iteration
        self.sheet_path = iteration / layout.CONTACT_SHEET

    def frame_path(self, index: int) -> Path:
        """The picture of moment `index`, from 1."""
        return self.path / layout.FRAMES / layout.frame_name(index)


def take_over(report: Path, iteration: Path) -> None:
    """Move the pictures of a report job to their iteration.

    Raises:
        StorageProblem: they cannot be moved.
    """
    try:
        for name in (layout.LEARNING_CURVE, layout.CONTACT_SHEET, layout.FRAMES, layout.CONTACT_SHEET_NOTES):
            made = report / name  # what tells of the others comes last
            if made.is_dir():
                files.discard_all(iteration / name)
            if made.exists():
                made.replace(iteration / name)
                files.sync(iteration)
    except OSError as error:
        raise files.storage_problem(iteration, error) from error


class ViewRecord:
    """Job directory of requested pictures."""

    read_picture_request = json_file(layout.REQUEST, PictureRequest)[0]
    read_plot_request = json_file(layout.REQUEST, PlotRequest)[0]

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sheet_path = path / layout.VIEW_SHEET
        self.video_path = path / layout.VIEW_VIDEO
        self.plot_path = path / layout.PLOT

    def frame_path(self, index: int) -> Path:
        """The picture of moment `index`, from 1."""
        return self.path / layout.FRAMES / layout.frame_name(index)

    @property
    def gone(self) -> bool:
        """Whether a finished view has lost a file since."""
        return (self.path / layout.RESULT).exists() and self.read_result() is None

    def save_request(self, request: PictureRequest | PlotRequest) -> None:
        """Write the request for the worker."""
        files.write_model(self.path / layout.REQUEST, request)

    def save_result(self, result: PictureResult) -> None:
        """Write `result.json`, which marks the pictures as complete."""
        files.write_model(self.path / layout.RESULT, result)

    def read_result(self) -> PictureResult | None:
        """Result; None before the end, or if a file is missing."""
        result = files.read_model(self.path / layout.RESULT, PictureResult)
        if result is None:
            return None
        names = [result.sheet, result.video, *(frame.path for frame in result.frames)]
        return result if all((self.path / name).is_file() for name in names if name is not None) else None


def path_from_view(iteration: Path, target: Path) -> str:
    """Path of a file or directory relative to a view's job."""
    return os.path.relpath(target, iteration / layout.VIEWS / "job")


def state_of(paths: Iterable[Path]) -> str:
    """Fingerprint of files; it changes whenever one of them does."""
    found = [path.stat() for path in paths if path.exists()]
    return " ".join(f"{status.st_size}:{status.st_mtime_ns}" for status in found)


def view_record(iteration: Path, request: PictureRequest | PlotRequest, state: str = "") -> ViewRecord:
    """Record for a request: the same for equal requests while their inputs are unchanged.

    Args:
        iteration: Directory of the iteration.
        request: What is asked for; its paths are relative to the job's directory.
        state: Changes with what the pictures are made of.
    """
    digest = hashlib.sha256(f"{request.model_dump_json()}\n{state}".encode()).hexdigest()[:16]
    return ViewRecord(iteration / layout.VIEWS / digest)


class SeenPictures:
    """Pictures of one iteration that judges were shown.

    Args:
        iteration: Its directory.
    """

    def __init__(self, iteration: Path) -> None:
        self._directory = iteration / layout.SEEN

    def keep(self, data: bytes, suffix: str) -> tuple[Path, str]:
        """Save a picture or video; equal bytes are stored once.

        Returns:
            Its file, and the SHA-256 of its bytes.
        """
        digest = hashlib.sha256(data).hexdigest()
        path = self._directory / f"{digest[:16]}{suffix}"
        if not path.exists():
            with files.replacing(path) as temporary:
                temporary.write_bytes(data)
        return path, digest
