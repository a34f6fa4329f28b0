"""The loop that runs by itself and a caller who takes every step leave the same files of the same inputs."""

import json
import time
from pathlib import Path

import pytest
import recorded_session as recorded
from shared_sessions import BALANCE, end_films

from p2p.contracts.session import NewSession
from p2p.service.judging.caller_judgment import submit_judgment
from p2p.service.progress.job_views import wait_for_job
from p2p.service.progress.session_view import view_session
from p2p.service.rewards.submission import submit_reward
from p2p.service.sessions.background import start_training
from p2p.service.sessions.driving import start_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

REQUEST = NewSession(
    prompt=BALANCE,
    env_id="InvertedPendulum-v5",
    n_report_rollouts=10,
    n_seeds=1,
    config={"total_timesteps": 2_048, "num_evals": 1, "n_eval_episodes": 3},
    max_iterations=1,
)
OF_THE_DRIVER = "driver/"
"""The process that runs the loop; a caller has none, and its training is a job beside the session."""
OF_THE_CALLER = {"iter_1/training_request.json", "step.lock"}
"""What the caller asked for, by which job; and the lock that keeps two callers apart."""

BY_THE_DRIVER = "session.started"
"""Tells that a process drives the session; one that its caller drives begins with its first iteration."""


def _by_itself(runs_dir: Path) -> Path:
    ws = Workspace(Settings(runs_dir=runs_dir))
    session_id = create_session(ws, REQUEST, session_id=recorded.SESSION_ID).session_id
    start_session(ws, session_id)
    while view_session(ws, session_id).alive:
        time.sleep(0.2)
    return ws.record(session_id).path


def _by_a_caller(runs_dir: Path) -> Path:
    ws = Workspace(Settings(runs_dir=runs_dir))
    session_id = create_session(ws, REQUEST, session_id=recorded.SESSION_ID).session_id
    assert submit_reward(ws, session_id).report.accepted
    job = start_training(ws, session_id)
    while not wait_for_job(ws, job.job_id, 45).state.finished:
        pass
    submit_judgment(ws, session_id, 1, None)
    return ws.record(session_id).path


@pytest.mark.slow
@pytest.mark.nightly
def test_a_session_driven_by_its_loop_and_one_driven_by_its_caller_leave_the_same(tmp_path: Path) -> None:
    alone, called = _by_itself(tmp_path / "alone"), _by_a_caller(tmp_path / "called")
    end_films(tmp_path)
    trees = [{name for name in recorded.tree(path) if not name.startswith(OF_THE_DRIVER)} for path in (alone, called)]
    assert trees[0] | OF_THE_CALLER == trees[1] | OF_THE_CALLER
    texts = [recorded.texts(path) for path in (alone, called)]
    shared = (texts[0].keys() & texts[1].keys()) - {"events.jsonl"}
    assert [name for name in sorted(shared) if texts[0][name] != texts[1][name]] == []
    told = [[json.loads(line)["event"] for line in text["events.jsonl"].splitlines()] for text in texts]
    assert [name for name in told[0] if name != BY_THE_DRIVER] == told[1]
