import zipfile
from pathlib import Path

from conftest import Node

from p2p_mcp import bundle

ROOT = Path(__file__).parents[2]
MCPB = "@anthropic-ai/mcpb/dist/cli/cli.js"


def test_the_bundle_is_valid_for_the_official_tool_and_is_packed_whole(node: Node, tmp_path: Path) -> None:
    staged, packed = tmp_path / "bundle", tmp_path / "p2p-mcp.mcpb"
    bundle.stage(ROOT, staged)

    validated = node(MCPB, "validate", str(staged / "manifest.json"))
    assert validated.returncode == 0, validated.stdout + validated.stderr
    done = node(MCPB, "pack", str(staged), str(packed))
    assert done.returncode == 0, done.stdout + done.stderr

    with zipfile.ZipFile(packed) as archive:
        names = set(archive.namelist())
    assert {"manifest.json", "pyproject.toml", "p2p/__init__.py", "p2p_mcp/__main__.py"} <= names
    assert packed.stat().st_size < 5_000_000
