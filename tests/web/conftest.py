import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import EXAMPLES, HOST, VIDEO, Asking
from fastapi import FastAPI

from p2p.http_server.host_names import HostNames
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.web.app import guarded, web_app
from p2p.web.visitors import Keys, Visitor

RECORDED = Path(__file__).parents[1] / "session/recorded/session/files"


@pytest.fixture
def seeded(tmp_path: Path) -> Path:
    """Runs directory with a session of two iterations, whose first has a video."""
    runs = tmp_path / "runs"
    shutil.copytree(RECORDED, runs / EXAMPLES["session_id"])
    videos = runs / EXAMPLES["session_id"] / "iter_1/report/videos"
    videos.mkdir(parents=True)
    (videos / "median.mp4").write_bytes(VIDEO)
    return runs


@pytest.fixture
def keys() -> Keys:
    return Keys(reader=Visitor(may_change=False))


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """Built once, which takes half a second; each test puts its own workspace in."""
    return web_app(Workspace(Settings(runs_dir=tmp_path_factory.mktemp("no_runs"))))


@pytest.fixture
def web(app: FastAPI, seeded: Path, keys: Keys) -> Iterator[Asking]:
    """The whole front end over that runs directory, asked as its owner."""
    app.state.workspace = Workspace(Settings(runs_dir=seeded))
    with Asking(guarded(app, HostNames([HOST]), keys), app, keys.token) as asking:
        yield asking
