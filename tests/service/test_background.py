"""Trainings that outlive whoever started them."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from p2p.contracts.background import JobKind, StartTraining
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.job import JobState
from p2p.contracts.session import NewSession, SessionStatus
from p2p.service import Service
from p2p.settings import Settings
from p2p.store import layout
from p2p.store.background import BackgroundDirectory

SHORT = {"total_timesteps": 4096, "num_evals": 1, "n_eval_episodes": 3}


@pytest.fixture
def service(tmp_path):
    return Service(Settings(runs_dir=tmp_path, max_parallel=2))


@pytest.fixture
def session_id(service):
    """A session whose first reward is accepted."""
    request = NewSession(
        prompt="keep the pole balanced",
        env_id="InvertedPendulum-v5",
        n_seeds=1,
        n_report_rollouts=10,
        config=SHORT,
    )
    name = service.create_session(request).session_id
    service.write_reward(name, 1)
    return name


def another(service, name):
    request = service.record(name).read_session()
    other = service.create_session(
        NewSession(**request.model_dump(exclude={"session_id", "created_at", "backend", "extends"}))
    ).session_id
    service.write_reward(other, 1)
    return other


def ended(service, job_id, seconds=240):
    deadline = time.monotonic() + seconds
    while not (view := service.wait_for_job(job_id, 45)).state.finished:
        assert time.monotonic() < deadline, view
    return view


@pytest.mark.slow
def test_a_start_returns_at_once_and_what_it_started_can_be_judged_at_once_when_it_has_ended(service, session_id):
    begun = time.monotonic()
    started = service.start_training(session_id)
    assert time.monotonic() - begun < 3
    assert started.kind is JobKind.TRAINING
    assert not started.state.finished
    assert service.view_session(session_id).alive
    done = ended(service, started.job_id)
    assert done.state is JobState.COMPLETED, done.error
    assert (done.step, done.total) == (4096, 4096)
    assert service.record(session_id).read_status().status is SessionStatus.PENDING
    supervised = [path.stat().st_mtime_ns for path in service.runs.path.rglob(layout.HANDLE)]
    assert service.judge(session_id, 1).n_rollouts == 10
    assert [path.stat().st_mtime_ns for path in service.runs.path.rglob(layout.HANDLE)] == supervised  # no process ran
    with pytest.raises(InvalidInput, match="trained already: judge it"):
        service.start_training(session_id)


@pytest.mark.slow
def test_the_same_key_is_the_same_job_whoever_is_first_and_whenever(service, session_id):
    request = StartTraining(idempotency_key="once", total_timesteps=2048)
    with ThreadPoolExecutor(4) as pool:
        views = list(pool.map(lambda _: service.start_training(session_id, request), range(4)))
    assert len({view.job_id for view in views}) == 1
    done = ended(service, views[0].job_id)
    assert done.total == 2048
    again = Service(service.settings).start_training(session_id, request)
    assert (again.job_id, again.state) == (done.job_id, JobState.COMPLETED)
    assert len(service.list_jobs()) == 1


@pytest.mark.slow
def test_jobs_wait_for_their_turn_in_the_order_they_came(service, session_id):
    others = [another(service, session_id) for _ in range(2)]
    jobs = [service.start_training(name, StartTraining(total_timesteps=60_000)) for name in (session_id, *others)]
    deadline = time.monotonic() + 30
    while service.get_job(jobs[0].job_id).state is not JobState.RUNNING:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert [service.get_job(job.job_id).queue_position for job in jobs] == [None, 1, 2]
    assert service.get_job(jobs[2].job_id).state is JobState.WAITING
    assert service.cancel_job(jobs[1].job_id).state is JobState.CANCELLED
    assert service.get_job(jobs[2].job_id).queue_position == 1
    assert ended(service, jobs[0].job_id).state is JobState.COMPLETED
    assert ended(service, jobs[2].job_id).state is JobState.COMPLETED
    assert [view.session_id for view in service.list_jobs()] == [others[1], others[0], session_id]


@pytest.mark.slow
def test_a_job_outlives_its_caller_and_one_that_is_killed_goes_on_where_it_stopped(service, session_id, tmp_path):
    program = (
        "import sys; from pathlib import Path; from p2p.service import Service; from p2p.settings import Settings;"
        "from p2p.contracts.background import StartTraining;"
        "s = Service(Settings(runs_dir=Path(sys.argv[1]), max_parallel=1));"
        "print(s.start_training(sys.argv[2], StartTraining(seeds=(3, 4), total_timesteps=10_000)).job_id)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), session_id], capture_output=True, text=True, check=True
    )
    job_id = run.stdout.strip()
    deadline = time.monotonic() + 60
    runs = [service.record(session_id).iteration(1).run("baseline", seed) for seed in (3, 4)]
    while runs[0].read_summary() is None:  # one at a time: the other has begun, or is about to
        assert time.monotonic() < deadline
        time.sleep(0.05)
    finished = runs[0].summary_path.stat().st_ino
    handle = json.loads((tmp_path / layout.JOBS / job_id / layout.HANDLE).read_bytes())
    for pid in (handle["pid"], handle["child"]):
        os.kill(pid, signal.SIGKILL)
    assert ended(service, job_id, 30).state is JobState.LOST
    done = ended(service, service.start_training(session_id).job_id)
    assert (done.state, done.step) == (JobState.COMPLETED, 2 * 10_000)
    assert runs[0].summary_path.stat().st_ino == finished


@pytest.mark.slow
def test_a_reward_that_fails_in_training_is_told_in_words(service, session_id):
    source = (
        "def reward_fn(obs, action, next_obs, info):\n"
        "    value = float('nan') if abs(next_obs[1]) > 0.1 else 1.0\n"
        "    return value, {'alive': value}\n"
    )
    iteration = service.record(session_id).iteration(1)
    iteration.save_draft(iteration.read_draft().model_copy(update={"source": source}))
    view = ended(service, service.start_training(session_id).job_id)
    assert view.state is JobState.FAILED
    assert "No run of iteration 1 reached its end" in view.error
    assert "not a finite number" in view.error or "nan" in view.error
    log, offset = service.job_log(view.job_id)
    assert view.error in log
    assert offset == len(log.encode())
    shown = service.view_session(session_id)
    assert (shown.status, shown.error) == (SessionStatus.PENDING, view.error)
    good = source.replace("float('nan')", "0.5")
    assert service.submit_reward(session_id, good).report.accepted
    assert ended(service, service.start_training(session_id).job_id).state is JobState.COMPLETED
    assert iteration.runs()[0].read_reward_source() == good
    assert service.view_session(session_id).error is None
    assert service.get_job(view.job_id) == view


@pytest.mark.slow
def test_a_loop_that_ends_without_passing_is_done_all_the_same(service):
    request = NewSession(
        prompt="keep the pole balanced",
        env_id="InvertedPendulum-v5",
        n_seeds=1,
        n_report_rollouts=10,
        max_iterations=2,
        pass_threshold=1.0,
        config={**SHORT, "total_timesteps": 1024},
    )
    name = service.create_session(request).session_id
    job = service.start_loop(name, "all of it")
    assert (job.kind, job.state.finished) == (JobKind.SESSION, False)
    done = ended(service, job.job_id)
    view = service.view_session(name)
    assert (done.state, view.status) == (JobState.COMPLETED, SessionStatus.MAX_ITERATIONS)
    assert (done.iteration, done.step, done.total) == (2, 2 * 1024, 2 * 1024)
    assert sum(run.step for run in done.runs) == 1024, "of the newest iteration"
    assert service.start_loop(name, "all of it").job_id == job.job_id
    with pytest.raises(InvalidInput, match="has ended as max_iterations"):
        service.start_loop(name)


@pytest.mark.slow
def test_a_cancelled_training_leaves_no_process_and_a_resumed_session_finishes_it(service, session_id):
    job = service.start_training(session_id, StartTraining(total_timesteps=500_000))
    run = service.record(session_id).iteration(1).run("baseline", 10)
    deadline = time.monotonic() + 60
    while not (run.path / layout.HANDLE).exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert service.cancel_job(job.job_id).state is JobState.CANCELLED
    assert service.backend.status(run.path).state is JobState.CANCELLED
    assert not service.view_session(session_id).alive
    small = service.start_training(session_id, StartTraining(total_timesteps=1024))
    assert ended(service, small.job_id).total == 1024
    service.resume_session(session_id)
    deadline = time.monotonic() + 90
    while (view := service.view_session(session_id)).judgment is None:
        assert time.monotonic() < deadline, view
        time.sleep(0.2)
    assert service.view_iteration(session_id, 1).runs[0].total_timesteps == 1024
    service.stop_session(session_id)


def test_a_session_without_a_reward_has_nothing_to_train(service):
    request = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
    fresh = service.create_session(request).session_id
    with pytest.raises(InvalidInput, match="no reward to train yet"):
        service.start_training(fresh)
    assert service.list_jobs() == ()


@pytest.mark.parametrize("job_id", ["", "job_", "../../etc", "job_" + "g" * 32, "keys", "job_" + "0" * 32, "x" * 9999])
def test_an_id_that_names_no_job_is_refused_with_those_that_exist(service, job_id):
    with pytest.raises(UnknownName, match="none yet"):
        service.get_job(job_id)


def test_a_claim_whose_owner_died_is_taken_over(tmp_path):
    directory = BackgroundDirectory(tmp_path)
    first = directory.claim("key", "job_" + "1" * 32)
    assert directory.claim("key", "job_" + "2" * 32) == first == directory.claimed("key")
    assert directory.claimed("other") is None
