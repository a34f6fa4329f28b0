"""A server process: started, waited for, stopped; what is tested is a stand-in with vLLM's arguments and addresses."""

import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.inference import VllmOptions
from p2p.inference import vllm_server
from p2p.inference.vllm_server import VllmServer

STAND_IN = (sys.executable, str(Path(__file__).parent / "stand_in_server.py"))


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., VllmServer]]:
    made: list[VllmServer] = []

    def make(behaviour: str = "", **options: float) -> VllmServer:
        monkeypatch.setenv("STAND_IN", behaviour)
        chosen = VllmOptions.model_validate({"model": "Qwen/Qwen3-VL", "port": free_port(), **options})
        made.append(VllmServer(chosen, tmp_path / "vllm.log", STAND_IN))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_server_is_waited_for_until_it_serves_its_model(server: Callable[..., VllmServer], tmp_path: Path) -> None:
    made, beats = server("late"), list[int]()
    made.start(heartbeat=lambda: beats.append(1))
    assert made.healthy()
    assert made.models() == ("Qwen/Qwen3-VL",)
    assert beats
    made.stop()
    assert not made.healthy()
    assert made.environment()["VLLM_API_KEY"] not in (tmp_path / "vllm.log").read_text()


def test_the_keys_of_others_do_not_reach_it(
    server: Callable[..., VllmServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary-1234567890")
    with server():
        assert "keys: ['VLLM_API_KEY']" in (tmp_path / "vllm.log").read_text()


def test_a_server_that_ends_says_why(server: Callable[..., VllmServer]) -> None:
    with pytest.raises(EnvironmentProblem, match="CUDA out of memory"):
        server("crash").start()


def test_a_server_that_never_answers_is_stopped(server: Callable[..., VllmServer]) -> None:
    with pytest.raises(EnvironmentProblem, match="did not answer within 1 s"):
        server("deaf", start_s=1).start()


def test_a_stubborn_server_is_ended_with_all_it_started(
    server: Callable[..., VllmServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vllm_server, "GRACE_S", 0.2)
    made = server("stubborn child")
    made.start()
    child = int((tmp_path / "vllm.log").read_text().split("child ")[1].split()[0])
    made.stop()
    assert not made.healthy()
    while Path(f"/proc/{child}").exists() and "Z (zombie)" not in Path(f"/proc/{child}/status").read_text():
        os.sched_yield()


def test_without_vllm_it_says_what_to_install(tmp_path: Path) -> None:
    made = VllmServer(VllmOptions(model="Qwen/Qwen3-VL"), tmp_path / "vllm.log", ("no-such-vllm",))
    with pytest.raises(EnvironmentProblem, match="pip install vllm"):
        made.start()
