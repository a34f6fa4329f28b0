"""The bundle sent to a node: the p2p package and the lock files of its dependencies, as one zip."""

import hashlib
import io
import zipfile
from functools import cache
from pathlib import Path

import p2p
from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput

SUFFIXES = {".py", ".json", ".md", ".j2", ".txt", ".typed", ".html", ".xml", ".lock"}
"""Of the files that the package consists of; a key or a settings file of somebody's working tree has another."""
LOCKS = "scheduler/nodes/locks"
"""Folder in the package; `make lock` writes it."""
MAIN = """\
import sys

if sys.version_info < (3, 11):
    sys.exit(f"p2p needs Python 3.11 or newer, and {sys.executable} is {sys.version.split()[0]}")
from p2p.scheduler.nodes import preparation

sys.exit(preparation.main(sys.argv[1:]))
"""
EPOCH = (1980, 1, 1, 0, 0, 0)


class Bundle(Contract):
    """The p2p package as a runnable zip file."""

    data: bytes
    digest: str
    """Shortened digest of `data`, equal on every machine for equal code."""


@cache
def bundle() -> Bundle:
    """Zip of the package as it is now; built once per process."""
    root = Path(p2p.__file__).parent
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("__main__.py", EPOCH), MAIN)
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root.parent)
            hidden = any(part.startswith(".") or part == "__pycache__" for part in name.parts)
            if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink() and not hidden:
                entry = zipfile.ZipInfo(name.as_posix(), EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes())
    return Bundle(data=packed.getvalue(), digest=hashlib.sha256(packed.getvalue()).hexdigest()[:16])


def locks(extras: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the lock files in the bundle that a node's packages are installed from.

    Raises:
        InvalidInput: no node can have one of the extras.
    """
    known = {path.stem: path for path in sorted((Path(p2p.__file__).parent / LOCKS).glob("*.lock"))}
    if unknown := [extra for extra in extras if extra not in known]:
        raise InvalidInput(f"A node cannot have the extra {unknown[0]!r}; expected one of {', '.join(known)}.")
    return tuple(f"p2p/{LOCKS}/{extra}.lock" for extra in sorted({"train", *extras}))
