"""The first file of a bundle, `start.py`: it installs what the server needs, by hash, and becomes the server.

    uv run --no-project start.py [OPTIONS OF p2p-mcp]

Needs Python 3.11 and uv, and of p2p only what needs nothing else. What it installs is written down in `requirements/`;
the first start takes a minute, later ones find it in `.venv/`.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from p2p.contracts.errors import EnvironmentProblem
from p2p.store import locks

LOCKS = ("requirements/build.lock", "requirements/train.lock")
ENVIRONMENT = ".venv"
PATIENCE_S = 900.0
"""How long another start may take to install; over a slow line it takes minutes."""


def main(words: list[str]) -> int:
    """Become the server; returns an exit code when it cannot be installed."""
    root = Path(__file__).resolve().parent
    try:
        python = prepared(root)
    except subprocess.CalledProcessError as error:
        print(f"uv could not install what p2p needs (exit code {error.returncode}).", file=sys.stderr)
        return EnvironmentProblem.exit_code
    except (EnvironmentProblem, OSError) as error:
        print(f"p2p could not be installed: {error}", file=sys.stderr)
        return EnvironmentProblem.exit_code
    return os.execv(python, [str(python), "-m", "p2p_mcp", *words])


def prepared(root: Path) -> Path:
    """Interpreter of an environment with the server and all it needs; whoever comes second waits for the first.

    Args:
        root: The unpacked bundle.

    Raises:
        EnvironmentProblem: another process holds the lock for longer than `PATIENCE_S`.
        OSError: the bundle's directory cannot be written.
        CalledProcessError: uv failed, as when a package has another hash than the one that is written down.
    """
    place = root / ENVIRONMENT
    python = place / "bin/python"
    ready = place / "p2p-ready"
    parts = [(root / name).read_bytes() for name in (*LOCKS, "pyproject.toml")]
    digest = hashlib.sha256(b"\0".join([str(root).encode(), *parts])).hexdigest()
    with locks.held(root / f"{ENVIRONMENT}.lock", PATIENCE_S):
        if python.exists() and ready.is_file() and ready.read_text() == digest:
            return python
        shutil.rmtree(place, ignore_errors=True)
        _uv(root, "venv", str(place))
        into = ("--python", str(python))
        _uv(root, "pip", "sync", "--require-hashes", "--no-build", *into, *LOCKS)
        _uv(root, "pip", "install", "--no-deps", "--no-build-isolation", *into, "--editable", str(root))
        ready.write_text(digest)
    return python


def _uv(root: Path, *words: str) -> None:
    """Run uv; stdout is the protocol's."""
    subprocess.run([os.environ.get("UV", "uv"), *words], cwd=root, stdout=sys.stderr, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
