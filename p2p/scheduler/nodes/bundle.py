"""What goes to a node: our own package as one file, and the names of the packages it needs."""

import hashlib
import io
import re
import zipfile
from functools import cache
from importlib import metadata
from pathlib import Path

import p2p
from p2p.contracts.base import Contract

SUFFIXES = {".py", ".json", ".md", ".j2", ".txt", ".typed", ".html", ".xml"}
"""Of the files that the package consists of; a key or a settings file of somebody's working tree has another."""
NEEDED = {"pydantic"}
"""Of the packages that p2p always needs, those that a worker needs too; the others are for its doors."""
MAIN = """\
import sys

if sys.version_info < (3, 11):
    sys.exit(f"p2p needs Python 3.11 or newer, and {sys.executable} is {sys.version.split()[0]}")
from p2p.scheduler.nodes import preparation

sys.exit(preparation.main(sys.argv[1:]))
"""
EPOCH = (1980, 1, 1, 0, 0, 0)


class Bundle(Contract):
    """Our package as a zip file that Python can run."""

    data: bytes
    digest: str
    """Of `data`, shortened: the same code has the same digest on every machine."""


@cache
def bundle() -> Bundle:
    """The package as it is now; made once in a process."""
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


def requirements(extras: tuple[str, ...]) -> tuple[str, ...]:
    """What pip is asked to install on a node, sorted."""
    wanted, found = {"train", *extras}, set[str]()
    for line in metadata.requires(p2p.DISTRIBUTION) or ():
        requirement, _, marker = (part.strip() for part in line.partition(";"))
        name = re.split(r"[^A-Za-z0-9_.-]", requirement)[0]
        extra = re.search(r"""extra\s*==\s*["']([^"']+)["']""", marker)
        if name != p2p.DISTRIBUTION and (extra.group(1) in wanted if extra else name in NEEDED):
            found.add(requirement)
    return tuple(sorted(found))
