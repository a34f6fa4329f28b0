"""Named measurements of a robot, for single steps and whole trajectories.

A sample describes the state after a control step, and depends only on that state, the one before it, the last two
actions, and sums over the episode. Signs: pitch is positive nose up, yaw to the left, roll with the right side down.
"""

from collections.abc import Mapping
from dataclasses import fields
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from p2p.rewards.formulas import Features, formulas_for, tracking
from p2p.rewards.rotations import forward_axis, heading, left_axis, rotation_vector
from p2p.rewards.states import Floats, Sample, States, Sums

if TYPE_CHECKING:  # rewards may import these features, and where rewards run nothing heavier is loaded
    from p2p.contracts.env import EnvSpec

__all__ = ["FeatureTracker", "Features", "States", "measure_trajectory", "rotations_of"]

STEEPEST = 0.5
"""Horizontal length of a body axis below which turns about it fade out: who spins on its side does not flip."""
RAISED = 0.02
"""Height of a foot above where it touches the floor from which on it counts as raised [m]: joints that tremble by 0.02
rad lift a cheetah's foot by 1 cm."""


class FeatureTracker:
    """Features of n environments stepped together, computed block by block.

    A block is T steps of all n environments, flattened in time order: row t * n + i is step t of environment i.

    Args:
        spec: The environment they all are.
        n: How many.
    """

    def __init__(self, spec: "EnvSpec", n: int) -> None:
        self._meter = _Meter(spec)
        self._n = n
        self._sums = _nothing_yet(np.zeros((n, 3)), len(spec.morphology.feet))
        self._action = np.zeros((n, spec.action_dim))

    def measure(
        self,
        before: States,
        after: States,
        actions: NDArray[np.floating],
        starts: NDArray[np.bool_],
        commands: Floats | None = None,
        begun_turns: Floats | None = None,
    ) -> Features:
        """Features after every step of the next block.

        Args:
            before: States before each step, B = T * n; after a reset the state it led to.
            after: States after each step, B = T * n.
            actions: Actions as the environment got them, shape (T * n, n_actions).
            starts: True on the first step of an episode, shape (T, n).
            commands: In effect during each step, shape (T * n, number of commands); None leaves their features out.
            begun_turns: What `pitch_turns` begins at in the episodes that start, shape (T, n) [turns]; None for 0.

        Returns:
            Name -> values, shape (T * n,), in the order of the environment's feature list.
        """
        meter = self._meter
        first = starts.ravel()
        action = meter.scaled(actions)
        previous = np.concatenate([self._action, action[: -self._n]])
        change = np.where(first[:, None], 0.0, action - previous)
        rotation, turned = rotations_of(before.quaternion, after.quaternion)
        begun = np.zeros(starts.shape) if begun_turns is None else 2.0 * np.pi * begun_turns
        rows, self._sums = _accumulated(self._sums, before.position, (rotation, turned), after, starts, begun)
        self._action = action[-self._n :]
        return meter.measure(before, after, turned, rows, action, change, commands)

    def state(self) -> dict[str, NDArray[np.float64]]:
        """State between two blocks, as named arrays."""
        return {"action": self._action, **{field.name: getattr(self._sums, field.name) for field in fields(Sums)}}

    def restore(self, state: Mapping[str, NDArray[np.float64]]) -> None:
        """Continue from another tracker's state."""
        self._action = state["action"]
        self._sums = Sums(**{field.name: state[field.name] for field in fields(Sums)})


def measure_trajectory(
    spec: "EnvSpec", states: States, actions: NDArray[np.floating], commands: Floats | None = None
) -> Features:
    """Features of one whole episode, equal to the bit to those of single steps.

    Args:
        spec: The environment it was made in.
        states: The T + 1 states of the episode, the one after the reset first.
        actions: The T actions, shape (T, n_actions).
        commands: In effect during each step, shape (T, number of commands); None leaves their features out.

    Returns:
        Name -> values, shape (T,).
    """
    starts = np.zeros((len(states) - 1, 1), dtype=np.bool_)
    starts[0] = True
    return FeatureTracker(spec, 1).measure(states[:-1], states[1:], actions, starts, commands)


