"""The wheel, installed where nothing else is, does what the checkout does."""

import http.client
import json
import os
import re
import subprocess
import sys
import time
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest
from shared_sessions import BALANCE

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-of-this-test-0123456789"
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program without what leads Python to the checkout."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run([*map(str, command)], cwd=cwd, env=clean, capture_output=True, text=True, timeout=550)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of its own, with the wheel and its extra `train` in it; its folder of programs."""
    place = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, *PIP, "wheel", "--no-deps", "--wheel-dir", place, ROOT, cwd=place)
    assert built.returncode == 0, built.stderr
    [wheel] = place.glob("p2p_mcp-*.whl")
    made = run(sys.executable, "-m", "venv", place / "venv", cwd=place)
    assert made.returncode == 0, made.stderr
    programs = place / "venv" / "bin"
    answer = run(programs / "python", *PIP, "install", "--only-binary", ":all:", f"{wheel}[train]", cwd=place)
    assert answer.returncode == 0, answer.stderr
    return programs


def test_a_sentence_passes_with_the_installed_wheel(installed: Path, tmp_path: Path) -> None:
    options = ("--env", "InvertedPendulum-v5", "--timesteps", "60000", "--seeds", "1", "--json")
    answer = run(installed / "p2p", "run", BALANCE, *options, cwd=tmp_path)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert json.loads(answer.stdout)
    assert list(tmp_path.glob("runs/*/iter_1/report/videos/*.mp4"))


def test_the_server_of_the_installed_wheel_answers_with_its_tools(installed: Path, tmp_path: Path) -> None:
    lines = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "wheel", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    with subprocess.Popen(
        [installed / "p2p-mcp"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
        server.stdin.flush()
        replies = {}
        while 2 not in replies:
            reply = json.loads(server.stdout.readline())
            replies[reply.get("id")] = reply
        server.stdin.close()
    assert "create_session" in {tool["name"] for tool in replies[2]["result"]["tools"]}


def test_the_wheel_holds_every_template_static_file_and_licence_of_the_pages(installed: Path, tmp_path: Path) -> None:
    where = run(installed / "python", "-c", "import p2p.web.pages as pages; print(pages.__path__[0])", cwd=tmp_path)
    assert where.returncode == 0, where.stderr
    place, source = Path(where.stdout.strip()), ROOT / "p2p/web/pages"
    assert installed.parent in place.parents
    tracked = run("git", "ls-files", "p2p/web/pages", cwd=ROOT).stdout.split()
    names = [Path(name).relative_to("p2p/web/pages") for name in tracked]
    assert len(names) > 40
    assert [name for name in names if not (place / name).exists()] == []
    assert [name for name in names if (place / name).read_bytes() != (source / name).read_bytes()] == []
    vendored = tomllib.loads((place / "static/vendor/vendor.toml").read_text())
    for library in vendored.values():
        for name, file in library["files"].items():
            assert sha256((place / "static/vendor" / name).read_bytes()).hexdigest() == file["sha256"]


OFFLINE = """
import os, socket, sys
real = socket.socket.connect
def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1"):
        print("CONNECTS TO", address, file=sys.stderr, flush=True)
        os._exit(9)
    return real(self, address)
socket.socket.connect = connect
names = socket.getaddrinfo
socket.getaddrinfo = lambda host, *rest, **more: names(host, *rest, **more) if host == "127.0.0.1" else os._exit(8)
from p2p.cli import main
sys.exit(main(["web", *sys.argv[1:]]))
"""
"""`p2p web` that ends if it asks another machine for anything."""


def test_the_pages_of_the_installed_wheel_are_there_at_once_without_node_or_network(
    installed: Path, tmp_path: Path
) -> None:
    environment = {"PATH": str(tmp_path / "empty"), "HOME": str(tmp_path), "P2P_WEB_TOKEN": TOKEN}
    command = [installed / "python", "-c", OFFLINE, "--port", "0", "--json", "--runs-dir", str(tmp_path / "runs")]
    begun = time.monotonic()
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        text = ""
        while not text.endswith("}\n"):
            line = server.stdout.readline()
            assert line, "the server has ended"
            text += line
        port = json.loads(text)["port"]
        try:
            listed = asked(port, "/e2e")
            print(f"The list is there {time.monotonic() - begun:.1f} s after the command.")
            assert "No session yet" in listed
            links = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', listed))
            assert len(links) > 3
            for link in links:
                assert asked(port, link)
            assert re.findall(r'(?:src|href)="(https?:)?//', listed) == []
            assert server.poll() is None
        finally:
            server.terminate()


def asked(port: int, path: str) -> str:
    """An answer of the pages to their owner."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers={"authorization": f"Bearer {TOKEN}"})
    answer = connection.getresponse()
    assert answer.status == 200, path
    body = answer.read().decode()
    connection.close()
    return body


def test_an_install_without_training_names_the_line_that_brings_it(installed: Path, tmp_path: Path) -> None:
    """Last in the file: it takes a package of the shared environment away."""
    removed = run(installed / "python", *PIP, "uninstall", "--yes", "gymnasium", cwd=tmp_path)
    assert removed.returncode == 0, removed.stderr
    answer = run(installed / "p2p", "run", "keep the pole balanced", "--env", "InvertedPendulum-v5", cwd=tmp_path)
    assert answer.returncode == 4
    assert "pip install 'p2p-mcp[train]'" in answer.stderr
