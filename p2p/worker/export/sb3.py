"""Format `sb3`: files for `stable_baselines3.PPO.load` and `VecNormalize.load`."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.spaces import Box
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from p2p.contracts.training import TrainConfig
from p2p.store.files import replacing
from p2p.store.policy import EPSILON, Floats, NumpyPolicy
from p2p.worker.learners.sb3_arguments import ppo_arguments

Spaces = tuple[Box, Box]
"""Of the observations and of the actions."""


def save_sb3(
    policy: NumpyPolicy, config: TrainConfig, spaces: Spaces, zip_path: Path, normalizer_path: Path, steps: int = 0
) -> None:
    """Write a PPO model and a VecNormalize that act like the policy and can be trained further.

    Adam's moments are not part of a policy: a training that goes on begins with new ones. No random number is drawn
    and no generator is seeded, so a training may call this at any time.

    Args:
        policy: Actor, critic and normaliser; a critic that was not kept, or sees more than the actor, is a new,
            untrained one.
        config: Hyperparameters.
        spaces: Of the observations and of the actions.
        zip_path: Where the model goes.
        normalizer_path: Where the normaliser goes; it does not learn on until `training` is set.
        steps: Environment steps the policy was trained for.
    """
    with replacing(zip_path) as path:
        _model(policy, config, spaces, steps).save(path)
    with replacing(normalizer_path) as path:
        normalizer = VecNormalize(
            DummyVecEnv([lambda: _SpacesOnly(spaces)]),
            training=False,
            norm_obs=policy.normalizes,
            norm_reward=config.normalize_reward,
            clip_obs=policy.clip if policy.normalizes else config.clip_obs,
            clip_reward=config.clip_reward if policy.clip_reward is None else policy.clip_reward,
            gamma=config.gamma if policy.gamma is None else policy.gamma,
            epsilon=EPSILON,
        )
        if policy.normalizes:
            statistics = _statistics(policy.mean, policy.variance, policy.observation_count)
            normalizer.obs_rms = statistics  # type: ignore[assignment]  # a dict only where observations are dicts
        normalizer.ret_rms = _statistics(policy.reward_mean, policy.reward_variance, policy.reward_count)
        normalizer.save(str(path))


class _SpacesOnly(gymnasium.Env[Any, Any]):
    """Environment with spaces only; it is never stepped."""

    def __init__(self, spaces: Spaces) -> None:
        self.observation_space, self.action_space = spaces


def _model(policy: NumpyPolicy, config: TrainConfig, spaces: Spaces, steps: int) -> PPO:
    rate = config.learning_rate
    end = config.learning_rate * config.learning_rate_end
    of_policy = config.model_copy(update={"activation": policy.activation})
    model = PPO(
        "MlpPolicy",
        None,  # type: ignore[arg-type]  # as PPO.load does
        learning_rate=LinearSchedule(rate, end, 1.0),
        **ppo_arguments(of_policy, _widths(policy.weights), _widths(policy.value_weights or policy.weights)),
        device="cpu",
        _init_setup_model=False,
    )
    model.observation_space, model.action_space = spaces
    model.n_envs = config.n_envs
    with torch.random.fork_rng(devices=[]):
        torch.random.manual_seed(config.seed)
        model._setup_model()  # without model.seed, which would seed Python's and numpy's generators too
    model.seed = config.seed
    model.num_timesteps = steps
    # Policy arrays under the names of stable-baselines3's modules.
    arrays = _network("mlp_extractor.policy_net", "action_net", policy.weights, policy.biases)
    if policy.value_weights and not len(policy.privileged_mean):
        arrays |= _network("mlp_extractor.value_net", "value_net", policy.value_weights, policy.value_biases)
    if policy.log_std is not None:
        arrays["log_std"] = policy.log_std
    tensors = {name: torch.tensor(array, dtype=torch.float32) for name, array in arrays.items()}
    model.policy.load_state_dict(model.policy.state_dict() | tensors)
    return model


def _widths(weights: tuple[Floats, ...]) -> list[int]:
    """Of the hidden layers."""
    return [weight.shape[1] for weight in weights[:-1]]


def _network(hidden: str, last: str, weights: tuple[Floats, ...], biases: tuple[Floats, ...]) -> dict[str, Floats]:
    """Parameters of a network; a hidden layer and its activation take two places in a row of modules."""
    names = [*(f"{hidden}.{2 * i}" for i in range(len(weights) - 1)), last]
    arrays = {f"{name}.weight": weight.T for name, weight in zip(names, weights, strict=True)}
    return arrays | {f"{name}.bias": bias for name, bias in zip(names, biases, strict=True)}


def _statistics(
    mean: NDArray[np.float64] | float, variance: NDArray[np.float64] | float, count: float
) -> RunningMeanStd:
    statistics = RunningMeanStd()
    statistics.mean = np.array(mean)
    statistics.var = np.array(variance)
    statistics.count = count
    return statistics