def rotations_of(before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Rotation over a step about the world's axes, and as roll, pitch and yaw, both of shape (B, 3) [rad].

    Args:
        before: Orientation of the torso before each step, shape (B, 4).
        after: The same after it.
    """
    rotation = rotation_vector(before, after)
    roll = _about_horizontal(rotation, forward_axis(after))
    pitch = -_about_horizontal(rotation, left_axis(after))
    return rotation, np.stack([roll, pitch, rotation[:, 2]], axis=1)


def _nothing_yet(start: Floats, n_feet: int, pitch: Floats | float = 0.0) -> Sums:
    """Initial sums of n episodes that begin at the places `start`, shape (n, 3), turned by `pitch`, shape (n,)."""
    n = len(start)
    zeros = np.zeros_like(start)
    turned = zeros.copy()
    turned[:, 1] = pitch
    feet = np.zeros((len(start), n_feet))
    return Sums(np.zeros(n), start, zeros, turned, feet + np.inf, feet, feet, start[:, 2])


def _accumulated(
    sums: Sums,
    position: Floats,
    increments: tuple[Floats, Floats],
    after: States,
    starts: NDArray[np.bool_],
    begun: Floats,
) -> tuple[Sums, Sums]:
    """Sums after every row of a block, and those after its last step.

    Between two resets the rows are summed in one go, in the order of stepping, so that the result is the same to the
    bit however the steps are cut into blocks.
    """
    steps, n = starts.shape
    place, rotation, turned = (rows.reshape(steps, n, 3) for rows in (position, *increments))
    n_feet = after.feet.shape[1]
    raised = (after.foot_height >= RAISED).reshape(steps, n, n_feet)
    down = (after.feet > 0.0).reshape(steps, n, n_feet)
    touching = (after.touching > 0.0).reshape(steps, n)
    z = after.position[:, 2].reshape(steps, n)
    cuts = [0, *(int(t) for t in np.flatnonzero(starts.any(axis=1)) if t), steps]
    parts = []
    for low, high in pairwise(cuts):
        index = np.flatnonzero(starts[low])
        sums = sums.replaced(index, _nothing_yet(place[low, index], n_feet, begun[low, index]))
        # Steps since each foot was raised, was down, and was put down after it had been raised, shape (T, n, n_feet).
        since_raised = _since(sums.since_raised, raised[low:high])
        since_down = _since(sums.since_down, down[low:high])
        last_down = np.concatenate([sums.since_down[None], since_down[:-1]]) + 1.0
        part = Sums(
            sums.steps + np.arange(1.0, high - low + 1.0)[:, None],
            np.broadcast_to(sums.start, (high - low, n, 3)),
            _running(sums.rotation, rotation[low:high]),
            _running(sums.turned, turned[low:high]),
            since_raised,
            since_down,
            _since(sums.since_step, down[low:high] & (since_raised < last_down)),
            _last(sums.took_off, z[low:high], touching[low:high]),
        )
        parts.append(part)
        sums = Sums(*(getattr(part, field.name)[-1] for field in fields(part)))
    joined = Sums.joined(parts)
    rows = (getattr(joined, field.name) for field in fields(joined))
    return Sums(*(array.reshape(steps * n, *array.shape[2:]) for array in rows)), sums


def _running(start: Floats, increments: Floats) -> Floats:
    """`start` plus the increments so far, shape (T, n, 3)."""
    return np.asarray(np.cumsum(np.concatenate([start[None], increments]), axis=0)[1:])


def _since(before: Floats, events: NDArray[np.bool_]) -> Floats:
    """Steps since the last event, `before` of them already gone at the first row, shape (T, n, n_feet)."""
    numbers = np.arange(1.0, len(events) + 1.0)[:, None, None]
    last = np.maximum.accumulate(np.where(events, numbers, 0.0))
    return np.where(last > 0.0, numbers - last, before + numbers)


def _last(before: Floats, values: Floats, events: NDArray[np.bool_]) -> Floats:
    """Value at the last event, `before` where there was none yet, shape (T, n)."""
    numbers = np.arange(1, len(events) + 1)[:, None]
    last = np.maximum.accumulate(np.where(events, numbers, 0))
    return np.asarray(np.take_along_axis(np.concatenate([before[None], values]), last, axis=0))


class _Meter:
    """Constants of an environment's measurement."""

    def __init__(self, spec: "EnvSpec") -> None:
        self._spec = spec
        self._names = spec.feature_names
        self._followed: dict[str, str] = {}
        if spec.commands is not None:
            from p2p.contracts.commands import COMMAND_FEATURES  # noqa: PLC0415  pydantic, which rewards run without

            self._names = tuple(name for name in spec.feature_names if name not in COMMAND_FEATURES)
            self._followed = spec.commands.followed(spec)
        self._formulas = formulas_for(self._names)
        self._low = np.array([actuator.low for actuator in spec.action])
        span = np.array([actuator.high for actuator in spec.action]) - self._low
        self._span = np.where(span > 0.0, span, 1.0)

    def scaled(self, actions: NDArray[np.floating]) -> Floats:
        raw = 2.0 * (np.ascontiguousarray(actions, dtype=np.float64) - self._low) / self._span - 1.0
        return np.asarray(np.clip(raw, -1.0, 1.0))

    def measure(
        self,
        before: States,
        after: States,
        turned: Floats,
        sums: Sums,
        action: Floats,
        change: Floats,
        commands: Floats | None,
    ) -> Features:
        sample = Sample(self._spec, before, after, turned / self._spec.dt, sums, action, change)
        values: Features = {}
        for formula in self._formulas:
            values.update(formula(sample))
        found = {name: values[name] for name in self._names}
        return (
            found if commands is None else found | tracking(found, commands, self._followed, heading(before.quaternion))
        )


def _about_horizontal(rotation: Floats, axis: Floats) -> Floats:
    length = np.sqrt(axis[:, 0] ** 2 + axis[:, 1] ** 2)
    return np.asarray((rotation[:, 0] * axis[:, 0] + rotation[:, 1] * axis[:, 1]) / np.maximum(length, STEEPEST))
