"""Trainings that are killed, in processes of their own: in the end nothing tells them from one that was not."""

import os
import random
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from p2p.contracts.curriculum import Curriculum
from p2p.contracts.errors import RewardFailed
from p2p.contracts.intent import Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.job import JobSpec, JobState
from p2p.contracts.observe import Milestone, Observe
from p2p.contracts.start_states import StartStates
from p2p.contracts.training import TrainConfig
from p2p.scheduler import supervisor
from p2p.scheduler.backends.local import LocalBackend
from p2p.store.arrays import load_arrays
from p2p.store.iterations import IterationRecord
from p2p.store.resume_points import ResumeRecord
from p2p.training.trainer import Trainer
from p2p.worker.rollout.collector import Collector
from p2p.worker.training.resume import INTERVAL, ResumePoints, inputs_of
from p2p.worker.training.run import Run
from p2p.worker.training.train import Training, train_run
from p2p.worker.training.train import train as train_here

pytestmark = pytest.mark.slow

WITH_MEMORY = """
from p2p.training.reward_function import RewardFunction

class Steady(RewardFunction):
    latex = "r"
    terms = {"change": "of the mean speed"}

    def __init__(self):
        self.seen = []

    def compute(self, obs, action, next_obs, info):
        self.seen.append(info["velocity_x"])
        change = info["velocity_x"] - sum(self.seen) / len(self.seen)
        return change, {"change": change}
"""
NOT_BACKWARD = Predicate(
    statistic=Statistic.MEAN,
    feature="velocity_x",
    comparison=Comparison.AT_LEAST,
    threshold=-50.0,
    unit="m/s",
    margin=1.0,
)
EASY = Intent(
    prompt="run",
    env_id="HalfCheetah-v5",
    criteria=(Criterion(key="a", title="a", description="", category=Category.GAIT, predicate=NOT_BACKWARD),),
    episode_s=0.5,
)
TIMES = {"sps", "elapsed_time", "rollout_time", "train_time"}
OF_TIME = {"training_time_s", "steps_per_second", "reward", "peak_memory_mb", "resumed"}
COMMAND = ("-m", "p2p.worker", "train")
IN_THE_AIR = {
    "start_states": StartStates(share=0.5, pitch=(-1.0, 1.0)),
    "observe": Observe(features=("time",), milestones=(Milestone(feature="pitch_turns", amount=0.05),)),
    "end_when": TrainConfig(end_when=("abs(displacement_x) >= 0.3",)).end_when,
}
CHANGING = {
    **IN_THE_AIR,
    "curriculum": Curriculum.model_validate(
        {
            "starts": {"goal": ["abs(pitch) >= 0.5"], "episodes": 5, "share_end": 0.1},
            "weights": {"change": [[0, 0.1], [0.7, 1.5]]},
            "episodes": {"start_s": 0.3, "until": 0.8},
            "pushes": {"speed": 1.5, "every_s": 0.4},
            "assistance": {"goal": ["abs(pitch) >= 0.5"], "share": 0.3, "step": 0.02, "heights": (-0.5, 0.5)},
        }
    ),
}
ENDS_EARLY = {"num_evals": 2, "stop_at_score": 0.8, "n_eval_episodes": 16}


def variables(threads=1, interval="0"):
    return {**os.environ, "OMP_NUM_THREADS": "1", "P2P_THREADS": str(threads), INTERVAL: interval}


def start(record, **options):
    command = [sys.executable, *COMMAND, str(record.path)]
    return subprocess.Popen(command, env=variables(**options), stderr=subprocess.PIPE, text=True)


def train(record, **options):
    """Train to the end; what was said on the way."""
    process = start(record, **options)
    said = process.communicate()[1]
    assert process.returncode == 0, said
    return said


def kill_after(record, rows, pause, **options):
    """Start a training, and kill it `pause` seconds after so many new rows of metrics; False when it was faster."""
    process = start(record, **options)
    first, done = len(record.parse_scalars()[0]), threading.Event()
    while process.poll() is None and not (first < len(record.parse_scalars()[0]) >= rows):
        done.wait(0.002)
    done.wait(pause)
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


def rows_without_times(rows):
    return [{name: value for name, value in row.items() if name not in TIMES} for row in rows]


