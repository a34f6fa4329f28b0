"""Static files of the pages: read once, served under a digest of all of them, so that a browser need never ask again.

One digest for all, in the path: modules then import one another by relative addresses.
"""

from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response

from p2p.web.files import FOR_EVER

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
PATH = "/static/{digest}/{path:path}"


@cache
def static_files() -> dict[str, bytes]:
    """Every file below `static/` that a browser may ask for: path -> content."""
    return dict(sorted(_below(files("p2p.web.pages") / "static", "")))


@cache
def digest() -> str:
    """Of all static files."""
    found = blake2b(digest_size=8)
    for path, content in static_files().items():
        found.update(path.encode() + b"\0" + content + b"\0")
    return found.hexdigest()


def address_of(path: str) -> str:
    """Where a browser finds a static file.

    Raises:
        KeyError: there is none.
    """
    assert static_files()[path] is not None
    return f"/static/{digest()}/{path}"


def answer(request: Request) -> Response:
    """A static file; one that is asked for by an earlier digest comes as it is now, and is not kept."""
    path = request.path_params["path"]
    content = static_files().get(path)
    if content is None:
        return Response("There is no such file.", 404, media_type="text/plain")
    kept = FOR_EVER if request.path_params["digest"] == digest() else "private, no-cache"
    kind = TYPES["." + path.rpartition(".")[2]]
    return Response(content, media_type=kind, headers={"cache-control": kept})


def _below(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for one in folder.iterdir():
        if one.is_dir():
            found += _below(one, f"{prefix}{one.name}/")
        elif "." + one.name.rpartition(".")[2] in TYPES:
            found.append((f"{prefix}{one.name}", one.read_bytes()))
    return found
