import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from agent_runs import KEY
from scripted_claude import ScriptedClaude, Turn, calls, says

from p2p.cli import main

CREATE = calls("create_session", intent="hop forward without falling", environment="Hopper-v5")
ENTRY = [sys.executable, "-m", "p2p.cli", "agent"]


@contextmanager
def provider(*steps: Any) -> Iterator[tuple[ScriptedClaude, dict[str, str]]]:
    """A scripted provider, and the environment of a process that uses it."""
    with ScriptedClaude(steps).serving() as claude:
        yield claude, {**os.environ, "ANTHROPIC_BASE_URL": claude.url, "ANTHROPIC_API_KEY": KEY}


def agent(tmp_path: Path, *words: str) -> int:
    return main(["agent", *words, "--runs-dir", str(tmp_path / "runs")])


def test_without_a_key_one_line_says_what_can_be_done(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert agent(tmp_path, "do a backflip") == 4
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "ANTHROPIC_API_KEY" in err
    assert "p2p run" in err
    assert "p2p-mcp" in err


def test_a_dry_run_shows_model_caps_and_tools_and_needs_no_key(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert agent(tmp_path, "do a backflip", "--dry-run", "--max-turns", "7", "--env", "Ant-v5") == 0
    out = capfd.readouterr().out
    assert "claude-opus-5-5" in out
    assert "7 turns" in out
    assert "create_session" in out
    assert "Environment: Ant-v5." in out
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_needs_no_sdk(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['anthropic'] = None; from p2p.cli import main;"
        f"sys.exit(main(['agent', 'hop', '--dry-run', '--env', 'Ant-v5', '--runs-dir', {str(tmp_path / 'runs')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_dry_run_as_json_is_one_object(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert agent(tmp_path, "do a backflip", "--dry-run", "--json", "--price", "1,2", "--model", "claude-x") == 0
    plan = json.loads(capfd.readouterr().out)
    assert plan["price"]["output"] == 2
    assert plan["model"] == "claude-x"


def test_p2p_mcp_agent_is_p2p_agent(tmp_path: Path) -> None:
    words = ["agent", "do a backflip", "--dry-run", "--json", "--max-turns", "7", "--runs-dir", str(tmp_path / "runs")]
    done = subprocess.run([sys.executable, "-m", "p2p_mcp", *words], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["limits"]["turns"] == 7
    refused = subprocess.run([sys.executable, "-m", "p2p_mcp", "agent"], capture_output=True, text=True)
    assert (refused.returncode, "Say what to do" in refused.stderr) == (2, True)


def test_the_model_is_a_setting(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("P2P_AGENT_MODEL", "claude-sonnet-5-5")
    assert agent(tmp_path, "hop", "--dry-run", "--json") == 0
    assert json.loads(capfd.readouterr().out)["model"] == "claude-sonnet-5-5"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "Say what to do"),
        (["hop", "--price", "cheap"], "--price 4,20"),
        (["hop", "--model", "claude-x", "--dry-run"], "--max-tokens"),
        (["hop", "--tools", "fly", "--dry-run"], "fly"),
        (["hop", "--effort", "enormous"], "enormous"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_can(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    assert agent(tmp_path, *words) == 2
    assert told in capfd.readouterr().err


def test_the_report_as_json_is_one_object_and_the_rest_goes_to_stderr(tmp_path: Path) -> None:
    with provider(CREATE, says("I stop."), says("I stop.")) as (_, env):
        done = subprocess.run(
            [*ENTRY, "hop", "--json", "--runs-dir", str(tmp_path)], env=env, capture_output=True, text=True, timeout=240
        )
    report = json.loads(done.stdout)
    assert done.returncode == 3
    assert report["ending"] == "stopped"
    assert report["spending"]["turns"] == 3
    assert "create_session" in done.stderr
    assert KEY not in done.stdout + done.stderr
    assert all(KEY not in path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file())


def test_a_cap_that_is_reached_is_told_with_the_way_to_go_on(tmp_path: Path) -> None:
    with provider(CREATE) as (_, env):
        done = subprocess.run(
            [*ENTRY, "hop", "--max-turns", "1", "--runs-dir", str(tmp_path)],
            env=env,
            capture_output=True,
            text=True,
            timeout=240,
        )
    assert done.returncode == 3
    assert "budget: The cap of 1 turns is reached. To go on, raise --max-turns." in done.stdout
    assert "p2p agent --resume session_" in done.stdout


class Waiting:
    """A turn that does not come before it is released; says when it has been asked for."""

    def __init__(self) -> None:
        self.asked, self.released = threading.Event(), threading.Event()

    def __call__(self, _: dict[str, Any]) -> Turn:
        self.asked.set()
        self.released.wait(240)
        return says("Go on.")


@pytest.mark.parametrize("sent", [pytest.param(signal.SIGINT, marks=pytest.mark.nightly), signal.SIGKILL])
def test_after_an_interruption_or_a_kill_it_goes_on_from_the_transcript(tmp_path: Path, sent: signal.Signals) -> None:
    waiting = Waiting()
    with provider(CREATE, waiting) as (_, env):
        process = subprocess.Popen(
            [*ENTRY, "hop", "--model", "claude-sonnet-5-5", "--max-turns", "9", "--runs-dir", str(tmp_path)],
            env=env,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert waiting.asked.wait(240)
        process.send_signal(sent)
        out, _ = process.communicate(timeout=240)
        waiting.released.set()
    if sent is signal.SIGINT:
        assert process.returncode == 130
        assert "p2p agent --resume session_" in out
    with provider(says("done"), says("done")) as (claude, env):
        resumed = subprocess.run(
            [*ENTRY, "softer", "--resume", "latest", "--max-cost", "2", "--runs-dir", str(tmp_path), "--json"],
            env=env,
            capture_output=True,
            text=True,
            timeout=240,
        )
    report = json.loads(resumed.stdout)
    assert report["session_id"].startswith("session_")
    assert report["spending"]["turns"] >= 3
    assert report["model"] == "claude-sonnet-5-5"
    assert report["limits"]["turns"] == 9
    assert report["limits"]["dollars"] == 2
    assert "The person watching says: softer" in json.dumps(claude.bodies[0]["messages"])
    assert "Train this behaviour: hop" in claude.bodies[0]["messages"][0]["content"][0]["text"]


def test_a_line_typed_on_a_terminal_reaches_the_next_turn(tmp_path: Path) -> None:
    waiting = Waiting()

    def after(_: dict[str, Any]) -> Turn:
        return says("I see.")

    with provider(waiting, after) as (claude, env):
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [*ENTRY, "hop", "--runs-dir", str(tmp_path)], env=env, stdin=theirs, stdout=subprocess.PIPE, text=True
        )
        assert waiting.asked.wait(240)
        os.write(ours, b"higher please\n")
        deadline = time.monotonic() + 60
        while _unread(theirs):
            assert time.monotonic() < deadline, "nobody reads the terminal"
            time.sleep(0.01)
        waiting.released.set()
        out, _ = process.communicate(timeout=240)
        os.close(theirs)
        os.close(ours)
    assert process.returncode == 3
    assert "you: higher please" in out
    assert "The person watching says: higher please" in json.dumps(claude.bodies[-1]["messages"])


def _unread(terminal: int) -> int:
    """Bytes that were typed on a terminal and that no program has read."""
    return int(struct.unpack("i", fcntl.ioctl(terminal, termios.FIONREAD, b"\0" * 4))[0])
