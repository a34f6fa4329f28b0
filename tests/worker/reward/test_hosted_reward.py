"""A reward in a process of its own: the same numbers as in this one, and no harm done, whatever it does there."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hostile_code import LOAD

from p2p.contracts.errors import InvalidReward, RewardFailed
from p2p.contracts.training import TrainConfig
from p2p.contracts.work import CheckRequest
from p2p.envs import catalog
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.reward import hosted
from p2p.worker.reward.evaluator import RewardEvaluator, run_steps
from p2p.worker.reward.hosted import HostedReward, try_hosted
from p2p.worker.reward.recorded_steps import RecordedSteps, StepCounter
from p2p.worker.reward.runner import RewardRunner
from p2p.worker.reward.transitions import record_episodes
from p2p.worker.reward.trial import try_source
from p2p.worker.reward_source.loader import LoadedReward

BODY = LOAD.count("\n") + 3
"""Line of the body of a reward behind `LOAD`, which a blank line and its `def` follow."""
STATEFUL = """
class Smooth(RewardFunction):
    latex, terms = "r", {"change": "of the speed", "mean": "so far"}

    def __init__(self):
        self.seen = []

    def compute(self, obs, action, next_obs, info):
        self.seen.append(info["x_velocity"])
        change, mean = self.seen[-1] - self.seen[0], float(np.mean(self.seen))
        return change + mean, {"change": change, "mean": mean}
"""


def function(body, head=""):
    return f"{head}\ndef reward_fn(obs, action, next_obs, info):\n    {body}\n"


def test_the_process_of_a_reward_loads_no_validation_which_would_double_its_memory():
    code = (
        "import sys, importlib; from p2p.worker.code_host import __main__ as host, preload; from p2p import registry;"
        "registry.load('service', host.SERVICES, 'reward'); [importlib.import_module(m) for m in preload.MODULES];"
        "print({'pydantic', 'mujoco', 'gymnasium'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_batch_that_writes_into_what_it_is_shown_is_not_used_and_changes_nothing():
    source = """
class Greedy(RewardFunction):
    latex, terms = "r", {"r": "first number"}

    def compute(self, obs, action, next_obs, info):
        return obs[0], {"r": obs[0]}

    def compute_batch(self, obs, action, next_obs, info):
        first = obs[:, 0].copy()
        if len(obs) == 12:
            info["time"][:] = 0
        return first, {"r": first}
"""
    runner = RewardRunner(LoadedReward(source), 2)
    runner.evaluate(made_up(n=2, count=3))
    assert runner.method == "hand-written"
    steps = made_up(n=2, count=6)
    assert runner.evaluate(steps)[0][:, 0].tolist() == steps.obs[:, 0].tolist()
    assert runner.method == "loop"
    assert "read-only" in runner.reason
    assert steps.columns["time"].tolist() == list(range(12))


def made_up(n=2, count=3, columns=None):
    rows = n * count
    obs, starts = np.arange(4.0 * rows).reshape(rows, 4), np.arange(count)[:, None] == np.zeros((1, n))
    return RecordedSteps(
        obs, np.zeros((rows, 1), dtype=np.float32), obs + 1.0, starts, columns or {"time": np.arange(rows)}
    )


def evaluate(reward, steps):
    """Evaluate a first block of two environments as a training does."""
    return StepCounter(2).checked(reward.begin(2, 0).evaluate, steps)


def blocks(source, n=3, seed=0):
    """Blocks of environments that are reset on the way, and the evaluator of a reward's text in each way."""
    env = VecEnv(TrainConfig(), catalog.load("HalfCheetah-v5"), n)
    env.reset(range(n), list(range(n)))
    rewards = (LoadedReward(source), HostedReward(source))
    return env, [RewardEvaluator(reward, env.simulation, seed) for reward in rewards]


def play(env, steps, rng):
    for _ in range(steps):
        env.step(rng.uniform(-1, 1, (env.n, 6)).astype(np.float32))
    block = env.take_block()
    env.reset([1], [None])
    return block


@pytest.mark.parametrize("kind", ["vectorised", "loop"])
def test_the_numbers_are_those_of_this_process_to_the_bit(kind, class_reward):
    env, (here, there) = blocks(class_reward if kind == "vectorised" else STATEFUL)
    rng = np.random.default_rng(0)
    for _ in range(4):
        block = play(env, 7, rng)
        assert np.array_equal(here.evaluate(block), there.evaluate(block))
        assert here.names == there.names
    mine, its = here.report(1.0), there.report(1.0)
    assert (mine.method, mine.reason) == (its.method, its.reason)
    assert its.method == kind


