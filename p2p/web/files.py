"""Files of sessions: in ranges, with an ETag, and never outside the runs directory."""

import os
import stat
from collections.abc import Iterator, Mapping
from io import RawIOBase
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send
from typing_extensions import Buffer

from p2p.contracts.errors import UnknownName
from p2p.web.answers import WANTS_HEAD, is_known

TYPES = {
    ".mp4": "video/mp4",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
}
"""What is shown in a page; any other file is a download."""
PIECE = 1 << 20
FOR_EVER = "private, max-age=31536000, immutable"


class StoredFile(FileResponse):
    """A file that the service has named, opened without following a link.

    Args:
        path: Of the file.
        version: What the address says its ETag is (`?v=`); where that is right, a browser need not ask again.
        name: Under which a browser saves it; None shows it, where it is of a type that is shown.

    Raises:
        UnknownName: it is no readable file, or a link.
    """

    def __init__(self, path: Path, version: str | None = None, name: str | None = None) -> None:
        self._descriptor = _opened(path)
        kind = TYPES.get(path.suffix.lower())
        status = os.fstat(self._descriptor)
        shown = name is None and kind is not None
        super().__init__(
            path,
            media_type=kind or "application/octet-stream",
            filename=None if shown else name or path.name,
            stat_result=status,
        )
        tag = f"{status.st_mtime_ns:x}-{status.st_size:x}"
        self.headers["etag"] = f'"{tag}"'
        self.headers["cache-control"] = FOR_EVER if version == tag else "private, no-cache"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, or a part of it, or say that it has not changed."""
        try:
            if is_known(self.headers["etag"], Headers(scope=scope).get("if-none-match")):
                kept = {name: self.headers[name] for name in ("etag", "cache-control", "last-modified")}
                await Response(status_code=304, headers=kept)(scope, receive, send)
                return
            # what was opened and looked at is what is read, whatever lies there by now
            self.path = f"/proc/self/fd/{self._descriptor}"
            await super().__call__({**scope, "method": "HEAD"} if scope.get(WANTS_HEAD) else scope, receive, send)
        finally:
            os.close(self._descriptor)


def version_of(path: Path) -> str:
    """What `?v=` says of a file in its present state."""
    status = path.stat()
    return f"{status.st_mtime_ns:x}-{status.st_size:x}"


def _opened(path: Path) -> int:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        raise UnknownName("file", path.name, []) from None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise UnknownName("file", path.name, [])


def zipped(files: Mapping[str, Path]) -> Iterator[bytes]:
    """An archive of some files, piece by piece as it is made.

    Args:
        files: Name in the archive -> file.
    """
    pieces = _Pieces()
    with ZipFile(pieces, "w", ZIP_DEFLATED) as archive:
        for name, path in files.items():
            with open(_opened(path), "rb") as source, archive.open(name, "w", force_zip64=True) as target:
                while piece := source.read(PIECE):
                    target.write(piece)
                    yield pieces.taken()
    yield pieces.taken()


class _Pieces(RawIOBase):
    """What was written since somebody took it; `zipfile` writes to it without seeking."""

    def __init__(self) -> None:
        self._written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer) -> int:
        piece = bytes(data)
        self._written += piece
        return len(piece)

    def taken(self) -> bytes:
        piece = bytes(self._written)
        self._written.clear()
        return piece
