import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from mcp.server import MCPServer

from p2p.contracts.errors import EnvironmentProblem, InvalidInput, StorageProblem
from p2p.http_server.host_names import parsed_host, parsed_origin
from p2p_mcp import http as http_module
from p2p_mcp.http import HttpOptions, http_app, http_options, serve_http
from p2p_mcp.open_sessions import OpenSessions
from p2p_mcp.token_file import kept_token

TOKEN = "a-token-of-this-test-0123456789"
SERVE = """
import sys
from mcp.server import MCPServer
from p2p.http_server import listening
listening.HEAD_S = listening.BODY_S = 0.5
from p2p_mcp import http
http.serve_http(MCPServer("small"), http.HttpOptions.model_validate_json(sys.argv[1]))
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
        ask = _asking(line.split()[-1])
        try:
            yield ask
        finally:
            process.terminate()
            assert process.wait(timeout=10) is not None


def _asking(address: str) -> Ask:
    """A way to send one request to a server."""
    url = urlsplit(address)

    def ask(headers: dict[str, str] | None = None, body: bytes | None = None, path: str = "/mcp") -> tuple[int, str]:
        connection = http.client.HTTPConnection(url.hostname or "", url.port or 0, timeout=10)
        try:
            connection.request("POST", path, body or json.dumps(INITIALIZE), JSON | (headers or {}))
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    ask.port = url.port  # type: ignore[attr-defined]
    return ask


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


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "127.0.0.1.evil.example", "evil.example:8765", "localhost:.evil.com", "localhost:1@evil.com"),
        *("localhost:8765.evil.com", "localhost:8a", "localhost:", "user@localhost", "localhost/", ""),
        *("[::1]evil", "[::1]80", "[::1]:"),
    ],
)
def test_a_foreign_host_header_is_turned_away(local: Ask, host: str) -> None:
    assert local({"Host": host})[0] == 421


@pytest.mark.parametrize(
    "origin",
    [
        *("https://evil.example", "null", "http://localhost.evil.example", "http://localhost:.evil.com", "localhost"),
        *("http://localhost:1@evil.com", "file://localhost", "http://localhost:6274/path", "http://"),
    ],
)
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


def test_the_token_is_accepted_under_the_names_given_only(guarded: Ask) -> None:
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
def test_loopback_is_only_this_machine(host: str) -> None:
    assert HttpOptions(host=host).local


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


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("LocalHost:80", ("localhost", 80)),
        ("127.0.0.1", ("127.0.0.1", None)),
        ("[::1]:8765", ("::1", 8765)),
        ("[::1]", ("::1", None)),
        ("localhost:99999", None),
        ("localhost:\u0663", None),
        ("[::1", None),
    ],
)
def test_a_host_is_a_name_and_digits(text: str, place: object) -> None:
    assert parsed_host(text) == place


def test_an_origin_without_a_port_has_that_of_its_scheme() -> None:
    assert parsed_origin("https://lab.example") == ("lab.example", 443)


def _status_of(ask: Ask, head: bytes) -> bytes:
    """What the server says, or b"" when it hangs up, to a request that is never finished."""
    port = ask.port  # type: ignore[attr-defined]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head)
        return connection.recv(4096).partition(b"\r\n")[0]


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        (b"", b""),
        (b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n", b""),
        (b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf", b"HTTP/1.1 408"),
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_a_request_that_does_not_arrive_is_not_waited_for(local: Ask, head: bytes, answer: bytes) -> None:
    assert _status_of(local, head).startswith(answer)


def test_a_second_half_sent_request_on_a_connection_is_not_waited_for_either(local: Ask) -> None:
    with socket.create_connection(("127.0.0.1", local.port), timeout=20) as connection:  # type: ignore[attr-defined]
        connection.sendall(b"GET /elsewhere HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"404" in connection.recv(4096)
        connection.sendall(b"POST /mcp HTTP/1.1\r\n")
        while connection.recv(4096):
            pass


def test_another_client_cannot_end_a_session(local: Ask) -> None:
    def asked(method: str, agent: str, session: str = "") -> tuple[int, str]:
        headers = {**JSON, "User-Agent": agent, **({"Mcp-Session-Id": session} if session else {})}
        where = http.client.HTTPConnection("127.0.0.1", local.port, timeout=10)  # type: ignore[attr-defined]
        with closing(where) as connection:
            connection.request(method, "/mcp", json.dumps(INITIALIZE) if method == "POST" else None, headers)
            response = connection.getresponse()
            response.read()
            return response.status, response.headers["Mcp-Session-Id"]

    _, session = asked("POST", "mine")
    assert asked("DELETE", "another's", session)[0] == 404
    assert asked("DELETE", "mine", session)[0] == 200
    assert asked("DELETE", "mine", session)[0] == 404


def _opened(ask: Ask, agent: str, session: str = "", method: str = "POST") -> tuple[int, str]:
    """Answer to a greeting, or to another request of a session."""
    headers = {**JSON, "User-Agent": agent, **({"Mcp-Session-Id": session} if session else {})}
    body = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping"} if session else INITIALIZE)
    where = http.client.HTTPConnection("127.0.0.1", ask.port, timeout=10)  # type: ignore[attr-defined]
    with closing(where) as connection:
        connection.request(method, "/mcp", body if method == "POST" else None, headers)
        response = connection.getresponse()
        response.read()
        return response.status, response.headers["Mcp-Session-Id"]


def test_one_client_does_not_take_the_sessions_of_all() -> None:
    """It ends its own that it used longest ago; another's stay."""
    for ask in _serve(HttpOptions(port=0)):
        mine = [_opened(ask, "mine")[1] for _ in range(2)]
        greedy = [_opened(ask, "greedy")[1] for _ in range(http_module.MOST_SESSIONS_EACH)]
        assert _opened(ask, "greedy", greedy[0])[0] == 200  # used again: the second is the oldest now
        for _ in range(http_module.MOST_SESSIONS):
            assert _opened(ask, "greedy")[0] == 200
        assert _opened(ask, "greedy", greedy[1])[0] == 404
        assert [_opened(ask, "mine", session)[0] for session in mine] == [200, 200]
        assert _opened(ask, "new")[0] == 200


