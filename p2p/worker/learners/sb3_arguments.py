"""Translate a configuration into stable-baselines3's arguments."""

from collections.abc import Sequence
from typing import Any

import torch

from p2p.contracts.training import TrainConfig

ACTIVATIONS: dict[str, type[torch.nn.Module]] = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}
SAME = (
    "n_steps",
    "batch_size",
    "n_epochs",
    "gamma",
    "gae_lambda",
    "clip_range",
    "clip_range_vf",
    "ent_coef",
    "vf_coef",
    "max_grad_norm",
    "target_kl",
)
"""Hyperparameters that have the same name there."""


def ppo_arguments(config: TrainConfig, actor: Sequence[int], critic: Sequence[int]) -> dict[str, Any]:
    """Keyword arguments of `stable_baselines3.PPO`, without learning rate, seed and device.

    Args:
        config: Hyperparameters.
        actor: Widths of the actor's hidden layers.
        critic: Widths of the critic's.
    """
    policy = {
        "net_arch": {"pi": list(actor), "vf": list(critic)},
        "activation_fn": ACTIVATIONS[config.activation],
        "log_std_init": config.log_std_init,
    }
    return {**{name: getattr(config, name) for name in SAME}, "policy_kwargs": policy}
