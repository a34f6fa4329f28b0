"""Advantages and returns of a rollout, and the explained variance."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def generalized_advantages(
    rewards: NDArray[np.floating], values: Floats, dones: NDArray[np.bool_], gamma: float, lam: float
) -> tuple[Floats, Floats]:
    """Generalised advantage estimates (Schulman et al. 2016, eq. 16) and the returns they amount to.

    A_t = δ_t + γλ (1 - done_t) A_{t+1}, with δ_t = r_t + γ (1 - done_t) V_{t+1} - V_t. In float32 and in the order of
    operations of stable-baselines3, so that the results are its results to the last bit. https://arxiv.org/abs/1506.02438

    Args:
        rewards: Shape (T, n); where an episode was cut by its time limit, γ V(last state) is already added.
        values: Predicted returns, shape (T + 1, n); the last row belongs to the states after the rollout.
        dones: Whether step t ended an episode, shape (T, n).
        gamma: Discount, in [0, 1].
        lam: λ in [0, 1]; 1 gives Monte Carlo returns.

    Returns:
        Advantages and returns, each of shape (T, n).
    """
    goes_on = np.float32(1.0) - dones.astype(np.float32)
    deltas = rewards.astype(np.float32) + gamma * values[1:] * goes_on - values[:-1]
    decay = gamma * lam * goes_on
    advantages = deltas
    for t in range(len(deltas) - 2, -1, -1):
        advantages[t] += decay[t] * advantages[t + 1]
    return advantages, advantages + values[:-1]


def explained_variance(values: NDArray[np.floating], returns: NDArray[np.floating]) -> float:
    """Share of the variance of `returns` that `values` predicted, at most 1; NaN where returns do not vary.

    Args:
        values: Predicted returns, any shape.
        returns: The ones to be predicted, same shape.
    """
    variance = np.var(returns)
    return float(1 - np.var(returns - values) / variance) if variance else float("nan")
