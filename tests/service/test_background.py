"""Trainings that outlive whoever started them."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from shared_sessions import BALANCE, made_once

from p2p.contracts.background import JobKind, StartTraining
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.job import JobState
from p2p.contracts.session import NewSession, SessionStatus
from p2p.service.judging.verdict import judge
from p2p.service.progress.details import view_iteration
from p2p.service.progress.job_views import get_job, job_log, list_jobs, wait_for_job
from p2p.service.progress.session_view import view_session
from p2p.service.rewards.submission import submit_reward
from p2p.service.rewards.writing import write_reward
from p2p.service.sessions.background import cancel_job, start_loop, start_training
from p2p.service.sessions.driving import resume_session, stop_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import layout
from p2p.store.background import BackgroundDirectory

SHORT = {"total_timesteps": 4096, "num_evals": 1, "n_eval_episodes": 3}


@pytest.fixture
def ws(tmp_path):
    return Workspace(Settings(runs_dir=tmp_path, max_parallel=2))


@pytest.fixture
def session_id(ws, tmp_path_factory):
    """A session whose first reward is accepted."""
    shutil.copytree(made_once(tmp_path_factory, "accepted_session", accept_a_reward), ws.runs.path, dirs_exist_ok=True)
    return "balance"


def accept_a_reward(runs_dir):
    ws = Workspace(Settings(runs_dir=runs_dir))
    request = NewSession(
        prompt=BALANCE,
        env_id="InvertedPendulum-v5",
        n_seeds=1,
        n_report_rollouts=10,
        config=SHORT,
    )
    write_reward(ws, create_session(ws, request, session_id="balance").session_id, 1)


def another(ws, name):
    request = ws.record(name).read_session()
    other = create_session(
        ws, NewSession(**request.model_dump(exclude={"session_id", "created_at", "backend", "extends"}))
    ).session_id
    write_reward(ws, other, 1)
    return other


def ended(ws, job_id, seconds=240):
    deadline = time.monotonic() + seconds
    while not (view := wait_for_job(ws, job_id, 45)).state.finished:
        assert time.monotonic() < deadline, view
    return view


@pytest.mark.slow
def test_a_start_returns_at_once_and_what_it_started_can_be_judged_at_once_when_it_has_ended(ws, session_id):
    begun = time.monotonic()
    started = start_training(ws, session_id)
    assert time.monotonic() - begun < 3
    assert started.kind is JobKind.TRAINING
    assert not started.state.finished
    assert view_session(ws, session_id).alive
    done = ended(ws, started.job_id)
    assert done.state is JobState.COMPLETED, done.error
    assert (done.step, done.total) == (4096, 4096)
    assert ws.record(session_id).read_status().status is SessionStatus.PENDING
    supervised = [path.stat().st_mtime_ns for path in ws.runs.path.rglob(layout.HANDLE)]
    assert judge(ws, session_id, 1).n_rollouts == 10
    assert [path.stat().st_mtime_ns for path in ws.runs.path.rglob(layout.HANDLE)] == supervised  # no process ran
    with pytest.raises(InvalidInput, match="trained already: judge it"):
        start_training(ws, session_id)


@pytest.mark.slow
def test_the_same_key_is_the_same_job_whoever_is_first_and_whenever(ws, session_id):
    request = StartTraining(idempotency_key="once", total_timesteps=2048)
    with ThreadPoolExecutor(4) as pool:
        views = list(pool.map(lambda _: start_training(ws, session_id, request), range(4)))
    assert len({view.job_id for view in views}) == 1
    done = ended(ws, views[0].job_id)
    assert done.total == 2048
    again = start_training(Workspace(ws.settings), session_id, request)
    assert (again.job_id, again.state) == (done.job_id, JobState.COMPLETED)
    assert len(list_jobs(ws)) == 1


@pytest.mark.nightly
def test_jobs_wait_for_their_turn_in_the_order_they_came(ws, session_id):
    others = [another(ws, session_id) for _ in range(2)]
    lengths = {session_id: 25_000} | dict.fromkeys(others, 1024)
    jobs = [start_training(ws, name, StartTraining(total_timesteps=steps)) for name, steps in lengths.items()]
    deadline = time.monotonic() + 30
    while get_job(ws, jobs[0].job_id).state is not JobState.RUNNING:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert [get_job(ws, job.job_id).queue_position for job in jobs] == [None, 1, 2]
    assert get_job(ws, jobs[2].job_id).state is JobState.WAITING
    assert cancel_job(ws, jobs[1].job_id).state is JobState.CANCELLED
    assert get_job(ws, jobs[2].job_id).queue_position == 1
    assert ended(ws, jobs[0].job_id).state is JobState.COMPLETED
    assert ended(ws, jobs[2].job_id).state is JobState.COMPLETED
    assert [view.session_id for view in list_jobs(ws)] == [others[1], others[0], session_id]


@pytest.mark.slow
def test_a_job_outlives_its_caller_and_one_that_is_killed_goes_on_where_it_stopped(ws, session_id, tmp_path):
    program = (
        "import sys; from pathlib import Path; from p2p.service.workspace import Workspace;"
        "from p2p.service.sessions.background import start_training; from p2p.settings import Settings;"
        "from p2p.contracts.background import StartTraining;"
        "ws = Workspace(Settings(runs_dir=Path(sys.argv[1]), max_parallel=1));"
        "print(start_training(ws, sys.argv[2], StartTraining(seeds=(3, 4), total_timesteps=10_000)).job_id)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), session_id], capture_output=True, text=True, check=True
    )
    job_id = run.stdout.strip()
    deadline = time.monotonic() + 60
    runs = [ws.record(session_id).iteration(1).run("baseline", seed) for seed in (3, 4)]
    while runs[0].read_summary() is None:  # one at a time: the other has begun, or is about to
        assert time.monotonic() < deadline
        time.sleep(0.05)
    finished = runs[0].summary_path.stat().st_ino
    handle = json.loads((tmp_path / layout.JOBS / job_id / layout.HANDLE).read_bytes())
    for pid in (handle["pid"], handle["child"]):
        os.kill(pid, signal.SIGKILL)
    assert ended(ws, job_id, 30).state is JobState.LOST
    done = ended(ws, start_training(ws, session_id).job_id)
    assert (done.state, done.step) == (JobState.COMPLETED, 2 * 10_000)
    assert runs[0].summary_path.stat().st_ino == finished


@pytest.mark.nightly
def test_a_reward_that_fails_in_training_is_told_in_words(ws, session_id):
    source = (
        "def reward_fn(obs, action, next_obs, info):\n"
        "    value = float('nan') if abs(next_obs[1]) > 0.1 else 1.0\n"
        "    return value, {'alive': value}\n"
    )
    iteration = ws.record(session_id).iteration(1)
    iteration.save_draft(iteration.read_draft().model_copy(update={"source": source}))
    view = ended(ws, start_training(ws, session_id).job_id)
    assert view.state is JobState.FAILED
    assert "No run of iteration 1 reached its end" in view.error
    assert "not a finite number" in view.error or "nan" in view.error
    log, offset = job_log(ws, view.job_id)
    assert view.error in log
    assert offset == len(log.encode())
    shown = view_session(ws, session_id)
    assert (shown.status, shown.error) == (SessionStatus.PENDING, view.error)
    good = source.replace("float('nan')", "0.5")
    assert submit_reward(ws, session_id, good).report.accepted
    assert ended(ws, start_training(ws, session_id).job_id).state is JobState.COMPLETED
    assert iteration.runs()[0].read_reward_source() == good
    assert view_session(ws, session_id).error is None
    assert get_job(ws, view.job_id) == view


@pytest.mark.nightly
def test_a_loop_that_ends_without_passing_is_done_all_the_same(ws):
    request = NewSession(
        prompt=BALANCE,
        env_id="InvertedPendulum-v5",
        n_seeds=1,
        n_report_rollouts=10,
        max_iterations=1,
        pass_threshold=1.0,
        config={**SHORT, "total_timesteps": 1024},
    )
    name = create_session(ws, request).session_id
    job = start_loop(ws, name, "all of it")
    assert (job.kind, job.state.finished) == (JobKind.SESSION, False)
    done = ended(ws, job.job_id)
    view = view_session(ws, name)
    assert (done.state, view.status) == (JobState.COMPLETED, SessionStatus.MAX_ITERATIONS)
    assert (done.iteration, done.step, done.total) == (1, 1024, 1024)
    assert start_loop(ws, name, "all of it").job_id == job.job_id
    with pytest.raises(InvalidInput, match="has ended as max_iterations"):
        start_loop(ws, name)


@pytest.mark.slow
def test_a_cancelled_training_leaves_no_process_and_a_resumed_session_finishes_it(ws, session_id):
    job = start_training(ws, session_id, StartTraining(total_timesteps=500_000))
    run = ws.record(session_id).iteration(1).run("baseline", 10)
    deadline = time.monotonic() + 60
    while not (run.path / layout.HANDLE).exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert cancel_job(ws, job.job_id).state is JobState.CANCELLED
    assert ws.backend.status(run.path).state is JobState.CANCELLED
    assert not view_session(ws, session_id).alive
    small = start_training(ws, session_id, StartTraining(total_timesteps=1024))
    assert ended(ws, small.job_id).total == 1024
    resume_session(ws, session_id)
    deadline = time.monotonic() + 90
    while (view := view_session(ws, session_id)).judgment is None:
        assert time.monotonic() < deadline, view
        time.sleep(0.2)
    assert view_iteration(ws, session_id, 1).runs[0].total_timesteps == 1024
    stop_session(ws, session_id)


def test_a_session_without_a_reward_has_nothing_to_train(ws):
    request = NewSession(prompt=BALANCE, env_id="InvertedPendulum-v5")
    fresh = create_session(ws, request).session_id
    with pytest.raises(InvalidInput, match="no reward to train yet"):
        start_training(ws, fresh)
    assert list_jobs(ws) == ()


@pytest.mark.parametrize("job_id", ["", "job_", "../../etc", "job_" + "g" * 32, "keys", "job_" + "0" * 32, "x" * 9999])
def test_an_id_that_names_no_job_is_refused_with_those_that_exist(ws, job_id):
    with pytest.raises(UnknownName, match="none yet"):
        get_job(ws, job_id)


def test_a_claim_whose_owner_died_is_taken_over(tmp_path):
    directory = BackgroundDirectory(tmp_path)
    first = directory.claim("key", "job_" + "1" * 32)
    assert directory.claim("key", "job_" + "2" * 32) == first == directory.claimed("key")
    assert directory.claimed("other") is None
