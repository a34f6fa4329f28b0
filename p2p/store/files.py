"""File access: writes are atomic and durable; absent or broken files read as None."""

import errno
import glob
import hashlib
import json
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from pydantic import BaseModel, ValidationError

from p2p.contracts.errors import StorageProblem
from p2p.contracts.remedies import Remedy
from p2p.store import locks
from p2p.store.untrusted_files import harmless, harmless_json, is_enclosed, open_to_read, read_bytes, without_links

M = TypeVar("M", bound=BaseModel)
ABANDONED_S = 3600.0
"""Age of a temporary file or directory from which nobody writes it any more [s]."""
LONGEST_LINE = 16 << 20
"""Longest line of a growing file [bytes]; nothing is read from a longer one on."""
MOST_READ = 256 << 20
"""Most that is read of a growing file at once [bytes]; whoever asks can go on from the next offset."""


def write_model(path: Path, model: BaseModel) -> None:
    """Write a contract as JSON atomically."""
    write_text(path, model.model_dump_json(indent=2) + "\n")


def read_model(path: Path, contract: type[M]) -> M | None:
    """The contract in `path`, or None when the file is absent, empty or broken."""
    try:
        return contract.model_validate_json(harmless_json(read_bytes(path)))
    except (OSError, ValidationError):
        return None


def write_json(path: Path, value: Any) -> None:
    """Write plain JSON atomically."""
    write_text(path, json.dumps(value, indent=2) + "\n")


def read_json(path: Path) -> Any | None:
    """Plain JSON, or None when the file is absent, empty or broken."""
    try:
        return harmless(json.loads(read_bytes(path)))
    except (OSError, ValueError, RecursionError):
        return None


def read_text(path: Path) -> str | None:
    """Text, or None when the file is absent or broken."""
    try:
        return read_bytes(path).decode()
    except (OSError, ValueError):
        return None


