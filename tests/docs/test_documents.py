import ast
import importlib
import re
from pathlib import Path

import pytest
from generated import BLOCKS, ROOT, with_tables
from reference import PAGES, settings

import p2p


@pytest.mark.parametrize("file", sorted(BLOCKS))
def test_the_tables_of_a_document_are_what_the_code_says(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert text == with_tables(text, dict(BLOCKS[file])), "run: python tests/docs/generated.py"


@pytest.mark.parametrize("file", sorted(PAGES))
def test_a_page_of_the_reference_is_what_the_code_says(file: str) -> None:
    assert (ROOT / file).read_text(encoding="utf-8") == PAGES[file](), "run: make docs"


def heading_ids(text: str) -> set[str]:
    """Names that links may point to: as GitHub and the site's generator make them of headings."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", heading.lower()).strip() for heading in headings)
    return {re.sub(r"\s+", "-", heading) for heading in plain}


@pytest.mark.parametrize(
    "file",
    [
        *("README.md", "p2p/README.md", ".github/CONTRIBUTING.md", "CHANGELOG.md"),
        *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")),
    ],
)
def test_a_document_links_only_to_files_and_headings_that_exist(file: str) -> None:
    path = ROOT / file
    text = path.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)\s]+)\)", text) + re.findall(r'src="(?!https?:)([^"]+)"', text)
    for link in links:
        name, _, heading = link.partition("#")
        target = path.parent / name if name else path
        assert target.exists(), link
        assert not heading or heading in heading_ids(target.read_text(encoding="utf-8")), link


def test_the_numbers_that_the_readme_gives_stand_in_the_pages_it_links_to() -> None:
    """They are measured again now and then: the README must not go on telling the old ones."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    trust = text.partition("## Why to trust the verdict\n")[2].partition("\n## ")[0]
    given = 0
    for bullet in re.findall(r"^- .+?(?=^- |^\S|\Z)", trust, re.MULTILINE | re.DOTALL):
        pages = " ".join((ROOT / link).read_text(encoding="utf-8") for link in re.findall(r"\]\((docs/[^)#]+)", bullet))
        for number in re.findall(r"\*\*(.+?)\*\*", bullet):
            assert number.replace("passes", "").strip() in " ".join(pages.split()), number
            given += 1
    assert given >= 3


@pytest.mark.parametrize("file", ["README.md", "docs/rewards.md"])
def test_the_python_of_a_document_compiles_and_imports_what_there_is(file: str) -> None:
    blocks = re.findall(r"^```python\n(.+?)^```", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    for node in ast.walk(ast.parse("\n".join(blocks))):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = importlib.import_module(node.module)
            assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []
        elif isinstance(node, ast.Import):
            for alias in node.names:
                importlib.import_module(alias.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "p2p":
            assert hasattr(p2p, node.attr), node.attr


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    """`make docs-site` finds it too; this takes no second environment."""
    pages = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in written - pages if not page.startswith("decisions/")} == set()


def test_the_map_names_every_package() -> None:
    text = (ROOT / "p2p" / "README.md").read_text(encoding="utf-8")
    packages = [path.parent.name for path in sorted(Path(ROOT / "p2p").glob("*/__init__.py"))]
    assert [package for package in packages if f"`{package}/" not in text] == []


def test_every_setting_is_told_with_its_meaning() -> None:
    rows = [line for line in settings().splitlines() if line.startswith("| `")]
    assert len(rows) > 40
    assert [row for row in rows if not row.rstrip("| ").endswith((".", ")"))] == []
