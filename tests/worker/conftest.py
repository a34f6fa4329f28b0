from collections.abc import Callable
from pathlib import Path

import pytest

from p2p.contracts.env import EnvSpec
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.store.iterations import IterationRecord
from p2p.worker.engine.environment import redirect_warnings

redirect_warnings()

CLASS_REWARD = """
from p2p.training.reward_function import RewardFunction

class SpeedReward(RewardFunction):
    def compute(self, obs, action, next_obs, info):
        v = float(info.get("x_velocity", 0.0))
        ctrl = -0.1 * float(sum(a**2 for a in action))
        return v + ctrl, {"speed": v, "ctrl": ctrl}

    @property
    def latex(self):
        return r"r = v_x - 0.1 \\|a\\|^2"

    @property
    def terms(self):
        return {"speed": "forward velocity", "ctrl": "control penalty"}
"""
"""As printed in the architecture this project follows."""

LEGACY_REWARD = '''
def reward_fn(obs, action, next_obs, info):
    """
    LaTeX: r = v_x
    Terms:
        speed: forward velocity
    """
    v = float(info.get("x_velocity", 0.0))
    return v, {"speed": v}
'''
"""The same, for its other format."""


@pytest.fixture(scope="session")
def class_reward() -> str:
    return CLASS_REWARD


@pytest.fixture(scope="session")
def legacy_reward() -> str:
    return LEGACY_REWARD


@pytest.fixture(scope="session")
def cheetah() -> EnvSpec:
    return catalog.load("HalfCheetah-v5")


@pytest.fixture(scope="session")
def small() -> TrainConfig:
    """A training that is over in seconds: 4 rollouts of 1,024 steps."""
    return TrainConfig(total_timesteps=4096, net_arch=(32, 32), num_evals=2, n_eval_episodes=3, episode_s=1.0)


@pytest.fixture
def make_run(tmp_path: Path, cheetah: EnvSpec) -> Callable[[TrainConfig, str], IterationRecord]:
    """Writes the directory of a run."""

    def make(config: TrainConfig, source: str) -> IterationRecord:
        record = IterationRecord(tmp_path / "baseline_seed_1")
        record.save_config(config)
        record.save_env_spec(cheetah)
        record.save_reward_source(source)
        return record

    return make
