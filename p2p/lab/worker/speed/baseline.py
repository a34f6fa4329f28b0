"""What our training is compared with: stable-baselines3's PPO as its documentation shows it.

Gymnasium's environments in a `DummyVecEnv`, each under a `Monitor`, the reward in a wrapper that is called at every
step, observations and rewards in a `VecNormalize`. The networks and hyperparameters are those of the run.
"""

from typing import Any

import gymnasium
import torch
from gymnasium.wrappers import TimeLimit
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from p2p.contracts.env import EnvSpec
from p2p.contracts.training import TrainConfig
from p2p.lab.contracts.measurement import SpeedMeasurement
from p2p.lab.worker.speed.stopwatch import Stopwatch
from p2p.training.reward_function import RewardFunction
from p2p.worker.engine.environment import make_environment as without_wrappers
from p2p.worker.learners.sb3_arguments import ppo_arguments
from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.training.run import Run

ENDLESS = 1_000_000_000
"""Steps; the stopwatch ends the training."""


def train(run: Run, watch: Stopwatch) -> SpeedMeasurement:
    """Train on one thread until it is enough."""
    torch.set_num_threads(1)
    config = run.config
    reward = LoadedReward(run.reward.source)  # a text of the benchmark's own, called in this process as theirs are
    environments = DummyVecEnv(
        [lambda: make_environment(config, run.spec, reward.fresh()) for _ in range(config.n_envs)]
    )
    normalized = VecNormalize(
        environments,
        norm_obs=config.normalize_obs,
        norm_reward=config.normalize_reward,
        clip_obs=config.clip_obs,
        clip_reward=config.clip_reward,
        gamma=config.gamma,
    )
    model = make_model(config, normalized)
    model.learn(ENDLESS, callback=_Laps(watch))
    return watch.result("loop")


def make_environment(config: TrainConfig, spec: EnvSpec, reward: RewardFunction) -> "gymnasium.Env[Any, Any]":
    """One environment as `gymnasium.make` gives it, with another reward and a log of its episodes.

    That of a robot from a model file is p2p's plain class, one simulator each.
    """
    kwargs: dict[str, Any] = dict(config.env_kwargs)
    if spec.robot is not None:
        plain = without_wrappers(spec, kwargs, terminate_when_unhealthy=True, terrain=config.terrain, training=True)
        return Monitor(OtherReward(TimeLimit(plain, config.episode_steps(spec.dt)), reward))
    env = gymnasium.make(config.env_id, max_episode_steps=config.max_episode_steps, **kwargs)
    return Monitor(OtherReward(env, reward))


class OtherReward(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Pays another reward than the environment.

    Args:
        env: The environment.
        reward: What pays.
    """

    def __init__(self, env: "gymnasium.Env[Any, Any]", reward: RewardFunction) -> None:
        super().__init__(env)
        self._pay = reward.compute
        self._seen: Any = None

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        self._seen, info = self.env.reset(**options)
        return self._seen, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make one control step."""
        seen, _, terminated, truncated, info = self.env.step(action)
        total, _ = self._pay(self._seen, action, seen, info)
        self._seen = seen
        return seen, float(total), terminated, truncated, info


def make_model(config: TrainConfig, environments: VecNormalize) -> PPO:
    """PPO with the configuration's hyperparameters; a constant learning rate."""
    model = PPO(
        "MlpPolicy",
        environments,
        learning_rate=config.learning_rate,
        **ppo_arguments(config, config.net_arch, config.net_arch),
        seed=config.seed,
        device="cpu",
    )
    model.set_logger(Logger(folder=None, output_formats=[]))  # its own leaves a directory behind
    return model


class _Laps(BaseCallback):
    """Tells the stopwatch when a rollout begins, and ends the training when it is over."""

    def __init__(self, watch: Stopwatch) -> None:
        super().__init__()
        self._watch = watch
        self._over = False

    def _on_training_start(self) -> None:
        self._watch.ready()

    def _on_rollout_start(self) -> None:
        self._over = self._watch.lap(self.num_timesteps)

    def _on_step(self) -> bool:
        return not self._over
