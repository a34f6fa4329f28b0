"""Ctrl-C, refused rewards and full disks at the command line: no traceback, and nothing left unsaid or half done."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from replacing import replace_function

from p2p.cli import main
from p2p.cli.interrupts import held_back
from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.session import SessionStatus
from p2p.service.jobs.worker_jobs import run_to_end, wait
from p2p.service.progress.listing import list_sessions
from p2p.service.progress.session_view import view_session
from p2p.service.sessions import driving
from p2p.service.sessions.driving import make_ready, start_driver, start_session, stop_session
from p2p.service.sessions.lifecycle import create_session, write_session
from p2p.service.training.environments import describe_environment
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import files, layout

RUN = ["run", "keep the pole balanced", "--env", "InvertedPendulum-v5"]
AT_IMPORT = """
import os, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == word:
            os.kill(os.getpid(), signal.SIGINT)

word, sys.argv = sys.argv[1], ["p2p", "list"]
from p2p.cli import main
sys.meta_path.insert(0, Interrupts())
code = main()
assert word in sys.modules, f"{word} is not loaded"
sys.exit(code)
"""
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    monkeypatch.setenv("P2P_RUNS_DIR", str(tmp_path / "runs"))
    monkeypatch.setattr(driving, "DRIVER", ("{python}", "-c", "import time; time.sleep(600)"))
    ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
    yield ws
    for job in tmp_path.rglob(layout.JOB):
        ws.backend.cancel(job.parent)


@pytest.mark.parametrize(
    "module",
    [
        "p2p.cli.interrupts",
        "p2p.cli.command",
        "typer",
        "pydantic",
        "pydantic_core",
        "rich.console",
        "p2p.cli.app",
        "p2p.service",
    ],
)
def test_ctrl_c_while_modules_are_loaded_leaves_without_a_word(module: str) -> None:
    done = subprocess.run([sys.executable, "-c", AT_IMPORT, module], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def interrupted(step: Callable[..., Any], *, before: bool) -> Callable[..., Any]:
    """A step during which Ctrl-C is typed, at its beginning or at its end."""

    def typed(*arguments: object, **named: object) -> object:
        if before:
            signal.raise_signal(signal.SIGINT)
        answer = step(*arguments, **named)
        if not before:
            signal.raise_signal(signal.SIGINT)
        return answer

    return typed


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("step", [describe_environment, create_session, write_session])
def test_ctrl_c_before_a_session_is_started_leaves_nothing_of_it(
    ws: Workspace, step: Callable[..., Any], before: bool, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    replace_function(monkeypatch, step, interrupted(step, before=before))
    assert main(RUN) == 130
    said = capsys.readouterr()
    assert said.err == ""
    if step is not describe_environment:  # then no session has been thought of
        assert "was not started; its files were removed" in said.out
    assert list(ws.runs.path.glob("session_*")) == []


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("step", [start_session, start_driver, view_session])
@pytest.mark.parametrize("stop", [True, False], ids=["stops", "goes on"])
def test_ctrl_c_from_the_start_on_tells_the_session_and_what_it_does(
    ws: Workspace, step: Callable[..., Any], before: bool, stop: bool, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    with monkeypatch.context() as patch:
        replace_function(patch, step, interrupted(step, before=before))
        assert main([*RUN, *(["--stop-on-exit"] if stop else [])]) == 130
    (view,) = list_sessions(ws)
    said = capsys.readouterr()
    assert view.session.session_id in said.out
    assert f"p2p {'resume' if stop else 'stop'} {view.session.session_id}" in said.out
    assert said.err == ""
    assert view.status is (SessionStatus.CANCELLED if stop else SessionStatus.RUNNING)
    assert view.alive is not stop


def test_ctrl_c_while_a_session_is_resumed_tells_what_it_does(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    assert main([*RUN, "--detach"]) == 0
    (view,) = list_sessions(ws)
    stop_session(ws, view.session.session_id)
    capsys.readouterr()
    replace_function(monkeypatch, make_ready, interrupted(make_ready, before=False))
    assert main(["resume"]) == 130
    assert f"{view.session.session_id} continues in the background" in capsys.readouterr().out
    assert view_session(ws, view.session.session_id).alive


@pytest.mark.usefixtures("ws")
def test_a_second_ctrl_c_does_not_hide_what_the_first_left(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    replace_function(monkeypatch, view_session, interrupted(view_session, before=True))  # at every look
    assert main(RUN) == 130
    assert "continues in the background" in capsys.readouterr().out


@pytest.mark.parametrize("step", ["save_criteria", "set_status", "save_session"])
def test_a_disk_that_fills_while_a_session_is_written_leaves_nothing_of_it(
    ws: Workspace, step: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def full(record: Any, *_: object) -> None:
        raise files.storage_problem(record.path, OSError(28, "No space left on device"))

    monkeypatch.setattr(f"p2p.store.sessions.SessionRecord.{step}", full)
    assert main([*RUN, "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["error"]["type"] == "StorageProblem"
    assert list(ws.runs.path.glob("session_*")) == []


def test_a_full_disk_is_refused_before_a_session_is_written(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("P2P_MIN_FREE_DISK_GB", "1e9")
    assert main(RUN) == 4
    assert "P2P_MIN_FREE_DISK_GB" in capsys.readouterr().err
    assert list(ws.runs.path.glob("session_*")) == []


def test_a_driver_that_cannot_be_started_leaves_no_session(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise EnvironmentProblem("no more processes")

    monkeypatch.setattr("p2p.scheduler.backends.local._start_supervisor", fails)
    assert main(RUN) == 4
    assert list(ws.runs.path.glob("session_*")) == []


def test_a_refused_reward_leaves_no_session(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.undo()  # a driver that drives
    monkeypatch.setenv("P2P_CONFIG", os.devnull)
    reward = tmp_path / "reward.py"
    reward.write_text("def reward_fn(:\n")
    words = ["train", "--reward", str(reward), "--env", "InvertedPendulum-v5", "--runs-dir", str(ws.runs.path)]
    assert main(words) == 2
    assert "Nothing was trained" in capsys.readouterr().err
    assert list(ws.runs.path.glob("session_*")) == []


def test_a_job_that_is_waited_for_ends_with_ctrl_c(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    job = ws.runs.path / "job"
    replace_function(monkeypatch, wait, interrupted(wait, before=True))
    with pytest.raises(KeyboardInterrupt):
        run_to_end(ws.backend, "describe", job)
    assert ws.backend.status(job).state.finished


SLEEPING_DRIVER = f"""
import sys
from p2p.cli import main, run
from p2p.service.sessions import driving

