"""`p2p steer`."""

import json

from typer.testing import CliRunner

from p2p.cli.app import app
from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import NewSession
from p2p.service import Service
from p2p.service.sessions import driving
from p2p.settings import Settings


def steer(tmp_path, *words):
    return CliRunner().invoke(app, ["steer", *words, "--runs-dir", str(tmp_path)])


def test_a_wish_is_kept_for_the_session_that_is_meant(tmp_path):
    service = Service(Settings(runs_dir=tmp_path))
    request = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
    name = service.create_session(request).session_id
    assert "1. move less" in steer(tmp_path, "latest", "move less").output
    found = steer(tmp_path, name[-8:], "be calm", "--json")
    assert json.loads(found.stdout) == {
        "session_id": name,
        "wishes": ["move less", "be calm"],
        "settings_changes": [],
    }
    assert service.wishes(name).wishes == ("move less", "be calm")
    assert isinstance(steer(tmp_path, "latest", " ").exception, InvalidInput)


def test_a_wish_that_nobody_would_read_is_refused_with_what_works(tmp_path, monkeypatch):
    monkeypatch.setattr(driving, "DRIVER", ("{python}", "-c", "import time; time.sleep(600)"))
    service = Service(Settings(runs_dir=tmp_path))
    request = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
    name = service.create_session(request).session_id
    service.start_session(name)
    try:
        refused = steer(tmp_path, name, "land softer").exception
        assert isinstance(refused, InvalidInput)
        for word in ("nobody reads wishes", "p2p run", "--model", "p2p train --reward"):
            assert word in str(refused)
        assert service.wishes(name).wishes == ()
        session = service.record(name).read_session()
        service.record(name).save_session(session.model_copy(update={"author": "anthropic:claude-opus-5-5"}))
        assert service.steer(name, "land softer").wishes == ("land softer",)
    finally:
        service.stop_session(name)