@pytest.mark.parametrize("kind", ["vectorised", "loop"])
def test_another_process_goes_on_where_the_first_one_stood(kind, class_reward):
    source = class_reward if kind == "vectorised" else STATEFUL
    env, (_, there) = blocks(source)
    rng = np.random.default_rng(0)
    for _ in range(3):
        there.evaluate(play(env, 7, rng))
    other = RewardEvaluator(HostedReward(source), env.simulation, seed=5)
    other.restore(there.state())
    for _ in range(3):
        block = play(env, 7, rng)
        assert np.array_equal(there.evaluate(block), other.evaluate(block))
    assert other.report(1.0).method == kind


def test_a_report_is_the_same_as_in_this_process(cheetah, class_reward):
    recording = record_episodes(cheetah, CheckRequest(side_info=True))
    here, there = try_source(class_reward, recording), try_hosted(class_reward, recording, 30.0)
    timed = {"microseconds_per_call": 0.0, "microseconds_per_step": None}
    assert here.model_copy(update=timed) == there.model_copy(update=timed)


def test_what_does_not_load_is_refused_and_its_process_is_gone():
    with pytest.raises(InvalidReward, match=r"line 2: imports 'os'\..* line 4: uses open\."):
        HostedReward("\nimport os\n\nx = open('y')")
    with pytest.raises(InvalidReward, match="line 1: the reward raised ZeroDivisionError"):
        HostedReward("1 / 0")
    with pytest.raises(InvalidReward, match="the reward ended its process without an answer, with exit code 0"):
        HostedReward(LOAD + "load('os')._exit(0)")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('return 1.0, {"good": 1.0, "bad": float("nan")}', r"term 'bad' became nan at step 2 \(environment 0, step 1"),
        ('return 1.0, {"bad": 1.0 / info["time"]}', rf"line {BODY}: the reward raised ZeroDivisionError.* at step 2 "),
        ('return 1.0, {"bad": 10.0 if info["time"] < 3 else np.inf}', "term 'bad' became inf at step 4 "),
        ('return 1.0, {"a": None}', "the reward raised TypeError"),
        ('return 1.0, {"a": "fast"}', "the reward raised ValueError"),
        ('return 1.0, {str(info["time"]): 1.0}', "terms changed from 0 to 1 at step 2 "),
        ('raise KeyboardInterrupt("\\x1b[31mred\\x07")', r"the reward raised KeyboardInterrupt: \[31mred at step 2 "),
        ('return 1.0, {f"t{i}": 1.0 for i in range(1000)}', "an invalid evaluation, on the steps 1 to 6"),
        ('return 1.0, {"x\\n": 1.0}', "different names of at most 200 printable characters, on the steps 1 to 6"),
        ('return 1.0, {"x" * 1000: 1.0}', "different names of at most 200 printable characters, on the steps 1 to 6"),
        (
            'load("os")._exit(0)',
            r"with exit code 0 at step 2 .* on observation \[0, 1, 2, 3\]",
        ),
        ('load("os")._exit(0) if info["time"] == 3 else 0; return 1.0, {"a": 1.0}', "exit code 0 at step 4 "),
        ('load("ctypes").string_at(0)', "process without an answer, by SIGSEGV at step 2 "),
        ("np.ones((1 << 30, 8)).sum()", "the reward raised (_Array)?MemoryError"),
        ("deeper = lambda: deeper(); deeper()", "the reward raised RecursionError"),
    ],
)
def test_a_bad_reward_ends_the_run_and_is_named_with_step_and_observation(body, message):
    reward = HostedReward(function(body, LOAD))
    with pytest.raises(RewardFailed, match=message):
        evaluate(reward, made_up())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("while obs is not None: pass", rf"^line {BODY}: the reward gave no answer within 0\.5 s at step 2 "),
        (
            "x = 9 ** 9\n    while x: x = x * x",
            rf"^(line {BODY + 1}: )?the reward gave no answer within 0\.5 s at step 2",
        ),
        (
            "take(load('signal'), 'signal')(14, 1)\n    while obs is not None: pass",
            r"^the reward gave no answer within 0\.5 s at step 2 ",
        ),
    ],
)
def test_a_reward_that_does_not_come_back_is_killed_and_its_line_told_where_it_can_be(body, message, monkeypatch):
    monkeypatch.setattr(hosted, "LIMIT_PER_ROW_S", 0.0)
    reward = HostedReward(function(body, LOAD))
    monkeypatch.setattr(hosted, "LIMIT_S", 0.5)
    with pytest.raises(RewardFailed, match=message):
        run_steps(reward, made_up())
    with pytest.raises(ProcessLookupError):
        os.kill(reward.pid, 0)


