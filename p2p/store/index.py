"""SQLite index of sessions and jobs: a list of a thousand reads one file instead of thousands.

The directories stay the truth: an entry is used only while what it was made from is unchanged. An index that is missing
or cannot be used costs time and nothing else; one that is broken is set aside, and made anew.
"""

import os
import sqlite3
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from time import time_ns
from typing import TypeVar
from zlib import crc32

from p2p.contracts.errors import StorageProblem
from p2p.store import files, layout
from p2p.store.untrusted_files import without_links

VERSION = 1
"""Of the table; one of another version is made anew."""
SUFFIXES = ("", "-wal", "-shm", "-journal")
"""Of the database's files."""
BUSY_S = 2.0
"""How long a writer waits for another [s]."""
FEW = 200
"""Ids that are looked up one by one; of more, the whole table is read."""
T = TypeVar("T")
Entry = tuple[str, str]
"""What it was made from (of a session a signature, of a job its session), and what was made of it."""


class Index:
    """Entries by kind and id, each with a checksum because SQLite detects few broken bytes.

    Args:
        runs_dir: The runs directory.
    """

    def __init__(self, runs_dir: Path) -> None:
        self.path = runs_dir / layout.INDEX

    def entries(self, kind: str, ids: Collection[str] | None = None) -> dict[str, Entry]:
        """Entries of a kind with a valid checksum, by id; of many ids, or None, all there are."""
        query, values = "SELECT id, source, value, sum FROM entries WHERE kind = ?", [kind]
        if ids is not None and len(ids) <= FEW:
            query += f" AND id IN ({','.join('?' * len(ids))})"
            values += ids

        def read(database: sqlite3.Connection) -> dict[str, Entry]:
            rows = database.execute(query, values)
            return {key: (source, value) for key, source, value, total in rows if total == _sum(key, source, value)}

        return self._use(read, {}) if self.path.exists() else {}

    def save(self, kind: str, entries: Mapping[str, Entry], gone: Iterable[str] = ()) -> None:
        """Add or replace entries and drop stale ones; failures are ignored, since the index can be rebuilt."""
        rows = [(kind, key, *entry, _sum(key, *entry)) for key, entry in entries.items()]
        forgotten = [(kind, key) for key in gone]

        def write(database: sqlite3.Connection) -> None:
            database.execute("BEGIN IMMEDIATE")
            database.executemany("DELETE FROM entries WHERE kind = ? AND id = ?", forgotten)
            database.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)", rows)
            database.execute("COMMIT")

        if (rows or forgotten) and self.path.parent.is_dir():
            self._use(write, None)

    def _use(self, action: Callable[[sqlite3.Connection], T], default: T) -> T:
        try:
            with closing(_connect(self.path)) as database:
                return action(database)
        except (sqlite3.OperationalError, OSError):  # locked, read-only, a full disk
            return default
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            self._set_aside(error)
            return default

    def _set_aside(self, error: Exception) -> None:
        """Move a broken database away, unless another process did."""
        try:
            with files.exclusive(self.path.with_suffix(".lock")):
                if _is_whole(self.path):
                    return
                aside = self.path.with_name(f"{self.path.name}.broken-{time_ns()}")
                self.path.replace(aside)
                for suffix in ("-wal", "-shm"):
                    self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        except (OSError, StorageProblem):  # moved by somebody else, or the place cannot be written
            return
        import logging  # noqa: PLC0415  3 % of the start of a command, for what hardly ever happens

        logging.getLogger(__name__).warning(
            "The index of sessions was broken (%s). It was moved to %s and is rebuilt; no session is lost.",
            error,
            aside,
        )


def _make_private(path: Path) -> None:
    """Close the database to others: a runs directory that was made by hand may be open to them.

    Whoever can read it reads every sentence, and can hold SQLite's locks. Its other files get its permissions.

    Raises:
        OSError: it cannot be created.
    """
    with suppress(FileExistsError):
        # a file that is there is not opened: closing it would release the locks of other threads (POSIX)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    for suffix in SUFFIXES:
        file = path.with_name(path.name + suffix)
        with suppress(OSError):  # absent, or not ours
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)


def _connect(path: Path) -> sqlite3.Connection:
    """Open the database; create its table if absent."""
    # Remove symbolic links in place of a database (copied runs directories): SQLite would follow and write
    without_links(path.parent)
    for suffix in SUFFIXES:
        file = path.with_name(path.name + suffix)
        with suppress(FileNotFoundError):
            status = file.lstat()
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                file.unlink()
    _make_private(path)
    database = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        if database.execute("PRAGMA user_version").fetchone() != (VERSION,):
            database.execute("BEGIN IMMEDIATE")
            database.execute("DROP TABLE IF EXISTS entries")
            database.execute(
                "CREATE TABLE entries (kind TEXT, id TEXT, source TEXT, value TEXT, sum INTEGER, "
                "PRIMARY KEY (kind, id)) WITHOUT ROWID"
            )
            database.execute(f"PRAGMA user_version = {VERSION}")
            database.execute("COMMIT")
    except BaseException:
        database.close()
        raise
    return database


def _is_whole(path: Path) -> bool:
    try:
        with closing(_connect(path)) as database:
            return bool(database.execute("PRAGMA quick_check").fetchone() == ("ok",))
    except sqlite3.DatabaseError:
        return False


def _sum(key: str, source: str, value: str) -> int:
    return crc32("\0".join((key, source, value)).encode())
