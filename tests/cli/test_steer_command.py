"""`p2p steer`."""

import json

from typer.testing import CliRunner

from p2p.cli.app import app
from p2p.cli.remedies import in_commands
from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import NewSession
from p2p.service.sessions import driving, steering
from p2p.service.sessions.driving import start_session, stop_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.sessions.steering import wishes
from p2p.service.workspace import Workspace
from p2p.settings import Settings


def steer(tmp_path, *words):
    return CliRunner().invoke(app, ["steer", *words, "--runs-dir", str(tmp_path)])


def test_a_wish_is_kept_for_the_session_that_is_meant(tmp_path):
    ws = Workspace(Settings(runs_dir=tmp_path))
    request = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
    name = create_session(ws, request).session_id
    assert "1. move less" in steer(tmp_path, "latest", "move less").output
    found = steer(tmp_path, name[-8:], "be calm", "--json")
    assert json.loads(found.stdout) == {
        "session_id": name,
        "wishes": ["move less", "be calm"],
        "settings_changes": [],
    }
    assert wishes(ws, name).wishes == ("move less", "be calm")
    assert isinstance(steer(tmp_path, "latest", " ").exception, InvalidInput)


def test_a_wish_that_nobody_would_read_is_refused_with_what_works(tmp_path, monkeypatch):
    monkeypatch.setattr(driving, "DRIVER", ("{python}", "-c", "import time; time.sleep(600)"))
    ws = Workspace(Settings(runs_dir=tmp_path))
    request = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
    name = create_session(ws, request).session_id
    start_session(ws, name)
    try:
        refused = steer(tmp_path, name, "land softer").exception
        assert isinstance(refused, InvalidInput)
        for word in ("no model reads wishes", "p2p run", "--model", "p2p train --reward"):
            assert word in in_commands(str(refused))
        assert wishes(ws, name).wishes == ()
        session = ws.record(name).read_session()
        ws.record(name).save_session(session.model_copy(update={"author": "anthropic:claude-opus-5-5"}))
        assert steering.steer(ws, name, "land softer").wishes == ("land softer",)
    finally:
        stop_session(ws, name)
