"""Trained policy as numpy arrays: acts without torch, identically alone or in a batch."""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.errors import InvalidInput
from p2p.store import layout
from p2p.store.arrays import load_arrays, save_arrays

Floats = NDArray[np.float32]
EPSILON = 1e-8
"""Added to the variance, as VecNormalize does."""


_ADDED = ("observation", "observed", "privileged_mean", "privileged_variance")
"""Fields that files from before they were kept lack: they are written where they say something."""
LAYERS = {"weights": "weight", "biases": "bias", "value_weights": "value_weight", "value_biases": "value_bias"}
"""Fields that hold one array per layer -> what each of these is called in the file, before its number."""


@dataclass(frozen=True, slots=True)
class NumpyPolicy:
    """Actor-critic with its observation normaliser, in float32 as trained; acts by the mean of its Gaussian.

    The fields with a default are what a training goes on with. A file from before they were kept loads without them.
    """

    weights: tuple[Floats, ...]
    """One per layer, shape (inputs, outputs); the last layer gives the action."""
    biases: tuple[Floats, ...]
    activation: str
    """ "relu" or "tanh"."""
    mean: NDArray[np.float64]
    """Mean of the observations, shape (obs_dim,)."""
    variance: NDArray[np.float64]
    clip: float
    """Clip limit of normalised observations; infinite for a policy without normaliser."""
    low: Floats
    """Bounds of the action, shape (action_dim,)."""
    high: Floats
    log_std: Floats | None = None
    """Log standard deviation of the Gaussian, shape (action_dim,); None if not saved."""
    value_weights: tuple[Floats, ...] = ()
    """Of the value network, as `weights`; its last layer has one output. Empty where they were not kept."""
    value_biases: tuple[Floats, ...] = ()
    observation_count: float = 1e-4
    """Observations that `mean` and `variance` were made of; VecNormalize begins with 1e-4."""
    reward_mean: float = 0.0
    """Mean of the discounted returns that rewards are normalised by."""
    reward_variance: float = 1.0
    reward_count: float = 1e-4
    """Returns that these two were made of."""
    gamma: float | None = None
    """Discount of those returns; None where it was not kept."""
    clip_reward: float | None = None
    """Of the normalised rewards; None where it was not kept."""
    privileged_mean: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Of what the value network alone sees, appended to the observations, shape (privileged,)."""
    privileged_variance: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    observation: str = "full"
    """What it acts on before that: `TrainConfig.observation`."""
    observed: tuple[str, ...] = ()
    """Names of what is appended to the simulator's observation, the last entries of what it acts on."""

    @property
    def normalizes(self) -> bool:
        """Whether observations are normalised and clipped before the network."""
        return bool(np.isfinite(self.clip))

    def act(self, observations: NDArray[np.floating]) -> Floats:
        """Deterministic actions, shape (B, action_dim), for observations of shape (B, obs_dim).

        Observations are rounded to float32, and so is the action; between them all is float64. How a library orders
        its sums is then lost in the rounding, and an episode is the same to the bit in every format that computes
        like this, though the robot is chaotic. A row's action does not depend on the other rows, to the last bit.
        """
        normal = (np.asarray(observations, dtype=np.float32) - self.mean) / np.sqrt(self.variance + EPSILON)
        hidden = np.clip(normal, -self.clip, self.clip)
        last = len(self.weights) - 1
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            # one product per row: BLAS sums in another order for another number of rows
            hidden = np.matmul(hidden[:, None, :], weight.astype(np.float64))[:, 0, :] + bias
            if layer < last:
                hidden = np.maximum(hidden, 0.0) if self.activation == "relu" else np.tanh(hidden)
        return np.clip(hidden.astype(np.float32), self.low, self.high)

    def __call__(self, observation: NDArray[np.floating]) -> Floats:
        """Action for one observation, shape (obs_dim,), or a batch of them, shape (B, obs_dim).

        Raises:
            InvalidInput: the observation has another length than those it was trained on.
        """
        given = np.asarray(observation)
        if given.ndim not in (1, 2) or given.shape[-1] != len(self.mean):
            last = f", whose last {len(self.observed)} are {', '.join(self.observed)}" if self.observed else ""
            n = len(self.mean)
            kind = "" if self.observation == "full" else f' of the kind "{self.observation}"'
            raise InvalidInput(f"Expected an observation{kind} of shape ({n},) or (B, {n}){last}, got {given.shape}.")
        return self.act(given) if given.ndim == 2 else self.act(given[None])[0]

    def save(self, path: Path) -> None:
        """Write the policy as an .npz of plain arrays."""
        arrays: dict[str, NDArray[Any]] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name in LAYERS:
                arrays |= {f"{LAYERS[one.name]}_{i}": array for i, array in enumerate(value)}
            elif value is not None and not (one.name in _ADDED and _says_nothing(value)):
                arrays[one.name] = np.asarray(value)
        save_arrays(path, arrays)


def _says_nothing(value: Any) -> bool:
    return value == "full" if isinstance(value, str) else len(value) == 0


def load_policy(path: Path) -> NumpyPolicy:
    """Load a policy from `path`, or from the directory of a checkpoint or export.

    Raises:
        InvalidInput: there is none, or it is broken.
    """
    path = path / layout.POLICY if path.is_dir() else path
    arrays = load_arrays(path)
    if arrays is None or "weight_0" not in arrays:
        raise InvalidInput(f"{path} holds no policy: train a checkpoint first.")
    try:
        values: dict[str, Any] = {}
        for layer, name in LAYERS.items():  # in arrays `name_0`, `name_1` …
            count = sum(key.rpartition("_")[0] == name for key in arrays)
            values[layer] = tuple(arrays[f"{name}_{i}"] for i in range(count))
        for one in fields(NumpyPolicy):
            if one.name in arrays:
                array = arrays[one.name]
                values[one.name] = array.item() if array.ndim == 0 else array
        values["observed"] = tuple(str(name) for name in arrays.get("observed", ()))
        return NumpyPolicy(**values)
    except (KeyError, TypeError) as error:
        raise InvalidInput(f"{path} holds no whole policy: an array of it is missing. Export it again.") from error