def assert_the_same(one, other):
    """Policies, evaluations, rollouts, metrics and summary, but for what they took."""
    steps = [checkpoint.step for checkpoint in one.checkpoints()]
    assert steps == [checkpoint.step for checkpoint in other.checkpoints()]
    for step in steps:
        assert_equal_arrays(one.checkpoint(step).policy_path, other.checkpoint(step).policy_path)
        evaluations = [run.checkpoint(step).read_evaluation().rollouts for run in (one, other)]
        assert evaluations[0] == evaluations[1]
    assert sorted(path.name for path in one.trajectories_dir.iterdir()) == sorted(
        path.name for path in other.trajectories_dir.iterdir()
    )
    for mine, theirs in zip(one.parse_scalars(), other.parse_scalars(), strict=True):
        assert rows_without_times(mine) == rows_without_times(theirs)
    summaries = [run.read_summary().model_dump(exclude=OF_TIME) for run in (one, other)]
    assert summaries[0] == summaries[1]


def assert_equal_arrays(one, other):
    first, second = load_arrays(one), load_arrays(other)
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)


@pytest.fixture
def two_runs(tmp_path, cheetah, small):
    """Two directories for the same training of 60 rollouts."""

    def make(source, **options):
        sizes = {"total_timesteps": 60 * 256, "n_envs": 8, "n_steps": 32, "batch_size": 64, "num_evals": 4}
        records = []
        for name in ("whole", "killed"):
            record = IterationRecord(tmp_path / name / "baseline_seed_1")
            record.save_config(small.model_copy(update={**sizes, **options}))
            record.save_env_spec(cheetah)
            record.save_reward_source(source)
            record.save_criteria(EASY)
            records.append(record)
        return records

    return make


@pytest.mark.parametrize(
    ("case", "kills", "threads", "options"),
    [
        ("memory and a curriculum", 2, 1, CHANGING),
        pytest.param("memory, starts in the air, and inputs of its own", 1, 1, IN_THE_AIR, marks=pytest.mark.nightly),
        pytest.param("memory and starts in the air", 3, 1, IN_THE_AIR, marks=pytest.mark.nightly),
        pytest.param("evaluations beside it end it early", 1, 2, ENDS_EARLY, marks=pytest.mark.nightly),
        pytest.param("evaluations beside it end it early", 2, 2, ENDS_EARLY, marks=pytest.mark.nightly),
        pytest.param("stable-baselines3", 1, 1, {"learner": "sb3"}, marks=pytest.mark.nightly),
    ],
)
def test_a_training_that_is_killed_again_and_again_ends_as_one_that_was_not(case, kills, threads, options, two_runs):
    whole, killed = two_runs(WITH_MEMORY, **options)
    train(whole, interval="1000")
    moments = random.Random(case)
    for number in range(kills):
        rows = 2 + 16 * number + moments.randrange(14)
        assert kill_after(killed, rows, moments.uniform(0.0, 0.03), threads=threads), "it was too fast to be killed"
    said = train(killed, threads=threads)
    assert "The training goes on after rollout" in said
    assert_the_same(whole, killed)
    assert 1 <= killed.read_summary().resumed <= kills
    assert whole.read_summary().resumed == 0
    assert (whole.read_summary().early_stop is not None) is ("stop_at_score" in options)
    assert not list(killed.path.glob("resume*"))


def test_a_job_that_is_killed_with_its_supervisor_goes_on_when_it_is_submitted_again(two_runs, class_reward):
    whole, killed = two_runs(class_reward)
    train(whole)
    job = JobSpec(argv=("{python}", *COMMAND, "."), env={"OMP_NUM_THREADS": "1", INTERVAL: "0"})
    killer = threading.Thread(target=_kill_job_and_supervisor, args=(killed,))
    killer.start()
    Trainer(LocalBackend(), job, 1, lambda: None).train([killed], poll_s=0.05)
    killer.join()
    assert LocalBackend().status(killed.path).state is JobState.COMPLETED
    assert killed.read_summary().resumed == 1
    assert_the_same(whole, killed)


