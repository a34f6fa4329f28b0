"""`p2p steer`."""

import json

from typer.testing import CliRunner

from p2p.cli.app import app
from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import NewSession
from p2p.service import Service
from p2p.settings import Settings


def steer(tmp_path, *words):
    return CliRunner().invoke(app, ["steer", *words, "--runs-dir", str(tmp_path)])


def test_a_wish_is_kept_for_the_session_that_is_meant(tmp_path):
    service = Service(Settings(runs_dir=tmp_path))
    request = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
    name = service.create_session(request).session_id
    assert "1. move less" in steer(tmp_path, "latest", "move less").output
    found = steer(tmp_path, name[-8:], "be calm", "--json")
    assert json.loads(found.stdout) == {"session_id": name, "wishes": ["move less", "be calm"]}
    assert service.wishes(name).wishes == ("move less", "be calm")
    assert isinstance(steer(tmp_path, "latest", " ").exception, InvalidInput)
