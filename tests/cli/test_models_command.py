"""`p2p models`, with real processes: what is served is a stand-in that has vLLM's arguments and addresses."""

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from p2p.contracts.errors import UnknownName
from p2p.inference.access import access_to
from p2p.service.machines.serving import served_models, stop_model

STAND_IN = Path(__file__).parents[1] / "inference" / "stand_in_server.py"
MODEL = "Qwen/Qwen3-VL"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A directory in which `vllm` is the stand-in."""
    program = tmp_path / "bin" / "vllm"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\n[ "$1" = serve ] || exit 2\nshift\nexec "{sys.executable}" "{STAND_IN}" "$@"\n')
    program.chmod(0o755)
    return program.parent


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for the configuration; whatever was served is stopped in the end."""
    for name in ("VLLM_BASE_URL", "VLLM_API_KEY", "P2P_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    yield tmp_path / "config" / "p2p"
    stop_model()


def p2p(*words: str, path: Path | None = None, behaviour: str = "") -> tuple[int, dict[str, Any]]:
    """Exit code and answer of `p2p models`, which ends while what it started goes on."""
    env = os.environ | {"STAND_IN": behaviour, "ANTHROPIC_API_KEY": "sk-canary-1234567890"}
    if path is not None:
        env["PATH"] = f"{path}:{env['PATH']}"
    command = [sys.executable, "-m", "p2p.cli", "models", *words, "--json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, json.loads(done.stdout)


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def test_a_model_is_served_found_by_sessions_and_stopped(installed: Path, home: Path) -> None:
    port = free_port()
    code, view = p2p("serve", MODEL, "--port", port, "--max-model-len", "4096", path=installed, behaviour="late child")
    assert (code, view["state"], view["name"]) == (0, "ready", f"vllm:{MODEL}")
    access = access_to("vllm")
    assert access.base_url == view["base_url"] == f"http://127.0.0.1:{port}/v1"
    assert access.key.get_secret_value() not in json.dumps(view)
    kept = home / "served_models.json"
    assert access.key.get_secret_value() in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "keys: ['VLLM_API_KEY']" in Path(view["log"]).read_text()
    assert p2p("list") == (0, {"models": [view]})
    child = int(Path(view["log"]).read_text().split("child ")[1].split()[0])
    code, stopped = p2p("stop", f"vllm:{MODEL}")
    assert (code, [each["state"] for each in stopped["models"]]) == (0, ["ended"])
    assert served_models() == ()
    assert access_to("vllm").base_url == "http://127.0.0.1:8000/v1"
    while Path(f"/proc/{child}").exists() and "Z (zombie)" not in Path(f"/proc/{child}/status").read_text():
        os.sched_yield()


def test_a_server_that_died_is_told_and_forgotten(installed: Path) -> None:
    _, view = p2p("serve", MODEL, "--port", free_port(), path=installed)
    with pytest.raises(UnknownName, match=MODEL):
        stop_model("other")
    os.kill(view["pid"], 9)
    while served_models()[0].state != "ended":
        os.sched_yield()
    assert p2p("list")[0] == 4
    stop_model()
    assert served_models() == ()


def test_without_vllm_it_says_what_to_install() -> None:
    code, answer = p2p("serve", MODEL, "--port", free_port())
    assert code == 4
    assert "vllm is not installed. Run: pip install vllm" in answer["error"]["message"]
    assert served_models() == ()


def test_a_server_that_does_not_come_up_shows_the_end_of_its_log(installed: Path, home: Path) -> None:
    code, answer = p2p("serve", MODEL, "--port", free_port(), path=installed, behaviour="crash")
    assert code == 4
    assert "CUDA out of memory, says the stand-in" in answer["error"]["message"]
    assert not (home / "served_models.json").exists()


def test_a_port_in_use_is_refused_before_anything_is_started(installed: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        code, answer = p2p("serve", MODEL, "--port", port, path=installed)
    assert code == 2
    assert f"Something listens at port {port} already" in answer["error"]["message"]


def test_a_variable_wins_over_what_is_served_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", "http://elsewhere:8000/v1")
    assert access_to("vllm").base_url == "http://elsewhere:8000/v1"
