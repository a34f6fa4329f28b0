"""The server as a bundle that Claude Desktop installs with a double click (MCPB).

`python -m p2p_mcp.bundle ROOT STAGING` lays its files out; `make bundle` also has them validated and packed.
"""

import json
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import p2p
from p2p.contracts.errors import InvalidInput
from p2p_mcp.docs import Offer, for_models, offer
from p2p_mcp.install import bundle_start

FILES = ("pyproject.toml", "README.md", "LICENSE", *bundle_start.LOCKS)
PACKAGES = ("p2p", "p2p_mcp")
NOT_PACKED = shutil.ignore_patterns("__pycache__", "*.pyc")
ENTRY = "start.py"
"""A copy of `install/bundle_start.py`: it installs by hash, which uv does not do from pyproject.toml."""


def manifest(project: dict[str, Any], offered: Offer) -> dict[str, Any]:
    """What describes the bundle to the program that installs it, in version 0.4 of its format.

    Args:
        project: The `[project]` table of pyproject.toml.
        offered: What the server offers.
    """
    return {
        "manifest_version": "0.4",
        "name": project["name"],
        "display_name": "p2p: prompt to policy",
        "version": p2p.__version__,
        "description": project["description"],
        "author": {"name": "The p2p authors"},
        "license": project["license"],
        "keywords": project["keywords"],
        "server": {
            "type": "uv",
            "entry_point": ENTRY,
            "mcp_config": {
                "command": "uv",
                "args": [
                    *("run", "--no-project", "--python", project["requires-python"], f"${{__dirname}}/{ENTRY}"),
                    *("--runs-dir", "${user_config.runs_dir}"),
                ],
                "env": {},
            },
        },
        "tools": [
            {"name": tool.name, "description": " ".join((tool.description or "").split())}
            for tool in for_models(offered.tools)
        ],
        "prompts_generated": bool(offered.prompts),
        "compatibility": {"platforms": ["darwin", "linux"], "runtimes": {"python": project["requires-python"]}},
        "user_config": {
            "runs_dir": {
                "type": "directory",
                "title": "Where sessions are kept",
                "description": "Rewards, policies, videos and verdicts are written here and nowhere else.",
                "required": True,
                "default": "${HOME}/p2p-runs",
            }
        },
    }


def stage(root: Path, staging: Path) -> None:
    """Lay out all that is packed.

    Args:
        root: The checkout of p2p.
        staging: A folder that is made anew.

    Raises:
        InvalidInput: `root` is no checkout of p2p.
    """
    if missing := [name for name in (*FILES, *PACKAGES) if not (root / name).exists()]:
        raise InvalidInput(
            f"{root} is not a checkout of p2p: {', '.join(missing)} missing. Name the folder with pyproject.toml."
        )
    if staging.exists():
        shutil.rmtree(staging)
    staging.mkdir(parents=True)
    for name in FILES:
        (staging / name).parent.mkdir(exist_ok=True)
        shutil.copy2(root / name, staging / name)
    shutil.copy2(bundle_start.__file__, staging / ENTRY)
    for name in PACKAGES:
        shutil.copytree(root / name, staging / name, ignore=NOT_PACKED)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    described = json.dumps(manifest(project, offer()), indent=2, ensure_ascii=False)
    (staging / "manifest.json").write_text(described + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Lay out the bundle; 2 when the arguments are wrong."""
    if len(arguments) != 2:
        print("usage: python -m p2p_mcp.bundle ROOT STAGING", file=sys.stderr)
        return InvalidInput.exit_code
    try:
        stage(Path(arguments[0]), Path(arguments[1]))
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
