import gc
import os
import signal
import socket
import tempfile
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from cpu_times import pytest_addoption, pytest_configure  # noqa: F401  (hooks)
from hypothesis import HealthCheck, settings
from shared_sessions import FilmLine, drawing, end_films

from p2p.scheduler.resources import cores
from p2p.service.workspace import Workspace
from p2p.settings import Settings

# a loaded machine is slow to make and to try inputs; that is no failure of what is tested
settings.register_profile("loaded_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("loaded_machine")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.pop("COLUMNS", None)  # with processes beside it, pytest-xdist sets the width of its own terminal
_CORES = tempfile.TemporaryDirectory(prefix="p2p-cores-")
os.environ["P2P_CORES_DIR"] = _CORES.name
"""Tests own the cores of this machine among themselves, whoever trains on it besides."""
os.environ["P2P_RENDERER"] = "none"
"""Reports of tests come without pictures, which are 40 % of what a small session costs; see the fixture `pictures`."""
_FILM_LINE = FilmLine(Path(_CORES.name))
_FILM_LINE.hold()
# a shell starts its background commands with Ctrl-C ignored, and what they start inherits that
signal.signal(signal.SIGINT, signal.default_int_handler)

INSIDE = ip_network("10.99.0.0/30")
"""The network between this machine and its own namespaces, which some tests make."""


def pytest_xdist_auto_num_workers() -> int:
    """Processes of pytest-xdist: two more than cores, since a test often waits for processes that it started."""
    return cores() + 2


def pytest_collection_finish() -> None:
    """Spare the collector the seven thousand tests, at which it would look again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    """Workspace over an empty runs directory; a test that needs another defines its own."""
    return Workspace(Settings(runs_dir=tmp_path / "runs"))


@pytest.fixture
def runs_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs directory of the commands, which print lines of 160 characters."""
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("P2P_RUNS_DIR", str(tmp_path / "runs"))
    return tmp_path / "runs"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def pictures() -> Iterator[None]:
    """Reports of this test have their pictures, and it may ask for others, as at home."""
    with drawing():
        yield


@pytest.fixture
def films(pictures: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:  # noqa: ARG001
    """Sessions of this test are filmed when they have ended, as at home."""
    _FILM_LINE.let_go()
    yield
    end_films(tmp_path_factory.getbasetemp())
    _FILM_LINE.hold()


@pytest.fixture(autouse=True)
def _no_film_outlives_its_test(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Videos of all checkpoints, which nothing waits for, are not made beside the tests that follow."""
    yield
    if request.node.get_closest_marker("slow") is not None:
        end_films(tmp_path_factory.getbasetemp())


@pytest.fixture(autouse=True)
def _only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reaches another machine, whatever it asks a library to do."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_here(address[0]):
            raise ConnectionRefusedError(f"A test asked for {address}: tests reach this machine alone.")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


def _is_here(host: str) -> bool:
    if host in ("", "localhost"):
        return True
    try:
        address = ip_address(host.split("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified or address in INSIDE


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reaches a model provider, and none depends on the variables of whoever runs it."""
    for name in (
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "OPENAI_API_KEY",
        "P2P_RUNS_DIR",
        "P2P_MAX_PARALLEL",
        "P2P_MAX_JOBS",
        "P2P_BACKEND",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("P2P_CONFIG", os.devnull)
    monkeypatch.setenv("P2P_NODES_DIR", os.devnull)
