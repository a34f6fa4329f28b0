"""Runner on the node, in an environment with p2p: file operations that SFTP cannot do.

    python -I -m p2p.scheduler.node_runner start JOB_DIR      with {"number", "inputs": {path: sha256}} on stdin
    python -I -m p2p.scheduler.node_runner status JOB_DIR
    python -I -m p2p.scheduler.node_runner cancel JOB_DIR     with {"number"}
    python -I -m p2p.scheduler.node_runner list JOB_DIR
    python -I -m p2p.scheduler.node_runner send JOB_DIR       with {"known": {path: sha256}, "begun": {path: bytes}}
    python -I -m p2p.scheduler.node_runner discard JOB_DIR

Jobs are those of the local backend there. A start that was sent once may arrive late, or twice: each number of a job is
started once, and none that is older than the newest, or was cancelled.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p2p.contracts.base import Contract
from p2p.contracts.cluster import Cluster
from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobSpec, JobState, JobStatus
from p2p.scheduler import supervisor
from p2p.scheduler.backends.local import LocalBackend
from p2p.scheduler.nodes import answers
from p2p.scheduler.processes import is_supervised
from p2p.store import files
from p2p.store.clock import now
from p2p.store.clusters import ClusterStore
from p2p.store.nodes import NodeStore
from p2p.store.placed import PlacedJobRecord
from p2p.store.remote import OWN, PART

if TYPE_CHECKING:
    from p2p.contracts.protocols import Backend

SUBMISSION = "submission.json"
SUBMISSION_LOCK = "submission.lock"
NOT_SENT = (OWN | {SUBMISSION, SUBMISSION_LOCK, supervisor.JOB}) - {supervisor.LOG}
CHUNK = 1 << 20
LEAVING_S = 5.0
"""Patience with a supervisor that has recorded the end of its job."""


class LatestStart(Contract):
    """Latest start of a job known to the node (`submission.json` beside the job)."""

    number: int = 0
    cancelled: bool = False


def main(arguments: Sequence[str]) -> int:
    """Run one verb."""
    verb = arguments[0]
    directory = Path(arguments[1])
    if verb == "send":
        offer: list[dict[str, Any]] = []
        return answers.give(partial(_offer, directory, offer), partial(_contents, directory, offer))
    verbs = {"list": listing, "start": start, "status": status, "cancel": cancel, "discard": discard}
    return answers.give(partial(verbs[verb], directory))


def start(directory: Path) -> dict[str, Any]:
    """Start an uploaded job, unless this submission was started or cancelled before; return its status.

    Raises:
        InvalidInput: an input has not arrived whole.
    """
    asked = json.load(sys.stdin)
    with files.exclusive(directory / SUBMISSION_LOCK):
        newest = _submission(directory)
        if newest.number < asked["number"]:
            for name, digest in asked["inputs"].items():
                if files.sha256(directory / name) != digest:
                    raise InvalidInput(f"{name} was damaged on the way: its hash differs.")
            for name in (supervisor.STATUS, supervisor.HANDLE, supervisor.CANCEL):
                files.remove(directory / name)
            PlacedJobRecord(directory).forget()
            newest = LatestStart(number=asked["number"])
            files.write_model(directory / SUBMISSION, newest)
        never = not (directory / supervisor.STATUS).exists()
        if never and newest == LatestStart(number=asked["number"]):
            spec = JobSpec.model_validate_json((directory / supervisor.JOB).read_bytes())
            _backend(directory, asked.get("cluster")).submit(spec, directory)
        return status(directory)


def status(directory: Path) -> dict[str, Any]:
    """Status of the job, including a test of its supervisor's lock."""
    return _status(directory).model_dump(mode="json")


def cancel(directory: Path) -> dict[str, Any]:
    """End the job, and refuse a start of it that has not arrived yet."""
    number = json.load(sys.stdin)["number"]
    with files.exclusive(directory / SUBMISSION_LOCK):
        newest = _submission(directory)
        if newest.number <= number:
            if newest.number < number:  # what is there is of an earlier number
                files.remove(directory / supervisor.STATUS)
            files.write_model(directory / SUBMISSION, LatestStart(number=number, cancelled=True))
        if not (directory / supervisor.JOB).exists():
            return JobStatus(state=JobState.CANCELLED, updated_at=now()).model_dump(mode="json")
        return _backend(directory).cancel(directory).model_dump(mode="json")


def discard(directory: Path) -> bool:
    """Delete the directory of a finished job on the node.

    Raises:
        InvalidInput: it is not one, or lives.
    """
    if directory.parent.name != "jobs" or directory.is_symlink() or not (directory / SUBMISSION).is_file():
        raise InvalidInput(f"{directory} is not the directory of a job on this node.")
    if not _status(directory).state.finished:
        raise InvalidInput(f"The job in {directory} is not over.")
    deadline = time.monotonic() + LEAVING_S
    while is_supervised(directory) and time.monotonic() < deadline:  # it has said the end, and is about to leave
        time.sleep(0.05)
    shutil.rmtree(directory)
    return True


def _status(directory: Path) -> JobStatus:
    status = _backend(directory).status(directory)
    if status.state is JobState.LOST and not (directory / supervisor.STATUS).exists():
        return JobStatus(state=JobState.QUEUED)  # its files are here, and its start is on the way
    return status


def _backend(directory: Path, cluster: object = None) -> "Backend":
    """Backend of a job here: this machine, or the scheduler of the cluster whose login node it is.

    Args:
        directory: Of the job, two levels below p2p's own directory.
        cluster: What the caller says of the cluster; None for a job that is there, which says it itself.
    """
    if cluster is None and not PlacedJobRecord(directory).elsewhere:
        return LocalBackend()
    from p2p.scheduler.backends.by_directory import open_backend  # noqa: PLC0415 - most nodes run their jobs themselves

    store = NodeStore(directory.parent.parent)
    if cluster is None:
        return open_backend("local", store)
    known = Cluster.model_validate(cluster)
    ClusterStore(store.path).put(known)
    return open_backend(f"{known.kind}:{known.name}", store)


def _submission(directory: Path) -> LatestStart:
    return files.read_model(directory / SUBMISSION, LatestStart) or LatestStart()


def listing(directory: Path) -> dict[str, Any]:
    """Every file of the job with size and hash."""
    found = {}
    for path in (Path(folder, name) for folder, _, names in os.walk(directory) for name in sorted(names)):
        if not path.is_file() or path.is_symlink() or path.suffix == PART:
            continue
        name = path.relative_to(directory).as_posix()
        digest = files.sha256(path)
        if name not in NOT_SENT and digest is not None:
            found[name] = {"size": path.stat().st_size, "sha256": digest}
    return {"files": found}


def _offer(directory: Path, offer: list[dict[str, Any]]) -> dict[str, Any]:
    """List the job's files; put those the caller lacks into `offer`, with the byte to begin at."""
    asked = json.load(sys.stdin)
    found = listing(directory)["files"]
    for name, entry in found.items():
        if asked["known"].get(name) != entry["sha256"]:
            begun = asked["begun"].get(name, 0)
            begin = begun if begun <= entry["size"] else 0
            offer.append({"name": name, "begin": begin, "size": entry["size"]})
    return {"files": found, "sent": offer}


def _contents(directory: Path, offer: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    """Bytes of the offered files, each exactly as long as announced."""
    for entry in offer:
        left = entry["size"] - entry["begin"]
        with (directory / entry["name"]).open("rb") as file:
            file.seek(entry["begin"])
            while left and (data := file.read(min(left, CHUNK))):
                left -= len(data)
                yield data
        if left:
            raise OSError(f"{entry['name']} became shorter")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
