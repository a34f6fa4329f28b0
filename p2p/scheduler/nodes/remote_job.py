"""Remote copy of a job's directory."""

import posixpath
import time
from contextlib import suppress
from datetime import UTC, datetime

from pydantic import ValidationError

from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobState, JobStatus
from p2p.contracts.node import RemoteJob
from p2p.scheduler import supervisor
from p2p.scheduler.nodes import transfer
from p2p.scheduler.nodes.environments import ask
from p2p.scheduler.nodes.ssh_connection import Connection
from p2p.store import files
from p2p.store.clock import now
from p2p.store.remote import RemoteJobRecord

MAX_STATUS = 1 << 20
"""Bytes of `status.json`; a longer one is none."""
SILENT_S = 6.0
"""A heartbeat comes every 2 s; without one for so long the lock is asked whether the supervisor lives [s]."""
_beats: dict[str, tuple[float, float]] = {}
"""Node and directory -> the last heartbeat seen, and when it was seen first; only saves questions."""


class RemoteJobHandle:
    """Remote copy of a job's directory.

    Args:
        record: its directory here.
        remote: where it is.
        link: to its node.
    """

    def __init__(self, record: RemoteJobRecord, remote: RemoteJob, link: Connection) -> None:
        self.record = record
        self.remote = remote
        self.link = link

    def start(self) -> JobStatus:
        """Upload the job's inputs and start it; safe to repeat after a lost connection."""
        inputs = self.record.inputs()
        digests = {name: digest for name, path in inputs.items() if (digest := files.sha256(path)) is not None}
        there: dict[str, str] = {}  # left by an earlier start
        if self.remote.number > 1:
            with suppress(InvalidInput):
                answer = ask(self.link, "list", self.remote.path)
                there = {name: entry["sha256"] for name, entry in answer["files"].items()}
        lacking = {name: path for name, path in inputs.items() if there.get(name) != digests.get(name)}
        transfer.upload(self.link, lacking, self.remote.path)
        cluster = self.link.node.cluster
        sent = {"number": self.remote.number, "inputs": digests}
        if cluster is not None:
            sent["cluster"] = cluster.model_dump(mode="json")
        status = JobStatus.model_validate(ask(self.link, "start", self.remote.path, sent))
        self.remote = self.remote.model_copy(update={"submitted": True})
        self.record.save(self.remote)
        return status

    def cancel(self) -> JobStatus:
        """End the job, including a start that has not arrived yet."""
        try:
            with self.link.files() as sftp:
                sftp.stat(self.remote.path)
        except FileNotFoundError:  # nothing has arrived there, so nothing can start
            return JobStatus(state=JobState.CANCELLED, updated_at=now())
        return JobStatus.model_validate(ask(self.link, "cancel", self.remote.path, {"number": self.remote.number}))

    def status(self) -> JobStatus:
        """Status from the remote file; where that is stale, from the supervisor's lock."""
        try:
            with self.link.files() as sftp, sftp.open(self._file(supervisor.STATUS), "rb") as file:
                data = file.read(MAX_STATUS)
                beat = float(file.stat().st_mtime or 0)
            status = JobStatus.model_validate_json(data)
        except (FileNotFoundError, ValidationError):
            return self._asked()
        if status.state.finished and self.link.node.cluster is None:
            return status
        if status.state.finished or self._silent(beat):  # what a scheduler interrupts is not over
            return self._asked()
        if status.state is JobState.RUNNING:
            when = datetime.fromtimestamp(beat, UTC).isoformat(timespec="milliseconds")
            status = status.model_copy(update={"updated_at": when})
        return status

    def mirror(self) -> None:
        """Copy the files that grow while the job runs."""
        for path in self.record.light_paths:
            transfer.tail(self.link, self._file(path.relative_to(self.record.path).as_posix()), path)

    def fetch(self) -> bool:
        """Copy every file of the job; complete files and received parts are not sent again.

        Returns:
            Whether all are here, as they are there.
        """
        question = {"known": transfer.known(self.record), "begun": transfer.begun(self.record)}
        answer = ask(self.link, "send", self.remote.path, question, transfer.Arrivals(self.record.path))
        return transfer.settle(self.record.path, answer["sent"], answer["files"])

    def discard(self) -> None:
        """Delete the job's directory on the node."""
        ask(self.link, "discard", self.remote.path)

    def _asked(self) -> JobStatus:
        """Status after testing the supervisor's lock; lost if nothing of the job is left."""
        _beats.pop(f"{self.remote.node}:{self.remote.path}", None)
        try:
            return JobStatus.model_validate(ask(self.link, "status", self.remote.path))
        except InvalidInput as error:
            return JobStatus(state=JobState.LOST, error=f"Its directory on the node is gone. {error}", updated_at=now())

    def _silent(self, beat: float) -> bool:
        """Whether the heartbeat has been unchanged for too long, by the local clock."""
        key = f"{self.remote.node}:{self.remote.path}"
        last, since = _beats.get(key, (None, 0.0))
        if last != beat:
            _beats[key] = beat, time.monotonic()
            return False
        return time.monotonic() - since > SILENT_S

    def _file(self, name: str) -> str:
        return posixpath.join(self.remote.path, name)
