"""The jobs of a runs directory: a ticket for each, found by its id or by the key its caller gave it."""

import fcntl
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from p2p.contracts.background import JobTicket
from p2p.contracts.errors import UnknownName
from p2p.store import files, layout

SHOWN = 10
"""Known ids that an error names."""


class BackgroundRecord:
    """One job: its ticket, and for a training its job directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting = path / layout.WAITING

    def read_ticket(self) -> JobTicket | None:
        """What is known of it from its start; None when there is no such job."""
        return files.read_model(self.path / layout.TICKET, JobTicket)

    def save_ticket(self, ticket: JobTicket) -> None:
        """Write `ticket.json`."""
        files.write_model(self.path / layout.TICKET, ticket)

    @property
    def waits(self) -> bool:
        """Whether it stands in the queue."""
        return self._waiting.exists()

    def enter_queue(self) -> None:
        """Say that it waits for a slot."""
        files.make_directory(self.path)
        self._waiting.touch()

    def leave_queue(self) -> None:
        """Say that it no longer waits."""
        self._waiting.unlink(missing_ok=True)


class BackgroundDirectory:
    """All jobs of a runs directory.

    Args:
        runs_dir: The runs directory.
    """

    def __init__(self, runs_dir: Path) -> None:
        self._path = runs_dir / layout.JOBS

    def job(self, job_id: str) -> BackgroundRecord:
        """The record of a job.

        Raises:
            UnknownName: there is no job of this id.
        """
        record = BackgroundRecord(self._path / job_id)
        if not re.fullmatch(layout.JOB_ID, job_id) or record.read_ticket() is None:
            raise UnknownName("job", job_id[:80], [ticket.job_id for ticket in self.tickets()[:SHOWN]])
        return record

    def new(self, job_id: str) -> BackgroundRecord:
        """The record of a job that is about to be made."""
        return BackgroundRecord(self._path / job_id)

    def tickets(self) -> list[JobTicket]:
        """Of all jobs, newest first."""
        found = (BackgroundRecord(path.parent).read_ticket() for path in self._path.glob(f"*/{layout.TICKET}"))
        return sorted((t for t in found if t is not None), key=lambda t: (t.created_at, t.job_id), reverse=True)

    def claimed(self, key: str) -> str | None:
        """Id of the job a key is bound to."""
        path = self._path / layout.JOB_KEYS / _key_name(key)
        return path.read_text(encoding="utf-8") if path.exists() else None

    def claim(self, key: str, job_id: str) -> str:
        """Bind a caller's key to a job; of several that try, one wins.

        Returns:
            The job that the key is bound to, which is `job_id` or an earlier one.
        """
        path = self._path / layout.JOB_KEYS / _key_name(key)
        mine = path.with_name(f"{path.name}.{job_id}")
        files.write_text(mine, job_id)
        try:
            os.link(mine, path)  # fails when it exists, and never shows half a file
        except FileExistsError:
            return path.read_text(encoding="utf-8")
        finally:
            mine.unlink()
        return job_id

    @contextmanager
    def slot(self, slots: int) -> Iterator[bool]:
        """Hold one of `slots` places for as long as the block runs; the kernel frees it when the process dies.

        Yields:
            False when all are taken.
        """
        handle = self._free(slots)
        try:
            yield handle is not None
        finally:
            if handle is not None:
                os.close(handle)

    def _free(self, slots: int) -> int | None:
        directory = self._path / layout.JOB_SLOTS
        files.make_directory(directory)
        for number in range(slots):
            handle = os.open(directory / str(number), os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
            else:
                return handle
        return None


def _key_name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32]
