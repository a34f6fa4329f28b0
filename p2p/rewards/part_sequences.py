"""Features of parts that depend on the episode so far: counts, shares, lengths of steps, energy, impact and jerk."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.parts import COM
from p2p.rewards.part_features import PartFeature
from p2p.rewards.states import Floats

if TYPE_CHECKING:  # see `p2p.rewards.features`
    from p2p.contracts.env import EnvSpec

Features = dict[str, Floats]

GRAVITY = 9.81
"""Of every environment [m/s²]."""
LEAST_WAY = 0.1
"""Displacement below which the cost of transport takes this one [m]."""
_XYZ = ("velocity_x", "velocity_y", "velocity_z")
_SUMMED = ("touchdowns", "stance_share", "step_length", "energy", "cost_of_transport", "impact", "jerk")


def read_by(feature: PartFeature, spec: "EnvSpec") -> tuple[PartFeature, ...]:
    """The features of single states that a feature is computed from; itself where it is one."""
    torso, part = spec.morphology.torso, feature.part
    if feature.quantity not in _SUMMED:
        return (feature,)
    if feature.quantity in ("touchdowns", "stance_share"):
        return (PartFeature("contact", part),)
    if feature.quantity == "step_length":
        return tuple(PartFeature(quantity, part) for quantity in ("contact", "position_x", "position_y"))
    if feature.quantity == "energy":
        return (PartFeature("power", ""),)
    if feature.quantity == "cost_of_transport":
        return (PartFeature("power", ""), PartFeature("position_x", torso), PartFeature("position_y", torso))
    return tuple(PartFeature(quantity, COM if feature.quantity == "impact" else torso) for quantity in _XYZ)


class PartSequences:
    """Sums over the episodes of n environments that are stepped side by side.

    A step is computed for all environments at once, and steps one after the other, so that the result is the same to
    the bit however they are cut into blocks.

    Args:
        spec: The environment.
        n: How many.
        asked: All that is asked for; what depends on single states alone is left to others.
    """

    def __init__(self, spec: "EnvSpec", n: int, asked: tuple[PartFeature, ...]) -> None:
        self._spec, self._n = spec, n
        self._asked = tuple(feature for feature in asked if feature.quantity in _SUMMED)
        self.sums: dict[str, NDArray[np.float64]] = {}
        """What is remembered, name -> shape (n, ...)."""

    @property
    def any(self) -> bool:
        """Whether there is anything to sum."""
        return bool(self._asked)

    def measure(self, before: Features, after: Features, starts: NDArray[np.bool_]) -> Features:
        """Features after every step of the block that follows the last one.

        Args:
            before: Features of the states before each step, shape (T * n,); after a reset of the state it led to.
            after: The same of the states after it.
            starts: True on the first step of an episode, shape (T, n).
        """
        found: Features = {feature.name: np.empty(starts.size) for feature in self._asked}
        for t, first in enumerate(starts):
            rows = slice(t * self._n, (t + 1) * self._n)
            old = {name: values[rows] for name, values in before.items()}
            new = {name: values[rows] for name, values in after.items()}
            self._steps = self._kept("steps", first) + 1.0
            self.sums["steps"] = self._steps
            for feature in self._asked:
                found[feature.name][rows] = self._one(feature, old, new, first)
        return found

    def _one(self, feature: PartFeature, old: Features, new: Features, first: NDArray[np.bool_]) -> Floats:
        if feature.quantity in ("touchdowns", "stance_share", "step_length"):
            return self._of_contact(feature, old, new, first)
        if feature.quantity in ("energy", "cost_of_transport"):
            return self._of_energy(feature, old, new, first)
        return self._of_acceleration(feature, old, new, first)

    def _of_contact(self, feature: PartFeature, old: Features, new: Features, first: NDArray[np.bool_]) -> Floats:
        part, key = feature.part, feature.name
        was, down = old[f"contact:{part}"] > 0.5, new[f"contact:{part}"] > 0.5
        landed = down & ~was
        if feature.quantity == "touchdowns":
            self.sums[key] = self._kept(key, first) + landed
            return self.sums[key]
        if feature.quantity == "stance_share":
            self.sums[key] = self._kept(key, first) + down
            return np.asarray(self.sums[key] / self._steps)
        length = self._kept(key, first)
        lifted = {}
        for axis in "xy":
            place, name = f"position_{axis}:{part}", f"{key}.lift_{axis}"
            # the place of the last step on the floor; before the first take-off the one of the start
            begun = np.where(first, old[place], self._kept(name, np.zeros_like(first)))
            lifted[axis] = np.where(was, old[place], begun)
            self.sums[name] = lifted[axis]
        way = np.hypot(new[f"position_x:{part}"] - lifted["x"], new[f"position_y:{part}"] - lifted["y"])
        self.sums[key] = np.where(landed, way, length)
        return self.sums[key]

    def _of_energy(self, feature: PartFeature, old: Features, new: Features, first: NDArray[np.bool_]) -> Floats:
        key = feature.name
        energy = self._kept(key, first) + new["power"] * self._spec.dt
        self.sums[key] = energy
        if feature.quantity == "energy":
            return energy
        moved = []
        for axis in "xy":
            place, name = f"position_{axis}:{self._spec.morphology.torso}", f"{key}.start_{axis}"
            self.sums[name] = np.where(first, old[place], self._kept(name, np.zeros_like(first)))
            moved.append(new[place] - self.sums[name])
        way = np.maximum(np.hypot(*moved), LEAST_WAY)
        return np.asarray(energy / (self._spec.total_mass * GRAVITY * way))

    def _of_acceleration(self, feature: PartFeature, old: Features, new: Features, first: NDArray[np.bool_]) -> Floats:
        part = COM if feature.quantity == "impact" else self._spec.morphology.torso
        rates = [(new[f"{axis}:{part}"] - old[f"{axis}:{part}"]) / self._spec.dt for axis in _XYZ]
        if feature.quantity == "impact":
            return np.asarray(np.sqrt(rates[0] ** 2 + rates[1] ** 2 + (rates[2] + GRAVITY) ** 2) / GRAVITY)
        changes = []
        for axis, rate in zip(_XYZ, rates, strict=True):
            name = f"jerk.{axis}"
            last = np.where(first, rate, self._kept(name, np.zeros_like(first)))
            changes.append((rate - last) / self._spec.dt)
            self.sums[name] = rate
        return np.asarray(np.sqrt(changes[0] ** 2 + changes[1] ** 2 + changes[2] ** 2))

    def _kept(self, name: str, first: NDArray[np.bool_]) -> Floats:
        """A remembered number of each environment; 0 where its episode begins."""
        kept = self.sums.get(name)
        return np.zeros(self._n) if kept is None else np.where(first, 0.0, kept)
