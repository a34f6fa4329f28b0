import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from replacing import replace_function
from session_views import judgment

import p2p
import p2p.cli.listing  # now: loaded while a function is replaced, it would keep the other one
from p2p.cli import main
from p2p.cli.app import Commands
from p2p.cli.config import read_config
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.session import NewSession, SessionStatus
from p2p.service.progress.listing import list_rows
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

GROUPS = {"benchmark", "bench", "clusters", "lab", "models", "nodes"}
"""Commands that hold others, and have no options of their own."""
COMMANDS = [str(row.name) for row in Commands.rows if row.name not in GROUPS]
POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
pytestmark = pytest.mark.usefixtures("runs_dir")
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def session_id(runs_dir: Path) -> str:
    """A session that has ended after one judged iteration, without any training."""
    ws = Workspace(Settings(runs_dir=runs_dir))
    session = create_session(ws, POLE)
    record = ws.record(session.session_id)
    record.iteration(1).save_judgment(judgment())
    record.set_status(SessionStatus.PASSED)
    return session.session_id


def test_help_lists_every_command(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(command in shown for command in [*COMMANDS, *GROUPS])


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_has_examples_and_the_shared_options(command: str, capsys: Capture) -> None:
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Examples" in shown
    assert shown.count(f"p2p {command}") >= 2
    assert "--json" in shown
    assert "--runs-dir" in shown


def test_version_is_the_packages(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"p2p {p2p.__version__}"


def test_the_command_line_starts_without_anything_heavy() -> None:
    heavy = {"numpy", "torch", "mujoco", "gymnasium", "stable_baselines3", "matplotlib"}
    code = f"import sys, p2p.cli; sys.exit(bool({heavy!r} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "run forward", "--env", "HalfCheetah-v5", "--set", "lerning_rate=1"], "did you mean 'learning_rate'"),
        (["run", "fly to the moon", "--env", "HalfCheetah-v5"], "fly to the moon"),
        (["run", "  "], "Say what to do"),
        (["run", "run forward", "--set", "gamma"], "KEY=VALUE"),
        (["run", "run forward", "--set", "gamma=2"], "gamma"),
        (["run", "run forward", "--seeds", "99"], "--seeds"),
        (["run", "run forward", "--rollouts", "1"], "--rollouts"),
        (["run", "run forward", "--configs", "3", "--reward-only"], "not valid:\n  3 configurations are variants"),
        (["run", "run forward", "--env", "Ant-v5", "--set", "env_id=Hopper-v5"], "give one of them"),
        (["train", "--reward", "no_such_file.py"], "no_such_file.py"),
        (["train"], "--reward"),
        (["show", "nothing"], "Unknown session 'nothing'"),
        (["resume"], "Unknown session 'latest'"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_rejected_input_exits_2_says_why_and_writes_nothing(
    words: list[str], said: str, runs_dir: Path, capsys: Capture
) -> None:
    assert main(words) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""
    assert not runs_dir.exists()

    assert main([*words, "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["type"]
    assert said in error["message"]


def test_an_unknown_environment_exits_2_with_the_nearest(runs_dir: Path, capsys: Capture) -> None:
    assert main(["run", "run forward", "--env", "HalfCheeta-v5"]) == 2
    assert "Did you mean 'HalfCheetah-v5'" in capsys.readouterr().err
    assert not list(runs_dir.glob("session_*"))


def test_an_environment_may_be_named_without_its_version(runs_dir: Path, capsys: Capture) -> None:
    assert main(["envs", "Hopper", "--json", "--runs-dir", str(runs_dir)]) == 0
    assert json.loads(capsys.readouterr().out)["env_id"] == "Hopper-v5"
    assert main(["run", "run forward", "--env", "HalfCheeta", "--runs-dir", str(runs_dir)]) == 2
    assert "Did you mean 'HalfCheetah-v5'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"), [("[1]", "JSON object"), ("{", "not readable JSON"), ('{"gama": 1}', "did you mean 'gamma'")]
)
def test_a_wrong_configuration_file_exits_2(
    content: str, said: str, tmp_path: Path, runs_dir: Path, capsys: Capture
) -> None:
    config = tmp_path / "config.json"
    config.write_text(content)
    assert main(["run", "run forward", "--config", str(config)]) == 2
    assert said in capsys.readouterr().err
    assert not runs_dir.exists()


def test_set_wins_over_the_file_and_timesteps_over_both(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"gamma": 0.9, "total_timesteps": 5, "device": "cpu"}')
    assignments = ["gamma=0.5", "net_arch=[8, 8]", "activation=tanh", "total_timesteps=6"]

    fields = read_config(config, assignments, 7)

    assert fields == {
        "gamma": 0.5,
        "total_timesteps": 7,
        "device": "cpu",
        "net_arch": [8, 8],
        "activation": "tanh",
    }
    with pytest.raises(InvalidConfig, match="KEY=VALUE"):
        read_config(None, ["=3"], None)


@pytest.mark.parametrize("blocked", ["/proc/no/runs", "a file"])
def test_a_runs_directory_that_cannot_be_written_exits_4(blocked: str, tmp_path: Path, capsys: Capture) -> None:
    if blocked == "a file":
        (tmp_path / "file").write_text("")
        blocked = str(tmp_path / "file" / "runs")
    words = ["run", POLE.prompt, "--env", POLE.env_id, "--runs-dir", blocked]
    assert main(words) == 4
    said = capsys.readouterr().err
    assert "--runs-dir" in said
    assert "Free some space" not in said
    assert main([*words, "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["error"]["type"] == "StorageProblem"


def test_a_missing_extra_exits_4_with_the_line_that_installs_it(
    runs_dir: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert main(["run", POLE.prompt, "--env", POLE.env_id]) == 4
    assert "pip install 'p2p-mcp[train]'" in capsys.readouterr().err
    assert not runs_dir.exists()


def test_what_nobody_foresaw_is_short_and_leaves_its_traceback_in_a_file(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Workspace, **_kwargs: object) -> None:
        raise KeyError("surprise")

    replace_function(monkeypatch, list_rows, fail)
    assert main(["list"]) == 1
    said = capsys.readouterr().err
    assert "surprise" in said
    assert "Traceback" not in said
    log = Path(next(word for word in said.split() if "p2p-error-" in word).rstrip(";"))
    assert "KeyError" in log.read_text()
    log.unlink()

    assert main(["--debug", "list"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_log_of_a_crash_is_written_through_no_link_of_somebody_else(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directory for temporary files is everybody's: a name that can be guessed may be a link."""

    def fail(_: Workspace, **_kwargs: object) -> None:
        raise KeyError("surprise")

    (precious := tmp_path / "precious").write_text("mine")
    (place := tmp_path / "tmp").mkdir()
    guessed = [place / f"p2p-error-{os.getpid()}.log", place / "p2p-error.log"]
    for name in guessed:
        name.symlink_to(precious)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    replace_function(monkeypatch, list_rows, fail)
    assert main(["list"]) == 1
    (log,) = set(place.iterdir()) - set(guessed)
    assert str(log) in capsys.readouterr().err
    assert log.stat().st_mode & 0o777 == 0o600
    assert precious.read_text() == "mine"


def test_ctrl_c_exits_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: Workspace, **_kwargs: object) -> None:
        raise KeyboardInterrupt

    replace_function(monkeypatch, list_rows, interrupt)
    assert main(["list"]) == 130


def test_list_of_nothing_says_how_to_begin(runs_dir: Path, capsys: Capture) -> None:
    assert main(["list"]) == 0
    assert "p2p run" in capsys.readouterr().out
    assert not runs_dir.exists()


def test_list_and_show_find_a_session(session_id: str, capsys: Capture) -> None:
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert session_id in shown
    assert POLE.prompt in shown
    for name in (session_id, "latest", session_id[:12], session_id[-8:]):
        assert main(["show", name]) == 0
        shown = capsys.readouterr().out
        assert "passed" in shown
        assert "Runs forward" in shown
        assert shown.count("≥ 2 m/s") == 1, "criteria are shown once"
    assert main(["show", "--iteration", "1"]) == 0
    assert "3.21 m/s" in capsys.readouterr().out
    assert main(["show", "--iteration", "7"]) == 2


@pytest.mark.usefixtures("session_id")
@pytest.mark.parametrize("words", [["list"], ["show"], ["show", "--iteration", "1"], ["watch"], ["stop"], ["envs"]])
def test_json_is_one_object_on_stdout(words: list[str], capsys: Capture) -> None:
    assert main([*words, "--json"]) == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


@pytest.mark.usefixtures("session_id")
def test_stopping_what_has_ended_changes_nothing(capsys: Capture) -> None:
    assert main(["stop"]) == 0
    assert "has already ended: passed" in capsys.readouterr().out
    assert main(["resume"]) == 2


def test_a_session_nobody_drives_exits_with_the_way_to_go_on(runs_dir: Path, capsys: Capture) -> None:
    session_id = create_session(Workspace(Settings(runs_dir=runs_dir)), POLE).session_id
    assert main(["watch"]) == 2
    assert f"p2p resume {session_id}" in capsys.readouterr().err


def test_judging_what_is_not_judged_yet_exits_2(runs_dir: Path, capsys: Capture) -> None:
    create_session(Workspace(Settings(runs_dir=runs_dir)), POLE)
    assert main(["judge"]) == 2
    assert "no judged iteration" in capsys.readouterr().err


def test_envs_lists_all_and_describes_one(capsys: Capture) -> None:
    assert main(["envs"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("HalfCheetah-v5", "Ant-v5", "Pusher-v5"))
    assert main(["envs", "HalfCheetah-v5"]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("velocity_x", "m/s", "Observation", "Action", "Features", "0.05 s"))
    assert main(["envs", "HalfCheetah-v5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["env_id"] == "HalfCheetah-v5"


def test_the_shell_completes_sessions_and_environments(session_id: str) -> None:
    assert _complete("p2p show ses") == [session_id]
    assert _complete("p2p envs Half") == ["HalfCheetah-v5"]
    assert _complete("p2p run x --env Hop") == ["Hopper-v5"]


def test_doctor_tells_what_is_there_and_never_a_key(
    runs_dir: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-this-is-secret")
    assert main(["doctor"]) == 0
    printed = capsys.readouterr()
    for word in ("python", "torch", "renderer", "ffmpeg", "cores", "memory", "disk", "ANTHROPIC_API_KEY"):
        assert word in printed.out
    assert "secret" not in printed.out + printed.err
    assert not runs_dir.exists()


def test_doctor_exits_4_where_nothing_can_be_trained(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert main(["doctor", "--json", "--runs-dir", "/proc/no/runs"]) == 4
    report = json.loads(capsys.readouterr().out)
    assert report["usable"] is False
    checks = {check["name"]: check for check in report["checks"]}
    assert checks["runs directory"]["level"] == "problem"
    assert "--runs-dir" in checks["runs directory"]["remedy"]
    assert "mujoco" in checks["renderer"]["found"]


def _complete(line: str) -> list[str]:
    words = line.split()
    asked = {"_P2P_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "p2p.cli"], env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_a_file_where_sessions_are_kept_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "notes.txt"
    place.write_text("mine")
    for words in (["list"], ["show"], ["run", "run forward"]):
        assert main([*words, "--runs-dir", str(place)]) == 4
        assert "notes.txt is a file; sessions are kept in a directory" in " ".join(capsys.readouterr().err.split())
    assert place.read_text() == "mine"