def test_a_client_whose_sessions_are_all_in_use_gets_no_further_one() -> None:
    for ask in _serve(HttpOptions(port=0)):
        streams = []
        for _ in range(http_module.MOST_SESSIONS_EACH):
            headers = {
                "Accept": "text/event-stream",
                "User-Agent": "greedy",
                "Mcp-Session-Id": _opened(ask, "greedy")[1],
            }
            stream = http.client.HTTPConnection("127.0.0.1", ask.port, timeout=10)  # type: ignore[attr-defined]
            stream.request("GET", "/mcp", headers=headers)
            assert stream.getresponse().status == 200
            streams.append((stream, headers["Mcp-Session-Id"]))
        assert _opened(ask, "greedy")[0] == 429
        assert _opened(ask, "another")[0] == 200
        assert _opened(ask, "greedy", streams[0][1], "DELETE")[0] == 200
        assert _opened(ask, "greedy")[0] == 200
        for stream, _ in streams:
            stream.close()


def test_whoever_has_most_sessions_makes_room_where_the_server_is_full() -> None:
    sessions = OpenSessions(each=3, most=4)
    for session, client in (("a", "one"), ("b", "two"), ("c", "one"), ("d", "one")):
        assert sessions.surplus(client) is None
        sessions.opened(session, client)
    assert sessions.surplus("three") == "a"
    with sessions.using("a"), sessions.using("a"):
        assert sessions.surplus("three") == "c"
    assert sessions.surplus("three") == "c"  # it was used later than the other
    sessions.ended("c")
    assert sessions.surplus("three") is None


def test_sessions_are_limited() -> None:
    app = http_app(MCPServer("small"), HttpOptions())
    manager = next(
        route.endpoint.session_manager  # type: ignore[attr-defined]
        for route in app._app.routes  # type: ignore[attr-defined]
        if route.path == "/mcp"
    )
    assert manager.max_sessions == http_module.MOST_SESSIONS
    assert manager.session_idle_timeout == http_module.IDLE_S


def test_the_token_is_kept_for_its_owner_and_made_anew_when_others_could_have_read_it(tmp_path: Path) -> None:
    path = tmp_path / "p2p/mcp_token"
    token = kept_token(path)
    assert len(token) >= 43
    assert path.stat().st_mode & 0o777 == 0o600
    assert kept_token(path) == token
    path.chmod(0o644)
    assert (other := kept_token(path)) != token
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text().strip() == other
    path.write_text("short")
    assert len(kept_token(path)) >= 43


def test_a_token_behind_a_link_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("x" * 43)
    (tmp_path / "token").symlink_to(tmp_path / "real")
    with pytest.raises(StorageProblem, match="--token"):
        kept_token(tmp_path / "token")


@contextmanager
def _started(command: list[str], **environment: str) -> Iterator["subprocess.Popen[str]"]:
    """A server; a test that fails ends it, for which it would wait for ever otherwise."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def test_the_command_line_serves_and_refuses_as_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "p2p_mcp", "--runs-dir", str(tmp_path), "--http", "--port", "0"]
    refused = subprocess.run([*command, "--host", "0.0.0.0"], capture_output=True, text=True, timeout=60)
    assert refused.returncode == InvalidInput.exit_code
    assert "--token" in refused.stderr
    assert "Traceback" not in refused.stderr
    place = tmp_path / "token"
    with _started(command, P2P_MCP_TOKEN_FILE=str(place)) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "listens on http://127.0.0.1:" in line
        token = place.read_text().strip()
        note = process.stderr.readline()  # comes for certain only where there is a token
        assert f"Authorization: Bearer {token}" in note
        assert str(place) in note
        ask = _asking(line.split()[-1])
        assert ask()[0] == 401
        assert ask({"Authorization": f"Bearer {token}"})[0] == 200
        process.send_signal(signal.SIGINT)


@pytest.mark.parametrize(("words", "variable"), [(("--token", TOKEN), ""), ((), TOKEN)])
def test_a_token_that_the_list_of_processes_shows_is_warned_of(
    tmp_path: Path, words: tuple[str, ...], variable: str
) -> None:
    command = [sys.executable, "-m", "p2p_mcp", "--runs-dir", str(tmp_path), "--http", "--port", "0", *words]
    place = tmp_path / "token"
    with _started(command, P2P_MCP_TOKEN=variable, P2P_MCP_TOKEN_FILE=str(place)) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        if words:
            warning = process.stderr.readline()
            assert "list of its processes" in warning
            assert warning.index("P2P_MCP_TOKEN") < warning.index(str(place))
            assert TOKEN not in warning
        assert _asking(line.split()[-1])({"Authorization": f"Bearer {TOKEN}"})[0] == 200
        process.send_signal(signal.SIGINT)
        assert "list of its processes" not in process.stderr.read()


def test_the_command_line_lets_everybody_in_only_when_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "p2p_mcp", "--runs-dir", str(tmp_path), "--http", "--no-token", "--port", "0"]
    with _started(command) as process:
        assert process.stderr is not None
        line, note = process.stderr.readline(), process.stderr.readline()
        assert "there is no token" in note
        assert _asking(line.split()[-1])()[0] == 200
        process.send_signal(signal.SIGINT)
