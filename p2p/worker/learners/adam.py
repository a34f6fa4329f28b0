"""Adam on one vector (Kingma & Ba 2015, https://arxiv.org/abs/1412.6980), and gradient clipping."""

import math

import numpy as np
from numpy.typing import NDArray

from p2p.worker.saved_state import State, fill

Array = NDArray[np.floating]
BETA_1, BETA_2 = 0.9, 0.999
EPSILON = 1e-5
"""As stable-baselines3 sets it for PPO."""
NEGLIGIBLE = 1e-30
FLUSH_STEPS = 100
"""So often moments below `NEGLIGIBLE` become 0: in this time they cannot fall to subnormal numbers (< 1.2e-38)."""


class Adam:
    """Adam optimiser that changes parameters in place.

    The moments are kept as sums, without their factors 1 - β, which the step makes good: two passes over the vector
    less. The moments of a unit that has died would decay to subnormal numbers, on which a processor is many times
    slower: 2,000 of them in 11,000 made a step take 41 us instead of 15. They are set to zero before.

    Args:
        parameters: The vector.
    """

    def __init__(self, parameters: Array) -> None:
        self._parameters = parameters
        self._gradients = np.zeros_like(parameters)
        self._squares = np.zeros_like(parameters)
        self._scratch = np.empty_like(parameters)
        self._steps = 0

    def step(self, gradient: Array, learning_rate: float) -> None:
        """Take one step down the gradient."""
        self._steps += 1
        gradients, squares, scratch = self._gradients, self._squares, self._scratch
        gradients *= BETA_1
        gradients += gradient
        squares *= BETA_2
        np.multiply(gradient, gradient, out=scratch)
        squares += scratch
        first = (1 - BETA_1) / (1 - BETA_1**self._steps)
        second = math.sqrt((1 - BETA_2) / (1 - BETA_2**self._steps))
        np.sqrt(squares, out=scratch)
        scratch += EPSILON / second
        np.divide(gradients, scratch, out=scratch)
        scratch *= learning_rate * first / second
        self._parameters -= scratch
        if self._steps % FLUSH_STEPS == 0:
            for moment in (gradients, squares):
                moment[np.abs(moment) < NEGLIGIBLE] = 0.0

    def state(self) -> State:
        """First and second moments, without the parameters."""
        return {"gradients": self._gradients, "squares": self._squares, "steps": np.array(self._steps)}

    def restore(self, state: State) -> None:
        """Continue from saved moments."""
        fill(self._gradients, state["gradients"])
        fill(self._squares, state["squares"])
        self._steps = int(state["steps"])


def clip_gradient_norm(gradient: Array, max_norm: float) -> float:
    """Scale the gradient in place to a norm of at most `max_norm`, as torch does; return the norm before."""
    norm = math.sqrt(float(gradient @ gradient))
    if norm + 1e-6 > max_norm:
        gradient *= max_norm / (norm + 1e-6)
    return norm
