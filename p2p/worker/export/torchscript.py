"""Format `torchscript`: one module, observation -> action, for `torch.jit.load`."""

import json
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from p2p.store.files import replacing
from p2p.store.policy import EPSILON, NumpyPolicy

METADATA = "metadata.json"
"""Name of the extra file in the archive."""


class Actor(torch.nn.Module):
    """A policy as a module; float64 between the observation and the action, as in `NumpyPolicy.act`.

    Args:
        policy: What to copy.
    """

    mean: torch.Tensor
    deviation: torch.Tensor
    low: torch.Tensor
    high: torch.Tensor

    def __init__(self, policy: NumpyPolicy) -> None:
        super().__init__()
        layers: list[torch.nn.Module] = []
        for weight, bias in zip(policy.weights, policy.biases, strict=True):
            layer = torch.nn.Linear(*weight.shape)
            layer.weight.data = torch.tensor(weight.T).double()
            layer.bias.data = torch.tensor(bias).double()
            layers += [layer, torch.nn.ReLU() if policy.activation == "relu" else torch.nn.Tanh()]
        self.network = torch.nn.Sequential(*layers[:-1])
        self.clip = policy.clip
        self.register_buffer("mean", torch.tensor(policy.mean))
        self.register_buffer("deviation", torch.tensor(np.sqrt(policy.variance + EPSILON)))
        self.register_buffer("low", torch.tensor(policy.low))
        self.register_buffer("high", torch.tensor(policy.high))

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Actions, shape (B, action_dim), for float32 observations, shape (B, obs_dim)."""
        normal = ((observation.double() - self.mean) / self.deviation).clamp(-self.clip, self.clip)
        action: torch.Tensor = self.network(normal).float()
        return torch.minimum(torch.maximum(action, self.low), self.high)


def save_torchscript(policy: NumpyPolicy, metadata: Mapping[str, str], path: Path) -> None:
    """Write a policy as TorchScript; `metadata` is `metadata.json` among the archive's extra files."""
    with replacing(path) as temporary, warnings.catch_warnings():
        # TorchScript is finished and stays loadable, which torch says with every call from 2.9 on.
        warnings.filterwarnings("ignore", r".*torch\.jit", DeprecationWarning)
        module = torch.jit.script(Actor(policy).eval())
        torch.jit.save(module, str(temporary), _extra_files={METADATA: json.dumps(dict(metadata), indent=2)})
