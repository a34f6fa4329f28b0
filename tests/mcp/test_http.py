import http.client
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from mcp.server import MCPServer

from p2p.contracts.errors import EnvironmentProblem, InvalidInput
from p2p_mcp.http import HttpOptions, http_app, http_options, serve_http, transport_security

TOKEN = "a-token-of-this-test-0123456789"
SERVE = """
import sys
from mcp.server import MCPServer
from p2p_mcp.http import HttpOptions, serve_http
serve_http(MCPServer("small"), HttpOptions.model_validate_json(sys.argv[1]))
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

Ask = Callable[..., tuple[int, str]]


def _serve(options: HttpOptions) -> Iterator[Ask]:
    """A server in a process of its own, and a way to send it one request."""
    command = [sys.executable, "-c", SERVE, options.model_dump_json()]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "listens on http://" in line, line
        url = urlsplit(line.split()[-1])

        def ask(
            headers: dict[str, str] | None = None, body: bytes | None = None, path: str = "/mcp"
        ) -> tuple[int, str]:
            connection = http.client.HTTPConnection(url.hostname or "", url.port or 0, timeout=10)
            try:
                connection.request("POST", path, body or json.dumps(INITIALIZE), JSON | (headers or {}))
                response = connection.getresponse()
                return response.status, response.read().decode()
            finally:
                connection.close()

        try:
            yield ask
        finally:
            process.terminate()
            assert process.wait(timeout=10) is not None


@pytest.fixture(scope="module")
def local() -> Iterator[Ask]:
    yield from _serve(HttpOptions(port=0))


@pytest.fixture(scope="module")
def guarded() -> Iterator[Ask]:
    yield from _serve(HttpOptions(host="0.0.0.0", port=0, token=TOKEN, allowed_hosts=("lab.example",)))


def test_a_client_of_this_machine_is_answered(local: Ask) -> None:
    status, body = local()
    assert status == 200
    assert "serverInfo" in body


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8765"])
def test_a_foreign_host_header_is_turned_away(local: Ask, host: str) -> None:
    assert local({"Host": host})[0] == 421


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil.example"])
def test_a_page_of_another_origin_is_turned_away(local: Ask, origin: str) -> None:
    assert local({"Origin": origin})[0] == 403


def test_a_page_of_this_machine_is_let_in(local: Ask) -> None:
    assert local({"Origin": "http://localhost:6274"})[0] == 200


def test_a_body_over_the_limit_is_refused_before_it_is_parsed(local: Ask) -> None:
    assert local(body=b"x" * (HttpOptions().max_body_bytes + 1))[0] == 413


def test_what_is_no_json_is_refused_and_the_server_goes_on(local: Ask) -> None:
    assert local(body=b"\xff\x00{{{")[0] == 400
    assert local({"Content-Type": "text/plain"})[0] == 400
    assert local()[0] == 200


@pytest.mark.parametrize("authorization", [None, "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer", f"Bearer {TOKEN}x"])
def test_without_the_token_nothing_is_answered(guarded: Ask, authorization: str | None) -> None:
    headers = {"Host": "lab.example"} | ({"Authorization": authorization} if authorization else {})
    assert guarded(headers)[0] == 401
    assert guarded(headers, path="/elsewhere")[0] == 401


def test_the_token_opens_the_door_under_the_names_given_only(guarded: Ask) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert guarded(bearer | {"Host": "lab.example"})[0] == 200
    assert guarded(bearer | {"Host": "lab.example:443", "Origin": "https://lab.example"})[0] == 200
    assert guarded(bearer | {"Host": "127.0.0.1:8765"})[0] == 421
    assert guarded(bearer | {"Host": "lab.example", "Origin": "http://localhost:6274"})[0] == 403


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({}, "--token"),
        ({"token": TOKEN}, "--allowed-host"),
        ({"allowed_hosts": ("lab.example",)}, "--token"),
    ],
)
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "lab.example"])
def test_others_are_let_in_with_a_token_and_named_hosts_only(given: dict[str, object], missing: str, host: str) -> None:
    with pytest.raises(InvalidInput, match=missing):
        http_app(MCPServer("small"), HttpOptions.model_validate({"host": host, **given}))


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "[::1]", "localhost", "127.3.2.1"])
def test_loopback_needs_no_token_and_is_still_protected(host: str) -> None:
    options = HttpOptions(host=host)
    assert options.local
    assert transport_security(options).enable_dns_rebinding_protection


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(EnvironmentProblem, match="another --port"):
        serve_http(MCPServer("small"), HttpOptions(port=taken.getsockname()[1]))


@pytest.mark.parametrize(("fields", "message"), [({"token": "too-short"}, "--token"), ({"port": 70_000}, "--port")])
def test_an_option_that_cannot_be_used_is_named_and_a_token_is_never_shown(
    fields: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        http_options(**fields)
    assert "too-short" not in str(caught.value)


def test_the_command_line_serves_and_refuses_as_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "p2p_mcp", "--runs-dir", str(tmp_path), "--http", "--port", "0"]
    refused = subprocess.run([*command, "--host", "0.0.0.0"], capture_output=True, text=True, timeout=60)
    assert refused.returncode == InvalidInput.exit_code
    assert "--token" in refused.stderr
    assert "Traceback" not in refused.stderr
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert "listens on http://127.0.0.1:" in line