def write_text(path: Path, text: str) -> None:
    """Write `text` atomically.

    Raises:
        StorageProblem: the directory cannot be written, or the disk is full; the old file stays whole.
    """
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` on success, once it is on disk.

    The temporary file keeps the suffix of `path`, since some writers choose a format by it. The order is that of a
    file that says "complete": contents, fsync, rename, fsync of the directory. Without the first fsync a power cut
    may leave an empty file of the right name.

    Raises:
        StorageProblem: the directory cannot be written, or the disk is full.
    """
    temporary: Path | None = None
    try:
        make_directory(path.parent)
        without_links(path.parent)
        sweep(path.parent, f".{glob.escape(path.stem)}-{'[0-9a-f]' * 8}{glob.escape(path.suffix)}")
        temporary = path.with_name(f".{path.stem}-{secrets.token_hex(4)}{path.suffix}")
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))  # a confined worker may not chmod
        yield temporary
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)
    except OSError as error:
        raise storage_problem(path, error) from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def append_line(path: Path, line: str, durable: bool = True) -> None:
    """Append one line; first terminate a line that a crash cut off.

    Args:
        path: The file.
        line: Without its end.
        durable: Whether to wait until the disk has it, which takes milliseconds.

    Raises:
        StorageProblem: the file cannot be written.
    """
    try:
        make_directory(path.parent)
        with _open_to_append(path) as file:
            if file.seek(0, os.SEEK_END) and (file.seek(-1, os.SEEK_END), file.read(1))[1] != b"\n":
                file.write(b"\n")
            file.write(line.encode() + b"\n")
            file.flush()
            if durable:
                os.fsync(file.fileno())
    except OSError as error:
        raise storage_problem(path, error) from error


def size(path: Path) -> int:
    """Length of a file in bytes; 0 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def read_lines(path: Path, offset: int = 0, end: int | None = None) -> tuple[list[Any], int]:
    """JSON values of the complete lines from byte `offset` on, and the next offset; broken lines are skipped.

    Args:
        path: The file; nothing if it is absent, or no file.
        offset: Where a line begins.
        end: Where to stop, at the end of a line; None for the end of the file, at most `MOST_READ` from `offset`.
    """
    placed, offset = read_placed_lines(path, offset, end)
    return [value for _, value in placed], offset


def read_placed_lines(path: Path, offset: int = 0, end: int | None = None) -> tuple[list[tuple[int, Any]], int]:
    """Like `read_lines`, each value with the byte at which its line begins."""
    values: list[tuple[int, Any]] = []
    for start, block in read_blocks(path, offset, end):
        values += values_in(block, start)
        offset = start + len(block)
    return values, offset


def values_in(block: bytes, start: int = 0) -> Iterator[tuple[int, Any]]:
    """JSON values of complete lines, each with the byte at which its line begins; broken lines are skipped.

    Args:
        block: The lines.
        start: Where they begin.
    """
    for line in block.split(b"\n"):
        with suppress(ValueError, RecursionError):
            yield start, json.loads(harmless_json(line))
        start += len(line) + 1


def read_blocks(path: Path, offset: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Complete lines of a growing file from byte `offset` on, many at a time, each block with where it begins.

    As `read_lines`; a file that cannot be read on ends it.
    """
    last = offset + MOST_READ if end is None else end
    with suppress(OSError), open_to_read(path, longest=None) as file:
        file.seek(offset)
        while offset < last and (complete := _complete_lines(file.read(min(LONGEST_LINE, last - offset)))):
            yield offset, complete
            offset += len(complete)
            file.seek(offset)


def _complete_lines(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1]


def read_models(path: Path, contract: type[M]) -> tuple[M, ...]:
    """The contracts in the complete lines of `path`; broken lines are skipped."""
    found = []
    for value in read_lines(path)[0]:
        with suppress(ValidationError):
            found.append(contract.model_validate(value))
    return tuple(found)


@contextmanager
def exclusive(lock: Path, patience_s: float = locks.PATIENCE_S) -> Iterator[None]:
    """Hold `lock` across processes while the block runs.

    Args:
        lock: The file; made if it is not there.
        patience_s: How long to wait [s].

    Raises:
        StorageProblem: the file cannot be written.
        EnvironmentProblem: somebody else holds it for longer.
    """
    make_directory(lock.parent)
    try:
        descriptor = locks.open_lock(lock)
    except OSError as error:
        raise storage_problem(lock, error) from error
    try:
        locks.wait(descriptor, lock, patience_s)
        yield
    finally:
        os.close(descriptor)


def make_directory(path: Path) -> None:
    """Create `path` and its parents; a runs directory and everything in it is private to its user.

    Raises:
        StorageProblem: it cannot be created.
    """
    try:
        if is_enclosed(path):
            _make_private(path)
        else:
            path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_problem(path, error) from error


def remove(path: Path) -> None:
    """Delete a file if it exists.

    Raises:
        StorageProblem: the directory cannot be written.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise storage_problem(path, error) from error


def discard(directory: Path) -> None:
    """Delete a directory of abandoned work, and its parent if that is empty then."""
    shutil.rmtree(directory, ignore_errors=True)
    with suppress(OSError):
        directory.parent.rmdir()


def tree_size(directory: Path) -> int:
    """Length of all files in a directory and below it, without following links [bytes]."""
    total = 0
    for place, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):
                total += os.lstat(f"{place}/{name}").st_size
    return total


def sha256(path: Path) -> str | None:
    """SHA-256 of a file; None if it is absent."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def sweep(directory: Path, pattern: str) -> None:
    """Delete what killed processes of ours left in `directory`; what somebody still works on is younger.

    Args:
        directory: One that may be everybody's, such as /tmp: links are not followed, what is of others stays.
        pattern: Names of temporary files and directories, as a glob.
    """
    oldest = time.time() - ABANDONED_S
    for left in directory.glob(pattern):
        with suppress(OSError):
            status = left.lstat()
            if status.st_mtime > oldest or status.st_uid != os.geteuid():
                continue
            if stat.S_ISDIR(status.st_mode):
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink()


def signature(directory: Path, settled_s: float) -> str | None:
    """Fingerprint of a directory tree by inodes and times; None if anything is younger than `settled_s`."""
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
    """Delete a directory tree as far as possible."""
    shutil.rmtree(directory, ignore_errors=True)


def sync(path: Path) -> None:
    """fsync a file, or the entries of a directory.

    Raises:
        OSError: it cannot be opened, or the disk fails.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def storage_problem(path: Path, error: OSError) -> StorageProblem:
    """Translate a failed write to `path` into an error with a remedy."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    remedy = "Free some space, or choose another place" if full else "Choose a place that can be written"
    return StorageProblem(
        f"Cannot write {path}: {error.strerror or error}. "
        f"{remedy} ({Remedy.CHOOSE_RUNS_DIR.of()}); nothing already written is lost."
    )


def _make_private(path: Path) -> None:
    """Create a directory and its parents; mode 0700 from the runs directory down."""
    if path.is_dir():
        return
    if is_enclosed(path.parent):
        _make_private(path.parent)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)


def _open_to_append(path: Path) -> BinaryIO:
    no_follow = os.O_NOFOLLOW if is_enclosed(path) else 0
    descriptor = os.open(without_links(path), os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | no_follow, 0o644)
    return os.fdopen(descriptor, "ab+")
