import re
from pathlib import Path

import pytest
from generated import BLOCKS, ROOT, with_tables


@pytest.mark.parametrize("file", sorted(BLOCKS))
def test_the_tables_of_a_document_are_what_the_code_says(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert text == with_tables(text, dict(BLOCKS[file])), "run: python tests/docs/generated.py"


@pytest.mark.parametrize("file", ["README.md", "p2p/README.md", ".github/CONTRIBUTING.md", "CHANGELOG.md"])
def test_a_document_links_only_to_files_that_exist(file: str) -> None:
    path = ROOT / file
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8"))
    links += re.findall(r'src="(?!https?:)([^"]+)"', path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_map_names_every_room() -> None:
    text = (ROOT / "p2p" / "README.md").read_text(encoding="utf-8")
    rooms = [path.parent.name for path in sorted(Path(ROOT / "p2p").glob("*/__init__.py"))]
    assert [room for room in rooms if f"`{room}/" not in text] == []
