"""Scripts of the pages have a linter too: a name that nobody declares fails here, and not where somebody clicks."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import HERE, Node

import p2p
import p2p_mcp

BIOME = "@biomejs/biome/bin/biome"
PAGES = Path(p2p.__file__).parent / "web/pages"
SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*json)[^>]*>(.*?)</script>", re.DOTALL)


def lint(node: Node, folder: Path) -> subprocess.CompletedProcess[str]:
    return node(BIOME, "lint", f"--config-path={HERE}", "--error-on-warnings", str(folder))


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """The scripts that are ours: the modules of p2p web, and what stands inside the pages of p2p-mcp."""
    for file in (PAGES / "static").glob("*.js"):
        shutil.copy(file, tmp_path)
    pages = [page for page in Path(p2p_mcp.__file__).parent.rglob("*.html") if "vendor" not in page.parts]
    for page in pages:
        for number, text in enumerate(SCRIPT.findall(page.read_text(encoding="utf-8"))):
            (tmp_path / f"{page.stem}_{number}.js").write_text(text)
    assert len(list(tmp_path.iterdir())) > 14
    return tmp_path


def test_the_scripts_use_what_they_declare_and_declare_what_they_use(node: Node, scripts: Path) -> None:
    done = lint(node, scripts)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("undeclared(1);", "noUndeclaredVariables"),
        ('import { nothing } from "./hub.js";', "noUnusedImports"),
        ("const unused = 1;", "noUnusedVariables"),
        ("const = 1;", "parse"),
    ],
)
def test_a_planted_mistake_is_found(node: Node, tmp_path: Path, line: str, rule: str) -> None:
    (tmp_path / "page.js").write_text(f"{line}\n")
    done = lint(node, tmp_path)
    assert done.returncode != 0
    assert rule in done.stdout + done.stderr
