"""`p2p agent` with a scripted Claude and real trainings."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from agent_runs import KEY
from scripted_claude import ScriptedClaude, Turn, calls, found, overloaded, results, said, text, use
from shared_sessions import BALANCE

from p2p.contracts.job import JobState
from p2p.service.progress.details import view_iteration
from p2p.service.progress.job_views import get_job, list_jobs
from p2p.service.sessions.transcripts import read_transcript
from p2p.service.workspace import Workspace
from p2p.settings import Settings

BAD = """
import os

def reward_fn(obs, action, next_obs, info):
    return 1.0, {"alive": 1.0}
"""
GOOD = '''
def reward_fn(obs, action, next_obs, info):
    """
    LaTeX: r = 1 - |\\\\theta|
    Terms:
        alive: one for each step
        upright: price of leaning
    """
    terms = {"alive": 1.0, "upright": -abs(float(next_obs[1]))}
    return sum(terms.values()), terms
'''
BETTER = GOOD.replace("-abs(float(next_obs[1]))", "-2.0 * abs(float(next_obs[1]))")
CREATE = calls(
    "create_session",
    intent=BALANCE,
    environment="InvertedPendulum-v5",
    n_seeds=1,
    config={"total_timesteps": 4096, "num_evals": 1, "n_eval_episodes": 3},
)


def on_session(tool: str, **arguments: Any) -> Any:
    """Call a tool on the session that was created."""

    def step(body: dict[str, Any]) -> Turn:
        return calls(tool, session_id=found(body, "session_id"), **arguments)

    return step


def look(body: dict[str, Any]) -> Turn:
    """Judge what the last result shows: it has a picture."""
    (result,) = results(body)
    assert not result["is_error"], said(result)
    assert any(block["type"] == "image" for block in result["content"])
    return on_session(
        "submit_judgment",
        is_what_was_meant=False,
        score=0.2,
        diagnosis="The pole falls over within a second.",
        failure_tags=["falls"],
    )(body)


def trained(body: dict[str, Any]) -> Turn:
    """Ask for the pictures, once the training has ended."""
    (result,) = results(body)
    assert not result["is_error"], said(result)
    assert json.loads(said(result))["state"] == "completed"
    return on_session("judge_videos")(body)


def command(tmp_path: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "p2p.cli", "agent", *words, "--runs-dir", str(tmp_path / "runs")]


def readable(said_to_the_person: str) -> None:
    """Of every result there was one line, in words."""
    told = [line for line in said_to_the_person.splitlines() if line.startswith("← ")]
    assert len(told) == 12
    assert not [line for line in told if "{" in line or len(line) > 230]
    assert told[1].startswith("← refused: ")
    assert told[3].startswith("← accepted, terms alive, upright")
    assert told[4] == "← iteration 1 completed, 4,096 of 4,096 steps"
    assert told[5].startswith("← measured: ")
    assert told[5].endswith(" · 1 picture")
    assert told[6].startswith("← failed, score ")
    assert told[7].startswith("← iteration 1 failed, ")


@pytest.mark.nightly
@pytest.mark.usefixtures("pictures")
def test_two_iterations_with_everything_that_can_go_wrong_on_the_way(tmp_path: Path) -> None:
    script = [
        overloaded(),
        CREATE,
        Turn([text("I will wr")], "end_turn", cut_after=3),
        on_session("write_reward", source=BAD),
        lambda body: Turn([use("write_reward", f"session {found(body, 'session_id')}")]),
        on_session("write_reward", source=GOOD, reasoning="Upright is what is asked for."),
        Turn([], "refusal"),
        on_session("train_iteration"),
        trained,
        look,
        on_session("revise_reward"),
        on_session("revise_reward", source=BETTER, reasoning="Leaning costs too little.", lesson="Alive is no guide."),
        on_session("train_iteration", timesteps=8192),
        trained,
        look,
    ]
    with ScriptedClaude(script).serving() as claude:
        env = {**os.environ, "ANTHROPIC_BASE_URL": claude.url, "ANTHROPIC_API_KEY": KEY, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            command(tmp_path, BALANCE, "--json", "--max-turns", "13"),
            env=env,
            capture_output=True,
            text=True,
            timeout=500,
        )
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    assert report.get("ending") == "budget", done.stdout + done.stderr
    assert done.returncode == 3
    assert report["iterations"] == 2
    assert report["spending"]["turns"] == 13
    assert sum(report["spending"]["job_steps"].values()) == 4096 + 8192
    assert len(claude.bodies) == 15

    ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
    session_id = report["session_id"]
    judgment = view_iteration(ws, session_id, 1).judgment
    assert judgment is not None
    assert judgment.observation is not None
    assert judgment.observation.model == "claude-opus-5-5"
    assert [entry.kind for entry in read_transcript(ws, session_id)][-1] == "end"

    bad, string = claude.bodies[4], claude.bodies[5]
    assert "import" in said(results(bad)[0])
    assert "must be an object" in said(results(string)[0])
    pictures = [json.dumps(body["messages"]).count('"type": "image"') for body in claude.bodies]
    assert pictures[9] == 1
    assert pictures[10] == 0, "they are cleared after judging"
    assert KEY not in done.stderr
    readable(done.stderr)


@pytest.mark.slow
@pytest.mark.nightly
def test_ctrl_c_leaves_the_training_at_work_and_a_resumed_agent_sees_it_end(tmp_path: Path) -> None:
    script = [CREATE, on_session("write_reward", source=GOOD), on_session("train_iteration", timesteps=20_000)]
    with ScriptedClaude(script).serving() as claude:
        env = {**os.environ, "ANTHROPIC_BASE_URL": claude.url, "ANTHROPIC_API_KEY": KEY, "OMP_NUM_THREADS": "1"}
        with subprocess.Popen(
            command(tmp_path, BALANCE),
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            stuck = threading.Timer(400, process.kill)
            stuck.start()
            seen = ""
            for line in process.stdout:
                seen += line
                if " steps · " in line or "running: " in line:
                    break
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            process.wait(240)
            stuck.cancel()
    assert process.returncode == 130, seen + rest
    assert "still at work: job_" in rest
    assert "p2p agent --resume session_" in rest

    ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
    (job,) = list_jobs(ws)
    assert not job.state.finished
    again = [calls("get_job", job_id=job.job_id), Turn([text("It is trained.")], "end_turn")]
    with ScriptedClaude(again).serving() as claude:
        env["ANTHROPIC_BASE_URL"] = claude.url
        done = subprocess.run(
            command(tmp_path, "--resume", "latest", "--json"), env=env, capture_output=True, text=True, timeout=500
        )
    report = json.loads(done.stdout)
    assert get_job(ws, job.job_id).state is JobState.COMPLETED
    assert sum(report["spending"]["job_steps"].values()) == job.total
    assert '"completed"' in said(results(claude.bodies[1])[0])
    lost = [block for block in claude.bodies[0]["messages"][-1]["content"] if block["type"] == "tool_result"]
    assert lost[0]["is_error"]


@pytest.mark.slow
@pytest.mark.nightly
def test_a_cap_on_time_stops_the_training_too(tmp_path: Path) -> None:
    script = [CREATE, on_session("write_reward", source=GOOD), on_session("train_iteration", timesteps=2_000_000)]
    with ScriptedClaude(script).serving() as claude:
        env = {**os.environ, "ANTHROPIC_BASE_URL": claude.url, "ANTHROPIC_API_KEY": KEY, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            command(tmp_path, BALANCE, "--json", "--max-minutes", "0.25"),
            env=env,
            capture_output=True,
            text=True,
            timeout=500,
        )
    report = json.loads(done.stdout)
    assert report["ending"] == "budget", done.stderr
    assert "was stopped with it" in report["reason"]
    (job,) = list_jobs(Workspace(Settings(runs_dir=tmp_path / "runs")))
    assert job.state is JobState.CANCELLED
