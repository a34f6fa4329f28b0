"""The entry of the server in the public MCP registry: `python -m p2p_mcp.registry ROOT FILE`.

Who publishes is read from `[project.urls] Repository` in pyproject.toml and from nowhere else.
"""

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import p2p
from p2p.contracts.errors import InvalidInput

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
GITHUB = re.compile(r"https://github\.com/(?P<owner>[A-Za-z0-9-]+)/[A-Za-z0-9._-]+/?")
NOT_KNOWN = (
    "pyproject.toml does not say who publishes. Add [project.urls] with "
    'Repository = "https://github.com/ACCOUNT/REPOSITORY", then run this again.'
)


def owner(project: dict[str, Any]) -> str:
    """Account that publishes the server.

    Args:
        project: The `[project]` table of pyproject.toml.

    Raises:
        InvalidInput: `[project.urls] Repository` is missing or names no repository on GitHub.
    """
    repository = project.get("urls", {}).get("Repository")
    if repository is None:
        raise InvalidInput(NOT_KNOWN)
    match = GITHUB.fullmatch(repository)
    if match is None:
        raise InvalidInput(
            f"[project.urls] Repository is {repository!r}, which is not a repository on GitHub. {NOT_KNOWN}"
        )
    return match["owner"]


def server_entry(project: dict[str, Any]) -> dict[str, Any]:
    """`server.json`: the package on the Python index and the container image, both over stdio.

    Args:
        project: The `[project]` table of pyproject.toml.

    Raises:
        InvalidInput: see `owner`.
    """
    account = owner(project)
    stdio = {"type": "stdio"}
    return {
        "$schema": SCHEMA,
        "name": f"io.github.{account}/{project['name']}",
        "title": "p2p: prompt to policy",
        "description": "One sentence in; a trained, filmed and judged reinforcement-learning policy out.",
        "version": p2p.__version__,
        "repository": {"url": project["urls"]["Repository"], "source": "github"},
        "packages": [
            {
                "registryType": "pypi",
                "identifier": f"{project['name']}[train]",
                "version": p2p.__version__,
                "runtimeHint": "uvx",
                "transport": stdio,
            },
            {
                "registryType": "oci",
                "identifier": f"ghcr.io/{account.lower()}/{project['name']}:{p2p.__version__}",
                "runtimeHint": "docker",
                "runtimeArguments": [
                    {
                        "type": "named",
                        "name": "--volume",
                        "value": "p2p-runs:/runs",
                        "description": "Where sessions are kept.",
                    }
                ],
                "transport": stdio,
            },
        ],
    }


def main(arguments: list[str]) -> int:
    """Write the entry and print what else the registry looks for; 2 when the owner or the arguments are not known."""
    if len(arguments) != 2:
        print("usage: python -m p2p_mcp.registry ROOT FILE", file=sys.stderr)
        return InvalidInput.exit_code
    root = Path(arguments[0])
    path = Path(arguments[1])
    try:
        entry = server_entry(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"])
    except (InvalidInput, OSError) as error:
        print(error, file=sys.stderr)
        return InvalidInput.exit_code
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entry, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    name = entry["name"]
    print(f"Wrote {path}. The registry checks two more places for the server's name:")
    print(f"  README.md on the package index:  <!-- mcp-name: {name} -->")
    print(f"  label of the image:              docker build --label io.modelcontextprotocol.server.name={name} .")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