@pytest.mark.nightly
@pytest.mark.parametrize("threads", [1, 2])
def test_a_job_whose_supervisor_is_told_to_end_loses_no_rollout(two_runs, class_reward, threads):
    whole, ended = two_runs(class_reward, total_timesteps=100 * 256)
    train(whole)
    backend = LocalBackend()
    numbers = {"OMP_NUM_THREADS": "1", "P2P_THREADS": str(threads), INTERVAL: "1000"}
    job = JobSpec(argv=("{python}", *COMMAND, "."), env=numbers)
    backend.submit(job, ended.path)
    pause = threading.Event()
    while len(ended.parse_scalars()[0]) < 20:
        pause.wait(0.002)
    assert ended.read_resume_point() is None
    os.kill(supervisor.read(ended.path / supervisor.HANDLE)["pid"], signal.SIGTERM)
    (_, end), *_ = backend.wait([ended.path])
    assert (end.state, end.signal) == (JobState.CANCELLED, signal.SIGTERM)
    point = ended.read_resume_point()
    assert point is not None
    assert point.rollouts == len(ended.parse_scalars()[0]) >= 20
    backend.submit(job, ended.path)
    (_, end), *_ = backend.wait([ended.path])
    assert end.state is JobState.COMPLETED, backend.logs(ended.path)[0]
    assert ended.read_summary().resumed == 1
    assert_the_same(whole, ended)


def test_what_follows_a_training_is_done_again_and_the_training_is_not(two_runs, class_reward):
    _, killed = two_runs(class_reward, total_timesteps=8 * 256, num_evals=1)
    command = [sys.executable, "-m", "p2p.lab.worker", "learn", str(killed.path)]
    process, done = subprocess.Popen(command, env=variables()), threading.Event()
    while killed.read_summary() is None:
        done.wait(0.002)
    process.kill()
    process.wait()
    again = subprocess.run(command, env=variables(), capture_output=True, text=True, check=True)
    assert "The training goes on after rollout 7." in again.stderr
    assert killed.checkpoints()[-1].read_returns() is not None
    assert not list(killed.path.glob("resume*"))


def test_a_reward_whose_process_was_killed_may_be_gone_on_with(two_runs, class_reward, monkeypatch):
    _, killed = two_runs(class_reward, total_timesteps=8 * 256, num_evals=1)
    run = Run.open(killed)
    training, points = Training(run, threads=1), ResumePoints(run)
    training.learn(256)
    points.save(training.point(points), training.state())
    collect = Collector.collect

    def without_its_reward(collector, done):
        os.kill(again.reward.pid, signal.SIGKILL)
        return collect(collector, done)

    monkeypatch.setattr(Collector, "collect", without_its_reward)
    again = Run.open(killed)
    with pytest.raises(RewardFailed, match="SIGKILL"):
        train_run(again)
    assert ResumePoints(again).last() is not None


def _kill_job_and_supervisor(record):
    pause = threading.Event()
    while len(record.parse_scalars()[0]) < 3:
        pause.wait(0.002)
    handle = supervisor.read(record.path / supervisor.HANDLE)
    os.kill(handle["pid"], signal.SIGKILL)
    os.kill(handle["child"], signal.SIGKILL)


def _damage(record):
    (arrays,) = (record.path / "resume").glob("*.npz")
    content = bytearray(arrays.read_bytes())
    content[len(content) // 2] ^= 1
    arrays.write_bytes(content)


def _other_reward(record):
    record.save_reward_source(record.read_reward_source() + "\n")


def _other_version(record):
    point, arrays = ResumeRecord(record).read()
    other = {**inputs_of(Run.open(record)), "mujoco": "1.0"}
    ResumeRecord(record).save(point.model_copy(update={"inputs": other}), arrays)


def _no_policy(record):
    record.checkpoints()[0].policy_path.unlink()


def _shorter_metrics(record):
    record.scalars_path.write_bytes(b"")


def _lacking(record):
    point, arrays = ResumeRecord(record).read()
    ResumeRecord(record).save(point, {name: one for name, one in arrays.items() if "adam" not in name})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_damage, "npz is damaged or missing"),
        (_other_reward, "it is of another reward"),
        (_other_version, "it is of another mujoco"),
        (_no_policy, "the policy of checkpoint 256 is gone"),
        (_shorter_metrics, "the metrics up to there are gone"),
        (_lacking, "gradients"),
    ],
)
def test_a_point_that_cannot_be_used_is_set_aside_and_the_training_begins_again(
    change, words, two_runs, class_reward, capsys, monkeypatch
):
    whole, killed = two_runs(class_reward, total_timesteps=4 * 256)
    train_here(whole.path)
    run = Run.open(killed)
    training, points = Training(run, threads=1), ResumePoints(run)
    training.learn(256)
    training._evaluate(256)
    points.save(training.point(points), training.state())
    change(killed)
    monkeypatch.setenv(INTERVAL, "1000")
    train_here(killed.path)
    said = capsys.readouterr().err
    assert "The resume point is not used: " in said
    assert words in said
    assert_the_same(whole, killed)
    assert killed.read_summary().resumed == 0
    assert not list(killed.path.glob("resume*"))
