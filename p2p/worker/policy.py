"""A trained policy as plain arrays: acts without torch, and the same way alone or among others."""

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.errors import InvalidInput
from p2p.store.arrays import load_arrays, save_arrays

Floats = NDArray[np.float32]
EPSILON = 1e-8
"""Added to the variance, as VecNormalize does."""


@dataclass(frozen=True, slots=True)
class NumpyPolicy:
    """The mean action of a Gaussian policy, in float32 as it was trained."""

    weights: tuple[Floats, ...]
    """One per layer, shape (inputs, outputs); the last layer gives the action."""
    biases: tuple[Floats, ...]
    activation: str
    """ "relu" or "tanh"."""
    mean: NDArray[np.float64]
    """Of the observations, shape (obs_dim,)."""
    variance: NDArray[np.float64]
    clip: float
    """Of the normalised observations; infinite for a policy without normaliser."""
    low: Floats
    """Bounds of the action, shape (action_dim,)."""
    high: Floats

    def act(self, observations: NDArray[np.floating]) -> Floats:
        """Deterministic actions, shape (B, action_dim), for observations of shape (B, obs_dim).

        A row's action does not depend on the other rows, to the last bit.
        """
        normal = (observations - self.mean) / np.sqrt(self.variance + EPSILON)
        hidden = np.clip(normal, -self.clip, self.clip).astype(np.float32)
        last = len(self.weights) - 1
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            # one product per row: BLAS sums in another order for another number of rows
            hidden = np.matmul(hidden[:, None, :], weight)[:, 0, :] + bias
            if layer < last:
                hidden = np.maximum(hidden, np.float32(0.0)) if self.activation == "relu" else np.tanh(hidden)
        return np.clip(hidden, self.low, self.high)

    def save(self, path: Path) -> None:
        """Write the policy as an .npz of plain arrays."""
        arrays = {
            f.name: np.asarray(getattr(self, f.name)) for f in fields(self) if f.name not in ("weights", "biases")
        }
        arrays |= {f"weight_{i}": weight for i, weight in enumerate(self.weights)}
        arrays |= {f"bias_{i}": bias for i, bias in enumerate(self.biases)}
        save_arrays(path, arrays)


def load_policy(path: Path) -> NumpyPolicy:
    """The policy that was saved to `path`.

    Raises:
        InvalidInput: there is none, or it is broken.
    """
    arrays = load_arrays(path)
    if arrays is None or "weight_0" not in arrays:
        raise InvalidInput(f"{path} holds no policy: train a checkpoint first.")
    layers = range(sum(name.startswith("weight_") for name in arrays))
    return NumpyPolicy(
        weights=tuple(arrays[f"weight_{i}"] for i in layers),
        biases=tuple(arrays[f"bias_{i}"] for i in layers),
        activation=str(arrays["activation"]),
        mean=arrays["mean"],
        variance=arrays["variance"],
        clip=float(arrays["clip"]),
        low=arrays["low"],
        high=arrays["high"],
    )
