"""Background jobs of a runs directory: one ticket each, found by id or by the caller's key."""

import fcntl
import hashlib
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from p2p.contracts.background import JobTicket, JobView
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.store import files, layout, locks
from p2p.store.index import Index
from p2p.store.records import json_file
from p2p.store.untrusted_files import open_to_read

Named = TypeVar("Named", JobTicket, JobView)
KIND = "job"
_STARTS = threading.local()
"""`here`: the directory of jobs in which this thread starts one."""
SHOWN = 10
"""Known ids that an error names."""


class BackgroundRecord:
    """One background job: its ticket and, for a training, its job directory."""

    _ticket, save_ticket = json_file(layout.TICKET, JobTicket)
    _end, save_end = json_file(layout.JOB_END, JobView)

    def __init__(self, path: Path) -> None:
        self.path = path

    def read_ticket(self) -> JobTicket | None:
        """Ticket of the job; None if there is no such job."""
        return self._named(self._ticket())

    def read_end(self) -> JobView | None:
        """State at the job's end, None before; later steps of the session belong to other jobs."""
        return self._named(self._end())

    def _named(self, record: Named | None) -> Named | None:
        """Record under its directory's name, since a copied record may contain any name."""
        if record is None:
            return None
        own = self.path.name  # that of a driver is "driver", for each of its jobs
        return record.model_copy(update={"job_id": own}) if re.fullmatch(layout.JOB_ID, own) else record


class BackgroundDirectory:
    """All background jobs of a runs directory.

    Args:
        runs_dir: The runs directory.
    """

    def __init__(self, runs_dir: Path) -> None:
        self._path = runs_dir / layout.JOBS

    def job(self, job_id: str) -> BackgroundRecord:
        """Record of a job.

        Raises:
            UnknownName: there is no job of this id.
        """
        record = BackgroundRecord(self._path / job_id)
        if not re.fullmatch(layout.JOB_ID, job_id) or record.read_ticket() is None:
            raise UnknownName("job", job_id[:80], [ticket.job_id for ticket in self.tickets()[:SHOWN]])
        return record

    def new(self, job_id: str) -> BackgroundRecord:
        """Record of a job that need not exist yet.

        Raises:
            InvalidInput: that is no id, but perhaps a path.
        """
        if not layout.IDENTIFIER.fullmatch(job_id):
            raise InvalidInput(f"{job_id[:80]!r} is not the id of a job.")
        return BackgroundRecord(self._path / job_id)

    def remove(self, job_id: str) -> None:
        """Delete a finished job with its log."""
        files.discard_all(self.new(job_id).path)

    def tickets(self, session_id: str | None = None) -> list[JobTicket]:
        """Tickets of all jobs or of one session, newest first. They never change, so the index may answer."""
        index = Index(self._path.parent)
        known = index.entries(KIND)
        try:
            names = {name for name in os.listdir(self._path) if re.fullmatch(layout.JOB_ID, name)}  # noqa: PTH208 - fast
        except FileNotFoundError:
            names = set()
        new = {name: ticket for name in names - known.keys() if (ticket := self.new(name).read_ticket()) is not None}
        fresh = {name: (ticket.session_id, ticket.model_dump_json()) for name, ticket in new.items()}
        index.save(KIND, fresh, known.keys() - names)
        wanted = [
            ticket
            for name, (session, value) in (known | fresh).items()
            if name in names and session_id in (None, session)
            if (ticket := self._parse(name, value)) is not None
        ]
        return sorted(wanted, key=lambda ticket: (ticket.created_at, ticket.job_id), reverse=True)

    def _parse(self, job_id: str, value: str) -> JobTicket | None:
        try:
            return JobTicket.model_validate_json(value)
        except ValidationError:  # written by another version
            return self.new(job_id).read_ticket()

    def find(self, text: str) -> str:
        """Resolve an id, the start or end of one, or "latest" to a job id.

        Raises:
            UnknownName: no job, or more than one, is meant.
        """
        known = [ticket.job_id for ticket in self.tickets()]
        if text == "latest" and known:
            return known[0]
        exact = [job_id for job_id in known if job_id == text]
        matches = exact or [job_id for job_id in known if text and (job_id.startswith(text) or job_id.endswith(text))]
        if len(matches) != 1:
            raise UnknownName("job", text[:80], (matches or known)[:SHOWN])
        return matches[0]

    def claimed(self, key: str) -> str | None:
        """Job id bound to a caller's key."""
        return _bound(self._path / layout.JOB_KEYS / _key_name(key))

    def claim(self, key: str, job_id: str) -> str:
        """Bind a caller's key to a job; the first of several concurrent claims wins.

        Returns:
            The job that the key is bound to, which is `job_id` or an earlier one.
        """
        path = self._path / layout.JOB_KEYS / _key_name(key)
        mine = path.with_name(f"{path.name}.{job_id}")
        files.write_text(mine, job_id)
        try:
            os.link(mine, path)  # fails when it exists, and never shows half a file
            files.sync(path.parent)
        except FileExistsError:
            return _bound(path) or job_id
        finally:
            mine.unlink()
        return job_id

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Serialise job starts across processes and threads."""
        files.make_directory(self._path)
        path = self._path / layout.JOB_STARTING
        try:
            handle = locks.open_lock(path)
        except OSError as error:
            raise files.storage_problem(path, error) from error
        try:
            locks.wait(handle, self._path / layout.JOB_STARTING, locks.STEP_PATIENCE_S)
            _STARTS.here = self._path
            yield
        finally:
            _STARTS.here = None
            os.close(handle)

    def someone_starts(self) -> bool:
        """Whether another caller is starting a job now; it may have a ticket and no process yet."""
        if getattr(_STARTS, "here", None) == self._path:  # this thread does, and therefore nobody else
            return False
        try:
            with open_to_read(self._path / layout.JOB_STARTING) as lock:
                fcntl.flock(lock.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # nobody ever started one here
            return False
        return False


def _bound(path: Path) -> str | None:
    """Job bound to a key; None if the key is free."""
    job_id = files.read_text(path)
    return job_id if job_id is not None and re.fullmatch(layout.JOB_ID, job_id) else None


def _key_name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32]
