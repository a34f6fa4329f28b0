"""Files of iterations for download: sources, metrics as CSV, pictures and videos."""

import csv
from io import StringIO
from pathlib import Path
from typing import Any, Literal

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.remedies import Remedy
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import SheetRecord
from p2p.store.untrusted_files import is_enclosed, is_readable, read_bytes

MediaKind = Literal["videos", "frames"]
MAX_ROWS = 1000
"""Rows of a run in the table of metrics; of more, evenly chosen ones are kept, and the last."""
MIDDLE_FRAME = 4
"""Of the eight moments of a contact sheet."""
FIRST_COLUMNS = ("run", "type", "global_step")


def read_reward(ws: Workspace, session_id: str, number: int) -> str:
    """Source of an iteration's reward.

    Raises:
        UnknownName: there is no such iteration.
        InvalidInput: its reward is not written yet.
    """
    source = ws.iteration_begun(session_id, number).read_reward_source()
    if not source:
        raise InvalidInput(
            f"Iteration {number} of {session_id} has no reward yet: write one first ({Remedy.WRITE_REWARD.of()})."
        )
    return source


def metrics_table(ws: Workspace, session_id: str, number: int) -> str:
    """Metrics of all runs of an iteration as CSV: one row per policy update or evaluation."""
    rows: list[dict[str, Any]] = []
    for run in ws.iteration_begun(session_id, number).runs():
        training, evaluations = run.parse_scalars()
        for kind, found in (("training", training), ("evaluation", evaluations)):
            every = -(-len(found) // MAX_ROWS) or 1
            kept = [row for place, row in enumerate(found) if place % every == 0 or place == len(found) - 1]
            for row in kept:
                numbers = {key: value for key, value in row.items() if type(value) in (int, float)}
                rows.append({**numbers, "run": run.iteration_id, "type": kind})
    others = sorted({key for row in rows for key in row} - {*FIRST_COLUMNS})
    table = StringIO()
    writer = csv.DictWriter(table, [*FIRST_COLUMNS, *others], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return table.getvalue()


def media(ws: Workspace, session_id: str, number: int, kind: MediaKind) -> dict[str, Path]:
    """Videos of the judged rollouts, or pictures of an iteration: name -> file."""
    iteration = ws.iteration_begun(session_id, number)
    if kind == "videos":
        videos = sorted(iteration.report.videos_dir.glob("*.mp4"))
        return {path.name: path for path in videos if is_readable(path)}
    sheet = SheetRecord(iteration.path)
    pictures = [sheet.sheet_path, iteration.learning_curve_path]
    result = sheet.read_result()
    pictures += [iteration.path / frame.path for frame in (result.frames if result is not None else ()) if frame.path]
    return {path.name: path for path in pictures if is_enclosed(path) and is_readable(path)}


def thumbnail(iteration: IterationRecord) -> Path | None:
    """A moment in the middle of a judged rollout of an iteration; its contact sheet where that is all there is."""
    sheet = SheetRecord(iteration.path)
    candidates = (sheet.frame_path(MIDDLE_FRAME), sheet.sheet_path)
    return next((path for path in candidates if is_enclosed(path) and is_readable(path)), None)


def median_video(iteration: IterationRecord) -> Path | None:
    """Video of the median judged rollout of an iteration."""
    found = sorted(iteration.report.videos_dir.glob("*median*.mp4"))
    return next((path for path in found if is_readable(path)), None)


def media_file(ws: Workspace, session_id: str, number: int, kind: MediaKind, name: str) -> Path:
    """Path of one video or picture.

    Raises:
        UnknownName: there is none of this name.
    """
    known = media(ws, session_id, number, kind)
    if name not in known:
        raise UnknownName("video" if kind == "videos" else "picture", name, known)
    return known[name]


def read_media(ws: Workspace, session_id: str, number: int, kind: MediaKind, name: str) -> bytes:
    """Bytes of one video or picture.

    Raises:
        UnknownName: there is none of this name.
        OSError: it cannot be read.
    """
    return read_bytes(media_file(ws, session_id, number, kind, name))


def read_picture(path: Path) -> bytes:
    """Bytes of a picture named by the service.

    Raises:
        InvalidInput: it lies in no runs directory.
        OSError: it cannot be read.
    """
    if not is_enclosed(path):
        raise InvalidInput(f"{path} is not in the runs directory; no other file is shown.")
    return read_bytes(path)
