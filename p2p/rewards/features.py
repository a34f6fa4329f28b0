"""Named measurements of a robot, computed in one place for one step and for whole trajectories.

A sample describes the state after a control step, and depends only on that state, the one before it, the last two
actions, and sums over the episode. Signs: pitch is positive nose up, yaw to the left, roll with the right side down.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.rewards.formulas import Features, formulas_for
from p2p.rewards.rotations import forward_axis, left_axis, rotation_vector
from p2p.rewards.states import Floats, Sample, States, Sums

__all__ = ["FeatureTracker", "Features", "States", "measure_trajectory"]

STEEPEST = 0.5
"""Horizontal length of a body axis below which turns about it fade out: who spins on its side does not flip."""


class FeatureTracker:
    """The features of n environments that are stepped side by side.

    Args:
        spec: The environment they all are.
        n: How many.
    """

    def __init__(self, spec: EnvSpec, n: int) -> None:
        self._meter = _Meter(spec)
        self._before: States | None = None
        self._sums = Sums(np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)))
        self._action = np.zeros((n, spec.action_dim))

    def reset(self, ids: Sequence[int] | NDArray[np.intp], states: States) -> None:
        """Begin new episodes.

        Args:
            ids: Environments that were reset.
            states: Their states after the reset, in the order of `ids`.
        """
        index = np.asarray(ids, dtype=np.intp)
        before = States.zeros_like(states, len(self._action)) if self._before is None else self._before
        self._before = before.replaced(index, states)
        zeros = np.zeros((len(index), 3))
        self._sums = self._sums.replaced(index, Sums(np.zeros(len(index)), states.position, zeros, zeros))

    def step(self, states: States, actions: NDArray[np.floating]) -> Features:
        """Features after one control step of every environment.

        Args:
            states: States after the step, B = n; kept until the next step.
            actions: Actions that led there, as the environment got them, shape (n, n_actions).

        Returns:
            Name -> values, shape (n,), in the order of the environment's feature list.

        Raises:
            RuntimeError: no environment was reset yet.
        """
        if self._before is None:
            raise RuntimeError("reset the environments before the first step")
        meter, before, sums = self._meter, self._before, self._sums
        action = meter.scaled(actions)
        change = np.where((sums.steps == 0.0)[:, None], 0.0, action - self._action)
        rotation, turned = _increments(before, states)
        self._sums = Sums(sums.steps + 1.0, sums.start, sums.rotation + rotation, sums.turned + turned)
        self._before, self._action = states, action
        return meter.measure(before, states, turned, self._sums, action, change)


def measure_trajectory(spec: EnvSpec, states: States, actions: NDArray[np.floating]) -> Features:
    """Features of one whole episode, to the bit what stepping through it gives.

    Args:
        spec: The environment it was made in.
        states: The T + 1 states of the episode, the one after the reset first.
        actions: The T actions, shape (T, n_actions).

    Returns:
        Name -> values, shape (T,).
    """
    meter, before, after = _Meter(spec), states[:-1], states[1:]
    steps = len(after)
    rotation, turned = _increments(before, after)
    start = np.broadcast_to(states.position[0], (steps, 3))
    sums = Sums(np.arange(1.0, steps + 1.0), start, np.cumsum(rotation, axis=0), np.cumsum(turned, axis=0))
    action = meter.scaled(actions)
    return meter.measure(before, after, turned, sums, action, np.diff(action, axis=0, prepend=action[:1]))


class _Meter:
    """What is constant while an environment is measured."""

    def __init__(self, spec: EnvSpec) -> None:
        self._spec, self._names = spec, spec.feature_names
        self._formulas = formulas_for(self._names)
        self._low = np.array([actuator.low for actuator in spec.action])
        span = np.array([actuator.high for actuator in spec.action]) - self._low
        self._span = np.where(span > 0.0, span, 1.0)

    def scaled(self, actions: NDArray[np.floating]) -> Floats:
        raw = 2.0 * (np.ascontiguousarray(actions, dtype=np.float64) - self._low) / self._span - 1.0
        return np.asarray(np.clip(raw, -1.0, 1.0))

    def measure(
        self, before: States, after: States, turned: Floats, sums: Sums, action: Floats, change: Floats
    ) -> Features:
        sample = Sample(self._spec, before, after, turned / self._spec.dt, sums, action, change)
        values: Features = {}
        for formula in self._formulas:
            values.update(formula(sample))
        return {name: values[name] for name in self._names}


def _increments(before: States, after: States) -> tuple[Floats, Floats]:
    """Rotation over a step about the world's axes, and as roll, pitch and yaw; both of shape (B, 3) [rad]."""
    rotation = rotation_vector(before.quaternion, after.quaternion)
    roll = _about_horizontal(rotation, forward_axis(after.quaternion))
    pitch = -_about_horizontal(rotation, left_axis(after.quaternion))
    return rotation, np.stack([roll, pitch, rotation[:, 2]], axis=1)


def _about_horizontal(rotation: Floats, axis: Floats) -> Floats:
    length = np.sqrt(axis[:, 0] ** 2 + axis[:, 1] ** 2)
    return np.asarray((rotation[:, 0] * axis[:, 0] + rotation[:, 1] * axis[:, 1]) / np.maximum(length, STEEPEST))