LIES = """
modules = load("sys").modules
lie = modules["p2p.worker.reward.runner"].RewardRunner
message = modules["p2p.worker.code_host.message"]
sockets = [one for one in load("gc").get_objects() if isinstance(one, load("socket").socket)]

def answer(value):
    put(lie, "evaluate", lambda self, steps: (value, ("a",)))

def say(data):
    sockets[0].send(data)
    while True:
        load("time").sleep(1)

"""


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        ("answer(np.zeros((3, 2)))", "answered 3 rows of 2 numbers, expected 6 of 2, on the steps 1 to 6"),
        ("answer(np.full((6, 2), np.nan))", r"the reward's term 'a' became nan at step 2 "),
        ("answer(np.zeros((6, 7)))", "answered 6 rows of 7 numbers, expected 6 of 2"),
        ("put(lie, 'method', 'magic')", "an invalid evaluation"),
        ("put(lie, 'method', 1e999)", "the reward raised ValueError: Out of range float values"),
        ("say(b'p2p')", "sent an invalid answer: a message of 3 bytes"),
        ("say(b'x' * 100)", "sent an invalid answer: a message of"),
        ("say(message.HostMessage(3, 99).packed())", "sent an invalid answer: an unexpected message"),
        ("say(message.HostMessage(3, 2, 1 << 60).packed())", "sent an invalid answer: "),
        ("say(message.HostMessage(3, 3, 0, 1 << 60, 1 << 60).packed())", "sent an invalid answer: "),
        ("sockets[0].close()", "without an answer"),
    ],
)
def test_a_host_that_lies_is_found_out(lie, message):
    body = f"{lie}; return 1.0, {{'a': 1.0}}"
    source = (
        function(body, LOAD + LIES)
        if "say" in lie or "close" in lie
        else function("return 1.0, {'a': 1.0}", LOAD + LIES + lie)
    )
    reward = HostedReward(source)
    with pytest.raises(RewardFailed, match=message):
        evaluate(reward, made_up())


def test_what_it_changes_in_numpy_or_in_its_arguments_is_not_changed_here():
    spoil = "whole = load('numpy'); put(whole, 'mean', own); put(whole, 'array', own)"
    body = f"{spoil}; obs[:] = 9.0; info.clear(); return 1.0, {{'a': 1.0}}"
    steps = made_up()
    before = steps.obs.copy()
    with pytest.raises(RewardFailed, match="raised TypeError"):  # its own half of the host has lost numpy
        HostedReward(function(body, LOAD)).run(steps)
    assert np.array_equal(steps.obs, before)
    assert np.mean(np.array([1.0, 3.0])) == 2.0


def test_one_reward_serves_episodes_and_blocks_and_neither_disturbs_the_other():
    counter = "n = 0\ndef reward_fn(obs, action, next_obs, info):\n    global n\n    n += 1\n    return n, {'n': n}\n"
    reward = HostedReward(counter)
    blocks = reward.begin(2, 0)
    assert blocks.evaluate(made_up())[0][:, 0].tolist() == [1, 1, 2, 2, 3, 3]
    assert run_steps(reward, made_up(count=1))[0][:, 0].tolist() == [1, 1]
    steps = made_up()
    going_on = RecordedSteps(steps.obs, steps.actions, steps.next_obs, np.zeros_like(steps.starts), steps.columns)
    assert blocks.evaluate(going_on)[0][:, 0].tolist() == [4, 4, 5, 5, 6, 6]


def test_signals_that_are_meant_for_the_worker_do_not_end_its_host_and_a_killed_one_is_named():
    reward = HostedReward(function("return 1.0, {'a': 1.0}"))
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(reward.pid, number)
    assert reward.run(made_up())[1] == ("a",)
    os.kill(reward.pid, signal.SIGKILL)
    with pytest.raises(RewardFailed, match="the reward was ended without an answer by SIGKILL, as happens when memory"):
        reward.run(made_up())


def test_the_process_ends_with_the_reward_and_with_the_worker():
    reward = HostedReward(function("return 1.0, {'a': 1.0}"))
    pid = reward.pid
    del reward
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    code = (
        "from p2p.worker.reward.hosted import HostedReward\n"
        "reward = HostedReward('def reward_fn(o, a, n, i):\\n    while o is not None: pass\\n')\n"
        "print(reward.pid, flush=True)\nimport time\ntime.sleep(60)\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(worker.stdout.readline())
    assert Path(f"/proc/{pid}").exists()
    host = os.pidfd_open(pid)
    worker.send_signal(signal.SIGKILL)
    worker.communicate()
    assert select.select([host], [], [], 10.0)[0]  # it has ended
    os.close(host)
