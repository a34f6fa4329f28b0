"""Weights & Biases: a run for each run of p2p, and one for the session, in one group.

Its client writes a log of its own, `wandb/<run>/run-<id>.wandb`, whether it sends it on (online) or not (offline).
What that log holds tells from where to go on after a kill. Key, project, entity and mode are those of the client's own
environment: `WANDB_API_KEY`, `WANDB_PROJECT`, `WANDB_ENTITY`, `WANDB_MODE`.
"""

import html
import json
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import wandb
from wandb.proto.wandb_internal_pb2 import Record

from p2p.contracts.log_rows import LogRow, LogTarget, mark_of

FOLDER = "wandb"
PROJECT = "p2p"
STEP = "global_step"
BLOCK = 32_768
FILE_HEADER, CHUNK_HEADER = 7, 7
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


class WandbLog:
    """A run of Weights & Biases.

    Args:
        target: Whose.

    Raises:
        wandb.Error: there is no key, or no answer.
    """

    def __init__(self, target: LogTarget) -> None:
        self._target = target
        self._id = re.sub(r"[^A-Za-z0-9_-]", "-", f"{target.session_id}-{target.name}")
        self._folder = target.directory / FOLDER
        self._marks: dict[str, list[int]] = defaultdict(list)
        for path in logs_of(self._folder):
            for row in history_of(path):
                self._remember(row)
        self._run = self._begin()

    def marks(self, stream: str) -> Sequence[int]:
        """Marks of the rows of a stream that are written, oldest first."""
        return self._marks[stream]

    def write(self, row: LogRow) -> None:
        """Append one row."""
        said: dict[str, Any] = {**row.scalars, f"{row.stream}/{STEP}": row.step}
        for name, text in row.texts.items():
            said[name] = wandb.Html(f"<pre>{html.escape(text)}</pre>", inject=False)
        for name, table in row.tables.items():
            said[name] = wandb.Table(columns=list(table.columns), data=[list(line) for line in table.rows])
        for name, video in row.videos.items():
            said[name] = wandb.Video(str(video), format="mp4")
        self._run.log(said)
        self._marks[row.stream].append(row.mark)

    def flush(self) -> None:
        """Nothing: the client writes by itself."""

    def close(self) -> None:
        """Wait until all rows are written, and sent where the client is online."""
        self._run.finish()

    def restart(self) -> None:
        """Drop all rows where they have not been sent: the records have changed.

        Rows that were sent stay, and those that follow are added: the service cannot take a row back.
        """
        if not self._run.offline:
            return
        self._run.finish()
        shutil.rmtree(self._folder)
        self._marks.clear()
        self._run = self._begin()

    def _begin(self) -> Any:
        self._folder.mkdir(parents=True, exist_ok=True)
        offline = os.environ.get("WANDB_MODE") in ("offline", "dryrun")
        run = wandb.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            id=self._id,
            name=self._target.name,
            group=self._target.session_id,
            job_type="session" if self._target.name == "session" else "training",
            dir=self._target.directory,
            config=dict(self._target.settings),
            reinit="create_new",
            resume=None if offline else "allow",
            settings=wandb.Settings(silent=True, console="off", disable_git=True, disable_code=True, init_timeout=60),
        )
        for stream in ("train", "eval", "iteration"):
            run.define_metric(f"{stream}/{STEP}", hidden=True)
            run.define_metric(f"{stream}/*", step_metric=f"{stream}/{STEP}")
        return run

    def _remember(self, row: dict[str, Any]) -> None:
        step = next((name for name in row if name.endswith(f"/{STEP}")), None)
        if step is None:
            return
        scalars = {k: v for k, v in row.items() if k != step and not k.startswith("_") and isinstance(v, int | float)}
        self._marks[step.partition("/")[0]].append(mark_of(row[step], scalars))


def logs_of(folder: Path) -> list[Path]:
    """Logs of the client in a directory, oldest first."""
    return sorted(folder.glob("*run-*/run-*.wandb"), key=lambda path: re.sub(r"^\D*", "", path.parent.name))


def history_of(path: Path) -> Iterator[dict[str, Any]]:
    """Rows of a log of the client, without what it says of files and tables."""
    for data in records_of(path):
        record = Record.FromString(data)
        if record.WhichOneof("record_type") == "history":
            items = [item for item in record.history.item if len(item.nested_key) <= 1]
            yield {item.key or item.nested_key[0]: json.loads(item.value_json) for item in items}


def records_of(path: Path) -> Iterator[bytes]:
    """Whole records of a log of the client; what is torn ends it.

    The format is that of LevelDB's log behind seven bytes that name it:
    https://github.com/google/leveldb/blob/main/doc/log_format.md
    """
    data = path.read_bytes()
    place, parts = FILE_HEADER, list[bytes]()
    while True:
        if BLOCK - place % BLOCK < CHUNK_HEADER:  # the rest of a block is filled up
            place += BLOCK - place % BLOCK
        header = data[place : place + CHUNK_HEADER]
        length, kind = int.from_bytes(header[4:6], "little"), header[6] if len(header) == CHUNK_HEADER else 0
        chunk = data[place + CHUNK_HEADER : place + CHUNK_HEADER + length]
        if kind not in (FULL, FIRST, MIDDLE, LAST) or len(chunk) < length:
            return
        parts = [chunk] if kind in (FULL, FIRST) else [*parts, chunk]
        if kind in (FULL, LAST):
            yield b"".join(parts)
        place += CHUNK_HEADER + length
