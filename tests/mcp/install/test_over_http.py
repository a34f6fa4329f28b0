"""What doctor and install say of the token over HTTP, with servers that really listen."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from p2p.contracts.node import CheckLevel
from p2p_mcp.install.clients import CLIENTS
from p2p_mcp.install.over_http import check_token, entry_over_http
from p2p_mcp.token_file import PLACE, kept_token

linux = pytest.mark.skipif(sys.platform != "linux", reason="who listens on a port is told in /proc")


@pytest.fixture
def token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(PLACE, str(tmp_path / "token"))
    return tmp_path / "token"


@contextlib.contextmanager
def serving(token: Path, *options: str) -> Iterator[int]:
    """The port of a server over HTTP."""
    command = [sys.executable, "-m", "p2p_mcp", "--http", "--port", "0", "--runs-dir", str(token.parent), *options]
    environment = {**os.environ, PLACE: str(token)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stderr is not None
            first = next(line for line in server.stderr if "listens on" in line)
            yield int(first.split(":")[-1].partition("/")[0])
        finally:
            server.kill()


def test_without_a_token_doctor_says_what_makes_one(token: Path) -> None:
    check = check_token()
    assert check.level is CheckLevel.OK
    assert f"makes the token {token}" in check.found


def _readable(path: Path) -> None:
    path.chmod(0o644)


def _linked(path: Path) -> None:
    path.rename(path.with_name("other"))
    path.symlink_to("other")


def _of_another(path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give a file away")
    os.chown(path, 54_322, 54_322)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [(_readable, "mode 0644, expected 0600"), (_linked, "not a regular file"), (_of_another, "belongs to user 54322")],
)
def test_a_token_that_is_no_secret_is_a_problem(token: Path, spoil: object, said: str) -> None:
    kept_token(token)
    assert callable(spoil)
    spoil(token)
    check = check_token()
    assert check.level is CheckLevel.PROBLEM
    assert said in check.found
    assert "p2p-mcp --http" in check.remedy


@linux
def test_a_running_server_is_asked_with_the_token(token: Path) -> None:
    secret = kept_token(token)
    with serving(token) as port:
        check = check_token(port)
    assert check.level is CheckLevel.OK
    assert f"the server on port {port} answers with it" in check.found
    assert secret not in check.found + check.remedy, "what is printed lands in logs"
    assert f"$(cat {token})" in check.remedy
    with serving(token, "--token", "another-secret-of-mine") as port:
        check = check_token(port)
    assert check.level is CheckLevel.WARNING
    assert "started with another token" in check.found


@linux
def test_nobody_on_the_port_is_said(token: Path) -> None:
    kept_token(token)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert f"nobody listens on port {port}" in check_token(port).found


@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_the_token_is_not_shown_to_a_server_of_another_user(token: Path) -> None:
    """Whoever takes the port first would learn it."""
    kept_token(token)
    heard: list[str] = []

    class Ear(BaseHTTPRequestHandler):
        def do_DELETE(self) -> None:
            heard.append(str(self.headers))
            self.send_response(200)
            self.end_headers()

    os.seteuid(54_322)
    try:
        ear = HTTPServer(("127.0.0.1", 0), Ear)
    finally:
        os.seteuid(0)
    threading.Thread(target=ear.serve_forever, daemon=True).start()
    check = check_token(ear.server_port)
    ear.shutdown()
    ear.server_close()
    assert check.level is CheckLevel.WARNING
    assert "a process of user 54322" in check.found
    assert heard == []


def test_each_client_is_told_its_own_entry(token: Path) -> None:
    told = {name: entry_over_http(client) for name, client in CLIENTS.items()}
    assert told["claude-desktop"] == ""
    assert told["claude-code"].endswith(f'"Authorization: Bearer $(cat {token})"')
    assert '"httpUrl": "http://127.0.0.1:8765/mcp"' in told["gemini"]
    assert '"type": "http", "url"' in told["vscode"]
    assert '"url"' in told["cursor"]
