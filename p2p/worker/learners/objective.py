"""Loss of PPO (Schulman et al. 2017, eq. 9) and its gradient at the networks' outputs.

https://arxiv.org/abs/1707.06347
"""

import math

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.training import TrainConfig
from p2p.worker.learners.minibatches import Rows
from p2p.worker.learners.network import Activations, ActorCritic

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def gaussian_offset(log_std: NDArray[np.floating]) -> float:
    """Log-normaliser of a diagonal Gaussian: log σ + ½ log 2π, summed over the dimensions [nats]."""
    return float(np.add.reduce(log_std)) + len(log_std) * HALF_LOG_2PI


class ClippedObjective:
    """Policy loss + vf_coef * value loss - ent_coef * entropy, the mean over a minibatch.

    Args:
        config: Gives `ent_coef`, `vf_coef` and `clip_range_vf`.
    """

    def __init__(self, config: TrainConfig) -> None:
        self._ent_coef, self._vf_coef = config.ent_coef, config.vf_coef
        self._clip_range_vf = config.clip_range_vf

    def differentiate(self, rows: Rows, network: ActorCritic, buffers: Activations) -> tuple[float, float]:
        """Write the gradients of the networks' outputs and of `log_std`, and the records of `rows`.

        Args:
            rows: A minibatch.
            network: After its forward pass over these rows.
            buffers: Of this pass.

        Returns:
            The policy's entropy, and an estimate of its divergence from the one that acted:
            E[ratio - 1 - log ratio] [nats].
        """
        log_std = network.parameters.log_std
        inverse_std = np.exp(-log_std)[:, None]
        scores = rows.actions - buffers.outputs[:-1]
        scores *= inverse_std
        squares = scores * scores
        log_ratios = np.add.reduce(squares, axis=0, out=rows.log_ratios)
        log_ratios *= -0.5
        log_ratios -= rows.log_probs
        offset = gaussian_offset(log_std)
        log_ratios -= offset
        ratios = np.exp(log_ratios)
        losses = np.multiply(ratios, rows.slopes, out=rows.policy_losses)
        by_log_prob = losses * (losses >= rows.floors)
        scores *= inverse_std
        np.multiply(scores, by_log_prob, out=buffers.output_gradients[:-1])
        by_log_std = np.matmul(squares, by_log_prob, out=network.gradient.log_std)
        by_log_std -= float(np.add.reduce(by_log_prob)) + self._ent_coef
        self._differentiate_values(rows, buffers)
        divergence = float(np.add.reduce(ratios - log_ratios)) / len(ratios) - 1
        return offset + 0.5 * len(log_std), divergence

    def _differentiate_values(self, rows: Rows, buffers: Activations) -> None:
        values, gradient = buffers.outputs[-1], buffers.output_gradients[-1]
        scale = 2 * self._vf_coef / len(values)
        if self._clip_range_vf is None:
            errors = np.subtract(values, rows.returns, out=rows.value_errors)
            np.multiply(errors, scale, out=gradient)
            return
        changes = values - rows.values
        clipped = np.clip(changes, -self._clip_range_vf, self._clip_range_vf)
        errors = np.subtract(rows.values + clipped, rows.returns, out=rows.value_errors)
        np.multiply(errors, scale * (changes == clipped), out=gradient)
