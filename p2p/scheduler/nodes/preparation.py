"""Script for a node without p2p: reports what it has, and builds environments.

    python BUNDLE.zip probe ROOT
    python BUNDLE.zip build         with {"root", "key", "bundle", "locks", "install"} as JSON on stdin; without locks
                                    it takes the packages of the Python that runs it

Answers in the protocol of `answers.py`. Needs Python 3.11 and nothing else.

    ROOT/bundles/<digest>.zip     our package
    ROOT/packages/<digest>/       what it needs, installed by pip from the locks in the bundle, hash by hash
    ROOT/environments/<key>/      an interpreter that has both; its file `ready` is written last
    ROOT/jobs/<id>/               directories of jobs
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from p2p.scheduler import cores
from p2p.scheduler.nodes import answers
from p2p.store import locks

READY = "ready"
INSTALL_PATIENCE_S = 3600.0
"""For another process that installs the same packages over a slow line."""
FACTS_TIMEOUT_S = 10
ONLY_WHAT_IS_LOCKED = ("--require-hashes", "--no-deps", "--only-binary", ":all:")
"""Options of pip: a lock is complete, and what is built from source brings tools that no lock names."""


def main(arguments: Sequence[str]) -> int:
    """Run one verb."""
    if arguments[:1] == ["probe"]:
        return answers.give(lambda: probe(Path(arguments[1])))
    return answers.give(lambda: build(json.load(sys.stdin)))


def probe(root: Path) -> dict[str, Any]:
    """Describe the node: interpreter, cores, memory, disk, GPUs."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    memory = free = None
    with suppress(OSError, ValueError):
        lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
        table = {words[0]: int(words[1]) >> 10 for words in lines if len(words) > 1}
        memory = table.get("MemTotal:")
        free = table.get("MemAvailable:")
    gpus: list[str] = []
    with suppress(OSError, subprocess.TimeoutExpired):
        question = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        done = subprocess.run(question, capture_output=True, text=True, timeout=FACTS_TIMEOUT_S)
        if done.returncode == 0:
            gpus = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    return {
        "root": str(root.resolve()),
        "interpreter": sys.executable,
        "python_version": platform.python_version(),
        "architecture": platform.machine(),
        "cores": len(cores.usable_cores()),
        "memory_mb": memory,
        "memory_free_mb": free,
        "disk_free_mb": shutil.disk_usage(root).free >> 20,
        "gpus": gpus,
    }


def build(spec: dict[str, Any]) -> dict[str, str]:
    """Build an environment or find an existing one; concurrent callers wait for the first.

    Returns:
        Its interpreter.
    """
    root = Path(spec["root"])
    place = root / "environments" / spec["key"]
    python = place / "bin/python"
    with _locked(root / "environments" / f"{spec['key']}.lock"):
        if (place / READY).exists():
            return {"python": str(python)}
        shutil.rmtree(place, ignore_errors=True)
        venv.create(place, symlinks=True)
        inside = place / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
        with zipfile.ZipFile(root / "bundles" / f"{spec['bundle']}.zip") as archive:
            if spec["locks"] is None:
                paths = [path for path in sys.path if "packages" in Path(path).name]
            else:
                paths = [_packages(root, [archive.read(name).decode() for name in spec["locks"]], spec["install"])]
            archive.extractall(inside, [name for name in archive.namelist() if name.startswith("p2p/")])
        (inside / "p2p-packages.pth").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
        (place / READY).touch()
    return {"python": str(python)}


def _packages(root: Path, locks: Sequence[str], install: bool) -> str:
    """Directory of the packages of some locks for this interpreter; they are installed once.

    Args:
        root: The directory of p2p on the node.
        locks: Texts of lock files, each complete and with hashes.
        install: Whether packages may be installed.

    Raises:
        RuntimeError: they are not there and may not be installed, or cannot be.
    """
    version = f"{sys.implementation.cache_tag} {platform.machine()}"
    digest = hashlib.sha256(json.dumps([version, *locks]).encode()).hexdigest()[:16]
    place = root / "packages" / digest
    with _locked(root / "packages" / f"{digest}.lock"):
        if not (place / READY).exists():
            if not install:
                raise RuntimeError(
                    "packages that p2p needs are not installed there yet; the node has to be prepared again"
                )
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            files = [place / f"requirements_{number}.txt" for number in range(len(locks))]
            for file, text in zip(files, locks, strict=True):
                file.write_text(text, encoding="utf-8")
            wanted = [word for file in files for word in ("--requirement", str(file))]
            _pip(root, ["install", *ONLY_WHAT_IS_LOCKED, "--target", str(place), *wanted])
            (place / READY).touch()
    return str(place)


def _pip(root: Path, words: Sequence[str]) -> None:
    command = [sys.executable, "-m", "pip"]
    if subprocess.run([*command, "--version"], capture_output=True).returncode:
        # Interpreter with pip, where the system's has none.
        place = root / "pip"
        try:
            venv.create(place, with_pip=True, symlinks=True)
        except (subprocess.CalledProcessError, OSError) as error:
            raise RuntimeError(
                f"{sys.executable} has neither pip nor ensurepip. Install them (Debian: apt install python3-pip), or "
                "name an interpreter that has the packages when the node is added."
            ) from error
        command = [str(place / "bin/python"), "-m", "pip"]
    # Environment variables without those that redirect pip.
    env = {name: value for name, value in os.environ.items() if name not in ("PIP_TARGET", "PIP_USER", "PYTHONPATH")}
    done = subprocess.run(
        [*command, "--disable-pip-version-check", "--no-input", *words], capture_output=True, text=True, env=env
    )
    if done.returncode:
        tail = "\n".join((done.stderr or done.stdout).strip().splitlines()[-5:])
        raise RuntimeError(f"pip could not install what p2p needs: {tail}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locks.held(path, INSTALL_PATIENCE_S):
        yield
