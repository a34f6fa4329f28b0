import numpy as np
import pytest

from p2p.contracts.errors import RewardFailed
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.reward.evaluator import RewardEvaluator, steps_of
from p2p.worker.reward.inputs import RewardInputs
from p2p.worker.reward.runner import RewardRunner
from p2p.worker.reward_source.loader import LoadedReward

STATEFUL = """
from p2p.training.reward_function import RewardFunction

class Smooth(RewardFunction):
    latex = "r"
    terms = {"change": "of the speed"}

    def __init__(self):
        self.before = 0.0

    def compute(self, obs, action, next_obs, info):
        change = info["x_velocity"] - self.before
        self.before = info["x_velocity"]
        return change, {"change": change}
"""
RIGHT_AT_FIRST = """
import numpy as np
from p2p.training.reward_function import RewardFunction

class Late(RewardFunction):
    latex = "r"
    terms = {"t": "time"}

    def compute(self, obs, action, next_obs, info):
        return info["time"], {"t": info["time"]}

    def compute_batch(self, obs, action, next_obs, info):
        t = np.where(np.abs(info["time"] - 0.25) < 1e-6, 0.0, info["time"])
        return t, {"t": t}
"""
NAN_LATE = """
def reward_fn(obs, action, next_obs, info):
    bad = 0.0 if info["time"] < 0.24 else float("nan")
    return 1.0 + bad, {"good": 1.0, "bad": bad}
"""


class Stage:
    """Environments whose blocks are evaluated both ways."""

    def __init__(self, source, n=3):
        self.env = VecEnv(TrainConfig(), catalog.load("HalfCheetah-v5"), n)
        self.env.reset(range(n), list(range(n)))
        self.evaluator = RewardEvaluator(LoadedReward(source), self.env.simulation, seed=0)
        self.inputs, self.loop = RewardInputs(self.env.simulation), RewardRunner(LoadedReward(source), n)
        self.rng = np.random.default_rng(0)

    def play(self, steps):
        """The table of the evaluator, and that of the loop."""
        for _ in range(steps):
            self.env.step(self.rng.uniform(-1, 1, (self.env.n, 6)).astype(np.float32))
        block = self.env.take_block()
        return self.evaluator.evaluate(block), self.loop.run(steps_of(block, self.inputs.read(block)))[0]

    @property
    def report(self):
        return self.evaluator.report(seconds=1.0)


def test_what_is_proven_is_computed_all_at_once_with_the_same_result(class_reward):
    stage = Stage(class_reward)
    for _ in range(4):
        table, expected = stage.play(8)
        np.testing.assert_allclose(table, expected, rtol=1e-12)
    stage.env.reset([1], [None])
    np.testing.assert_allclose(*stage.play(8), rtol=1e-12)
    assert (stage.report.method, stage.report.reason) == ("vectorised", "")
    assert stage.evaluator.names == ("speed", "ctrl")
    assert 0 < stage.report.microseconds_per_step < 1000


def test_a_reward_that_remembers_is_run_step_by_step_and_says_why():
    stage = Stage(STATEFUL)
    for _ in range(3):
        table, expected = stage.play(4)
        assert np.array_equal(table, expected)
        stage.env.reset([2], [None])
    assert stage.report.method == "loop"
    assert "self.before" in stage.report.reason


def test_a_batch_that_turns_out_wrong_is_given_up_and_nothing_wrong_is_learned():
    stage = Stage(RIGHT_AT_FIRST)
    stage.play(2)
    assert stage.report.method == "hand-written"
    for _ in range(5):  # the third of these is step 5, where it is wrong
        np.testing.assert_array_equal(*stage.play(1))
    assert stage.report.method == "loop"
    assert "gave something else" in stage.report.reason


def test_a_bad_number_is_named_with_step_and_observation_however_it_was_computed():
    stage = Stage(NAN_LATE)
    stage.play(2)
    assert stage.report.method == "vectorised"
    with pytest.raises(
        RewardFailed, match=r"term 'bad' became nan at step 15 \(environment 0, step 5 of its"
    ) as failure:
        stage.play(5)
    assert "on observation [" in str(failure.value)
