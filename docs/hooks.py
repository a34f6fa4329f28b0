"""Hook of the documentation's site: pages that are kept elsewhere in the repository, with their links made to fit."""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
KEPT_ELSEWHERE = {
    "README.md": "index.md",
    "p2p/README.md": "map.md",
    ".github/CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)|(?<=src=\")(?![a-z]+:)([^\"]+)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are no files of `docs/`."""
    for source, page in KEPT_ELSEWHERE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=relinked(text, source)))
    return files


def relinked(text: str, source: str) -> str:
    """A page's text with links as they are in the site.

    Args:
        text: Markdown, linking relative to `source`.
        source: Path of the file in the repository.
    """
    return LINK.sub(lambda match: _in_the_site(match[0], posixpath.dirname(source)), text)


def _in_the_site(link: str, folder: str) -> str:
    path = posixpath.normpath(posixpath.join(folder, link))
    return KEPT_ELSEWHERE.get(path, path.removeprefix("docs/"))
