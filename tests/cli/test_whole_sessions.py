"""Commands that train, or check a reward in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from shared_sessions import BALANCE

from p2p.cli import main
from p2p.contracts.session import SessionStatus
from p2p.service.progress.listing import list_sessions
from p2p.service.sessions.driving import stop_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

pytestmark = pytest.mark.slow

TINY = [
    *("--env", "InvertedPendulum-v5", "--timesteps", "6000", "--seeds", "1", "--rollouts", "10"),
    *("--set", "num_evals=2", "--set", "n_eval_episodes=3"),
]
REWARD = """
from p2p.training.reward_function import RewardFunction


class Upright(RewardFunction):
    latex = r"1 - |\\theta|"
    terms = {"upright": "the pole is up"}

    def compute(self, obs, action, next_obs, info):
        value = VALUE
        return value, {"upright": value}
"""
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def runs_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("P2P_RUNS_DIR", str(tmp_path / "runs"))
    return tmp_path / "runs"


def reward_file(directory: Path, value: str) -> str:
    file = directory / "reward.py"
    file.write_text(REWARD.replace("VALUE", value))
    return str(file)


@pytest.mark.usefixtures("pictures")
def test_a_reward_of_ones_own_is_trained_judged_and_shown(tmp_path: Path, runs_dir: Path, capsys: Capture) -> None:
    reward = reward_file(tmp_path, "1.0 - abs(float(next_obs[1]))")

    code = main(["train", "--reward", reward, "--intent", BALANCE, *TINY, "--json"])

    printed = capsys.readouterr()
    view = json.loads(printed.out)
    assert code == (0 if view["status"] == "passed" else 3)
    assert "iteration 1/1: train" in printed.err
    artefacts = view["artefacts"]
    assert None not in artefacts.values()
    assert all((runs_dir / path).exists() for path in artefacts.values())

    assert main(["judge", "--json"]) == code
    assert json.loads(capsys.readouterr().out)["criteria"] == view["judgment"]["criteria"]
    assert main(["judge", "--intent", "juggle"]) == 2
    assert main(["watch"]) == code
    assert artefacts["video"] in capsys.readouterr().out


def test_without_an_intent_a_training_ends_well_and_shows_its_returns(tmp_path: Path, capsys: Capture) -> None:
    words = ["train", "--reward", reward_file(tmp_path, "1.0"), *TINY, "--set", "episode_s=2", "--detach"]
    assert main(words) == 0
    assert "p2p watch" in capsys.readouterr().out
    assert main(["watch"]) == 0
    shown = capsys.readouterr().out
    assert "return of 10 report rollouts" in shown
    assert "baseline_seed_10" in shown


@pytest.mark.parametrize("value", ["(", "float('nan')"], ids=["refused by its text", "refused when tried"])
def test_a_bad_reward_exits_2_and_trains_nothing(value: str, tmp_path: Path, runs_dir: Path, capsys: Capture) -> None:
    assert main(["train", "--reward", reward_file(tmp_path, value), *TINY, "--json"]) == 2

    error = json.loads(capsys.readouterr().out)["error"]
    assert error["type"] == "InvalidReward"
    assert "The reward cannot be trained" in error["message"]
    assert not list(runs_dir.glob("*/iter_1/*_seed_*"))


def test_ending_without_passing_exits_3(capsys: Capture) -> None:
    words = [
        "run",
        BALANCE,
        *TINY,
        "--iterations",
        "1",
        "--timesteps",
        "1000",
        "--pass-threshold",
        "1",
    ]
    assert main(words) == 3
    assert "ended without passing" in capsys.readouterr().out
    assert main(["resume"]) == 2


@pytest.mark.parametrize("stop", [pytest.param(True, marks=pytest.mark.nightly), False])
def test_ctrl_c_leaves_the_trainings_running_unless_they_are_to_stop(
    stop: bool, runs_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("P2P_CORES_DIR", str(tmp_path / "cores"))  # else it may wait for cores of other tests
    words = ["run", BALANCE, *TINY, "--timesteps", "2000000", *(["--stop-on-exit"] if stop else [])]
    with subprocess.Popen(
        [sys.executable, "-m", "p2p.cli", *words], stdout=subprocess.PIPE, text=True, env={**os.environ}
    ) as command:
        assert command.stdout is not None
        next(line for line in command.stdout if line.rstrip().endswith(": train"))
        command.send_signal(signal.SIGINT)
        rest = command.stdout.read()
    ws = Workspace(Settings(runs_dir=runs_dir))
    (view,) = list_sessions(ws)
    try:
        assert command.returncode == 130
        assert view.alive is not stop
        deadline = time.monotonic() + 60
        while view.status is SessionStatus.WAITING and time.monotonic() < deadline:  # its training has no cores yet
            time.sleep(0.1)
            (view,) = list_sessions(ws)
        assert view.status is (SessionStatus.CANCELLED if stop else SessionStatus.RUNNING)
        assert all(f"p2p {name} " in rest for name in (("resume",) if stop else ("watch", "stop", "resume")))
    finally:
        stop_session(ws, view.session.session_id)
