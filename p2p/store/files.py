"""Reading and writing: atomic, durable, and forgiving towards a file that is absent or broken."""

import errno
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from p2p.contracts.errors import StorageProblem

M = TypeVar("M", bound=BaseModel)


def write_model(path: Path, model: BaseModel) -> None:
    """Write a contract as JSON; a reader sees the old file or the new one, never half of one."""
    write_text(path, model.model_dump_json(indent=2) + "\n")


def read_model(path: Path, contract: type[M]) -> M | None:
    """The contract in `path`, or None when the file is absent, empty or broken."""
    try:
        return contract.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def write_json(path: Path, value: Any) -> None:
    """Write plain JSON atomically."""
    write_text(path, json.dumps(value, indent=2) + "\n")


def read_json(path: Path) -> Any | None:
    """Plain JSON, or None when the file is absent, empty or broken."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def write_text(path: Path, text: str) -> None:
    """Write `text` atomically: temporary file, fsync, rename, fsync of the directory.

    Raises:
        StorageProblem: the directory cannot be written, or the disk is full; the old file stays whole.
    """
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place when the block succeeds.

    The temporary file keeps the suffix of `path`, since some writers choose a format by it.

    Raises:
        StorageProblem: the directory cannot be written, or the disk is full.
    """
    temporary: Path | None = None
    try:
        make_directory(path.parent)
        temporary = path.with_name(f".{path.stem}-{secrets.token_hex(4)}{path.suffix}")
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))  # a confined worker may not chmod
        yield temporary
        temporary.replace(path)
        _sync_directory(path.parent)
    except OSError as error:
        raise storage_problem(path, error) from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def append_line(path: Path, line: str, durable: bool = True) -> None:
    """Append one line; a line broken by a crash is ended first, so that it spoils only itself.

    Args:
        path: The file.
        line: Without its end.
        durable: Whether to wait until the disk has it, which takes milliseconds.

    Raises:
        StorageProblem: the file cannot be written.
    """
    try:
        make_directory(path.parent)
        with path.open("ab+") as file:
            if file.seek(0, os.SEEK_END) and (file.seek(-1, os.SEEK_END), file.read(1))[1] != b"\n":
                file.write(b"\n")
            file.write(line.encode() + b"\n")
            file.flush()
            if durable:
                os.fsync(file.fileno())
    except OSError as error:
        raise storage_problem(path, error) from error


def read_lines(path: Path, offset: int = 0) -> tuple[list[Any], int]:
    """JSON values of the complete lines from byte `offset` on, and the next offset; broken lines are skipped."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read()
    except OSError:
        return [], offset
    complete = data.rfind(b"\n") + 1
    values = []
    for line in data[:complete].splitlines():
        with suppress(ValueError, RecursionError):
            values.append(json.loads(line))
    return values, offset + complete


def read_models(path: Path, contract: type[M]) -> tuple[M, ...]:
    """The contracts in the complete lines of `path`; broken lines are skipped."""
    found = []
    for value in read_lines(path)[0]:
        with suppress(ValidationError):
            found.append(contract.model_validate(value))
    return tuple(found)


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Wait until nobody else holds `lock`, in any process, and hold it for as long as the block runs.

    Raises:
        StorageProblem: the file cannot be written.
    """
    make_directory(lock.parent)
    try:
        handle = lock.open("a")
    except OSError as error:
        raise storage_problem(lock, error) from error
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def make_directory(path: Path) -> None:
    """Create `path` and its parents.

    Raises:
        StorageProblem: it cannot be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_problem(path, error) from error


def remove(path: Path) -> None:
    """Remove a file, if it is there.

    Raises:
        StorageProblem: the directory cannot be written.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise storage_problem(path, error) from error


def discard(directory: Path) -> None:
    """Remove a directory of work that came to nothing, and its parent when that is empty then."""
    shutil.rmtree(directory, ignore_errors=True)
    with suppress(OSError):
        directory.parent.rmdir()


def signature(directory: Path, settled_s: float) -> str | None:
    """What a directory and those in it hold, by inodes and times; None when something is younger than `settled_s`."""
    try:
        with os.scandir(directory) as entries:
            found = sorted((entry.name, entry.stat()) for entry in entries)
    except OSError:
        return None
    youngest = max((status.st_mtime for _, status in found), default=0.0)
    if time.time() - youngest < settled_s:
        return None
    text = " ".join(f"{name}:{status.st_ino}:{status.st_mtime_ns}:{status.st_size}" for name, status in found)
    return hashlib.sha256(text.encode()).hexdigest()


def discard_all(directory: Path) -> None:
    """Remove a directory with all that is in it, as far as it can be."""
    shutil.rmtree(directory, ignore_errors=True)


def storage_problem(path: Path, error: OSError) -> StorageProblem:
    """The error a person can act on, for a failed write to `path`."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    remedy = "Free some space, or choose another place" if full else "Choose a place that can be written"
    return StorageProblem(
        f"Cannot write {path}: {error.strerror or error}. "
        f"{remedy} with --runs-dir or P2P_RUNS_DIR; nothing already written is lost."
    )


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
