"""Hostile code against the confined trainer and against the process of generated code: all it tries is blocked."""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from p2p.worker.sandbox import landlock

ATTEMPTS = Path(__file__).with_name("hostile_attempts.py")
CANARY = "canary-of-the-environment"
DECOY = "-----BEGIN OPENSSH PRIVATE KEY----- canary-of-the-file"
LIMIT_S = 90
NOBODY = 65534
USERS = [0, NOBODY] if os.geteuid() == 0 else [0]
"""0 stands for who runs the tests."""
FEWEST = 44

pytestmark = [
    pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of other calls are untried"),
]


@pytest.fixture
def decoy() -> Iterator[Path]:
    """A key beside the real home, or in it: a rule that is too broad would let it be read."""
    home = Path.home()
    place = home.parent if os.access(home.parent, os.W_OK) else home
    directory = Path(tempfile.mkdtemp(prefix=".p2p-decoy-", dir=place))
    (directory / "id_ed25519").write_text(DECOY)
    for path in (directory, directory / "id_ed25519"):  # only the sandbox is to be in the way
        path.chmod(0o777)
    yield directory / "id_ed25519"
    shutil.rmtree(directory)


@pytest.fixture
def places() -> Iterator[tuple[Path, Path]]:
    """Directories of a job and of its neighbour, for everybody."""
    base = Path(tempfile.mkdtemp(prefix="p2p-hostile-"))
    for path in (base, base / "job", base / "neighbour"):
        path.mkdir(exist_ok=True)
        path.chmod(0o777)
    (base / "neighbour" / "secret").write_text(DECOY)
    yield base / "job", base / "neighbour"
    shutil.rmtree(base)


def attempt(mode: str, user: int, places: tuple[Path, Path], decoy: Path, **environment: str) -> dict[str, str]:
    job, neighbour = places
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[3]), **environment}
    done = subprocess.run(
        [sys.executable, str(ATTEMPTS), mode, str(user), str(job), str(decoy), str(neighbour)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=env,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert DECOY not in done.stdout + done.stderr
    assert all(DECOY not in path.read_text(errors="replace") for path in job.rglob("*") if path.is_file())
    assert decoy.read_text() == DECOY
    assert (neighbour / "secret").read_text() == DECOY
    results: dict[str, str] = json.loads(done.stdout)
    return results


def still_open(results: dict[str, str]) -> dict[str, str]:
    return {name: said for name, said in results.items() if not said.startswith("blocked")}


@pytest.mark.parametrize("user", USERS)
def test_all_that_hostile_code_in_the_trainer_tries_is_blocked(
    user: int, places: tuple[Path, Path], decoy: Path
) -> None:
    results = attempt("trainer", user, places, decoy, ANTHROPIC_API_KEY=CANARY)
    assert still_open(results) == {}
    assert len(results) >= FEWEST


@pytest.mark.parametrize("user", USERS)
def test_all_that_generated_code_tries_is_blocked(user: int, places: tuple[Path, Path], decoy: Path) -> None:
    results = attempt("strict", user, places, decoy)
    assert still_open(results) == {}
    assert len(results) >= FEWEST
    assert list(places[0].iterdir()) == []


def test_the_same_attempts_succeed_where_nothing_is_confined(places: tuple[Path, Path], decoy: Path) -> None:
    job, neighbour = places
    command = [sys.executable, str(ATTEMPTS), "none", "0", str(job), str(decoy), str(neighbour)]
    results = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True).stdout)
    assert not [name for name, said in results.items() if said.startswith("blocked")]