driving.DRIVER = ("{{python}}", "-c", "import time; time.sleep(600)")
sys.argv = ["p2p", *{RUN}]
"""
"""A command of its own, whose driver does nothing."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_command_tells_the_session_that_goes_on(ws: Workspace, number: signal.Signals) -> None:
    script = f"{SLEEPING_DRIVER}sys.exit(main())"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        while "session session_" not in (line := command.stdout.readline()):
            assert line, "it ended before it had a session"
        command.send_signal(number)
        said = command.stdout.read()
    assert command.returncode == 130
    (view,) = list_sessions(ws)
    assert f"{view.session.session_id} continues in the background" in said
    assert view.alive


def test_a_closed_pipe_tells_the_session_that_goes_on(ws: Workspace) -> None:
    closed = "def closed(*_):\n    raise BrokenPipeError\nrun.follow = closed\nsys.exit(main())"
    script = [sys.executable, "-c", SLEEPING_DRIVER + closed]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    (view,) = list_sessions(ws)
    assert f"{view.session.session_id} continues in the background" in done.stderr
    assert view.alive


def test_a_reader_that_leaves_is_told_the_session_that_goes_on(ws: Workspace) -> None:
    script = [sys.executable, "-c", f"{SLEEPING_DRIVER}sys.exit(main())"]
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.readline()
        command.stdout.close()  # as `| head -1` does
        said = command.stderr.read()
    assert command.returncode == 1
    (view,) = list_sessions(ws)
    assert f"{view.session.session_id} continues in the background" in said
    assert view.alive


def test_ctrl_c_is_held_back_until_the_end_of_a_step() -> None:
    with held_back() as typed:
        assert not typed()
        signal.raise_signal(signal.SIGINT)
        assert typed()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
