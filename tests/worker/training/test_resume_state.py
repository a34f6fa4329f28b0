"""A training's state, saved, and taken back by another training: both go on alike, to the bit."""

import numpy as np
import pytest

from p2p.contracts.start_states import StartStates
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.store.iterations import IterationRecord
from p2p.store.resume_points import ResumeRecord
from p2p.worker.engine import simulation
from p2p.worker.saved_state import generator_state, restore_generator
from p2p.worker.training.resume import ResumePoints
from p2p.worker.training.run import Run
from p2p.worker.training.train import Training, policy_of

PLAIN = "def reward_fn(obs, action, next_obs, info):\n    v = info['velocity_x']\n    return v, {'v': v}\n"
WITH_MEMORY = """
from p2p.training.reward_function import RewardFunction

class Steady(RewardFunction):
    latex = "r"
    terms = {"change": "of the mean speed", "turned": "so far"}

    def __init__(self):
        self.seen = []

    def compute(self, obs, action, next_obs, info):
        self.seen.append(info["velocity_x"])
        change = info["velocity_x"] - sum(self.seen) / len(self.seen)
        turned = info.get("total_pitch", 0.0) + 0.01 * len(self.seen)
        return change + turned, {"change": change, "turned": turned}
"""
FALLING = {"terminate_when_unhealthy": True, "episode_s": 2.0}
CURRICULUM = {
    "total_timesteps": 1152,
    "start_states": {"share": 0.5, "raised": [0.0, 0.3]},
    "curriculum": {
        "starts": {"goal": ["height >= 0.7"], "episodes": 3, "share_end": 0.1},
        "weights": {"change": [[0, 0.1], [0.8, 2.0]]},
        "episodes": {"start_s": 0.4, "until": 0.9},
        "pushes": {"speed": 2.0, "every_s": 0.3, "until": 1.0},
        "assistance": {"goal": ["height >= 0.7"], "share": 0.3, "step": 0.02, "heights": [0.2, 1.0]},
    },
}
REVERSE = {
    "start_states": {"share": 0.7, "states": [{"qpos": [0.01 * i] * 9, "qvel": [0.0] * 9} for i in range(4)]},
    "curriculum": {"starts": {"goal": ["abs(velocity_x) >= 0.3"], "episodes": 3, "success": 0.6, "reverse": True}},
}
FOLLOWING = "def reward_fn(obs, action, next_obs, info):\n    e = info['velocity_error']\n    return -e, {'e': -e}\n"
COMMANDS = {"commands": {"velocity_x": [-0.5, 1.0], "yaw_rate": [-1.0, 1.0], "resample_s": 0.3}}
CASES = {
    "a batch, where all at once is proven": ("HalfCheetah-v5", PLAIN, {}),
    "a reward with a memory": ("HalfCheetah-v5", WITH_MEMORY, {}),
    "episodes that end early": ("Hopper-v5", WITH_MEMORY, FALLING),
    "contact forces": ("Ant-v5", PLAIN, FALLING),
    "copies of the simulator's arrays": ("Hopper-v5", PLAIN, {"side_info": True}),
    "starts in the air": ("HalfCheetah-v5", PLAIN, {"start_states": StartStates(share=0.5, pitch=(-1.0, 1.0))}),
    "a curriculum": ("Ant-v5", WITH_MEMORY, CURRICULUM),
    "a curriculum back from a goal": ("HalfCheetah-v5", PLAIN, REVERSE),
    "commands": ("Ant-v5", FOLLOWING, COMMANDS),
    "no normalisation": ("Hopper-v5", PLAIN, {"normalize_obs": False, "normalize_reward": False}),
    "stable-baselines3": ("HalfCheetah-v5", WITH_MEMORY, {"learner": "sb3"}),
}
FAST = ("a reward with a memory", "contact forces", "a curriculum", "a curriculum back from a goal", "commands")
ENVIRONMENTS = ("Hopper-v5", "Ant-v5", "Pusher-v5")


def prepared(directory, env_id, source, options):
    record = IterationRecord(directory)
    sizes = {"n_envs": 4, "n_steps": 32, "batch_size": 64, "net_arch": (8, 8), "episode_s": 1.0}
    record.save_config(TrainConfig(env_id=env_id, **{**sizes, **options}))
    record.save_env_spec(catalog.load(env_id))
    record.save_reward_source(source)
    return Run.open(record)


def weights(training):
    policy = policy_of(training._config, training._learner, training._collector)
    return [*policy.weights, *policy.value_weights, policy.mean, policy.variance, np.array(policy.reward_variance)]


@pytest.mark.parametrize(
    "case", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)
def test_a_training_goes_on_from_a_saved_state_as_the_one_that_gave_it(case, tmp_path):
    go_on_from_a_saved_state(tmp_path, *CASES[case])


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_it_does_so_in_gymnasiums_own_environments(env_id, tmp_path, monkeypatch):
    """They read what MuJoCo computed in the last step, which is no part of the simulator's state."""
    monkeypatch.setattr(simulation, "unavailable", lambda: "no batches here")
    own = PLAIN.replace("velocity_x", "env_reward")
    starts = {} if env_id == "Pusher-v5" else {"start_states": StartStates(share=0.5, pitch=(-0.3, 0.3))}
    training = go_on_from_a_saved_state(tmp_path, env_id, own, {**FALLING, **starts})
    assert training._collector.simulation.engine == "gymnasium: no batches here"


def go_on_from_a_saved_state(tmp_path, *case):
    run, saved = prepared(tmp_path / "one", *case), None
    first = Training(run, threads=1)
    for rollout in range(1, 10):
        first.learn(rollout * 128)
        if rollout == 5:
            points = ResumePoints(run)
            points.save(first.point(points), first.state())
            saved = ResumeRecord(run.record).read()
    second = Training(prepared(tmp_path / "two", *case), threads=2)
    second.restore(*saved)
    for rollout in range(6, 10):
        second.learn(rollout * 128)
    assert all(np.array_equal(a, b) for a, b in zip(weights(first), weights(second), strict=True))
    assert first.reward.report(1.0).reason == second.reward.report(1.0).reason
    return second


def test_a_generator_draws_on_from_where_another_one_stood():
    one, other = np.random.default_rng(1), np.random.default_rng(2)
    one.standard_normal(3, dtype=np.float32)
    one.integers(7, dtype=np.int32)  # leaves half a draw behind
    restore_generator(other, generator_state(one))
    assert other.bit_generator.state == one.bit_generator.state
    with pytest.raises(ValueError, match="MT19937"):
        generator_state(np.random.Generator(np.random.MT19937(1)))
