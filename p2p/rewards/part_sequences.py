"""Part features that depend on the episode so far: counts, shares, strides, swings, energy, impact and jerk."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import COM, inner_joints, joints_of_leg
from p2p.rewards.part_features import PartFeature
from p2p.rewards.states import Floats
from p2p.rewards.strides import Kept, Strides

if TYPE_CHECKING:  # see `p2p.rewards.features`
    from p2p.contracts.env import EnvSpec

Features = dict[str, Floats]

GRAVITY = 9.81
"""Of every environment [m/s²]."""
LEAST_WAY = 0.1
"""Displacement below which the cost of transport takes this one [m]."""
SETTLED_S = 1.0
"""Time after the start from which on the range of a pose counts [s]."""
SWING_S = 0.5
"""Time constant with which the swing of a joint forgets [s]: what was 1 s ago weighs 0.14."""
_XYZ = ("velocity_x", "velocity_y", "velocity_z")
_OF_CONTACT = ("touchdowns", "stance_share", "step_length")
_OF_ENERGY = ("energy", "cost_of_transport")
_OF_JOINTS = ("joint_swing", "leg_swing", "most_leg_swing", "pose_range")
_OF_STRIDES = {"duty_factor": "duty", "stride_frequency": "frequency", "stance_slip": "slip", "phase_offset": "offset"}
"""Quantity -> what `Strides` calls it."""
_SUMMED = (*_OF_CONTACT, *_OF_ENERGY, *_OF_JOINTS, *_OF_STRIDES, "bounce", "foot_sliding", "impact", "jerk")
SLOWEST = 0.1
"""Speed below which foot_sliding takes this one [m/s]."""
SINE = 2.0 * 2.0**0.5
"""From low to high of a sine wave, in standard deviations."""


def read_by(feature: PartFeature, spec: "EnvSpec") -> tuple[PartFeature, ...]:
    """Single-state features that a feature is computed from; itself if it is one."""
    torso = spec.morphology.torso
    part = feature.part
    if feature.quantity not in _SUMMED:
        return (feature,)
    if feature.quantity in ("touchdowns", "stance_share"):
        return (PartFeature("contact", part),)
    if feature.quantity == "step_length":
        return tuple(PartFeature(quantity, part) for quantity in ("contact", "position_x", "position_y"))
    if feature.quantity in _OF_JOINTS:
        return tuple(PartFeature("joint_angle", joint) for joint in _joints(feature, spec))
    if feature.quantity in _OF_STRIDES:
        return tuple(PartFeature(q, foot) for foot in part.split(":") for q in ("contact", "clearance", "slip"))
    if feature.quantity == "bounce":
        return (PartFeature("height", torso),)
    if feature.quantity == "foot_sliding":
        feet = (PartFeature(quantity, foot) for foot in spec.morphology.feet for quantity in ("contact", "slip"))
        return (PartFeature("speed", torso), *feet)
    if feature.quantity == "energy":
        return (PartFeature("power", ""),)
    if feature.quantity == "cost_of_transport":
        return (PartFeature("power", ""), PartFeature("position_x", torso), PartFeature("position_y", torso))
    return tuple(PartFeature(quantity, COM if feature.quantity == "impact" else torso) for quantity in _XYZ)


def _joints(feature: PartFeature, spec: "EnvSpec") -> tuple[str, ...]:
    if feature.quantity == "joint_swing":
        return (feature.part,)
    if feature.quantity == "pose_range":
        return inner_joints(spec)
    feet = spec.morphology.feet if feature.quantity == "most_leg_swing" else (feature.part,)
    return tuple(joint for foot in feet for joint in joints_of_leg(spec, foot))


class PartSequences:
    """Sums over the episodes of n environments stepped together.

    A step is computed for all environments at once, and steps one after the other, so that the result is the same to
    the bit however they are cut into blocks.

    Args:
        spec: The environment.
        n: How many.
        asked: All that is asked for; what depends on single states alone is left to others.
    """

    def __init__(self, spec: "EnvSpec", n: int, asked: tuple[PartFeature, ...]) -> None:
        self._spec = spec
        self._n = n
        self._asked = tuple(feature for feature in asked if feature.quantity in _SUMMED)
        swinging = {f.name: _joints(f, spec) for f in self._asked if f.quantity in _OF_JOINTS}
        self._angles = sorted({f"joint_angle:{joint}" for joints in swinging.values() for joint in joints})
        self._columns = {
            name: [self._angles.index(f"joint_angle:{joint}") for joint in joints] for name, joints in swinging.items()
        }
        striding = [f for f in self._asked if f.quantity in _OF_STRIDES]
        self._feet = list(dict.fromkeys(foot for feature in striding for foot in feature.part.split(":")))
        pairs = [f.part.split(":") for f in striding if f.quantity == "phase_offset"]
        places = [(self._feet.index(one), self._feet.index(other)) for one, other in pairs]
        self._strides = Strides(len(self._feet), places, spec.dt)
        self._stride_columns = {
            f.name: pairs.index(f.part.split(":")) if f.quantity == "phase_offset" else self._feet.index(f.part)
            for f in striding
        }
        self._gain = -np.expm1(-spec.dt / SWING_S)
        self.sums: dict[str, NDArray[np.float64]] = {}
        """What is remembered, name -> shape (n, ...)."""

    @property
    def any(self) -> bool:
        """Whether anything must be summed."""
        return bool(self._asked)

    def measure(self, before: Features, after: Features, starts: NDArray[np.bool_]) -> Features:
        """Features after every step of the next block.

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
            spreads = self._spreads(old, new, first) if self._angles else {}
            strides = self._of_strides(new, first) if self._feet else {}
            for feature in self._asked:
                if feature.quantity in _OF_STRIDES:
                    column = self._stride_columns[feature.name]
                    found[feature.name][rows] = strides[_OF_STRIDES[feature.quantity]][:, column]
                elif feature.name in self._columns:
                    spread = spreads["range" if feature.quantity == "pose_range" else "swing"]
                    found[feature.name][rows] = spread[:, self._columns[feature.name]].max(axis=1, initial=0.0)
                elif feature.quantity in _OF_CONTACT:
                    found[feature.name][rows] = self._of_contact(feature, old, new, first)
                elif feature.quantity == "bounce":
                    found[feature.name][rows] = self._bounce(old, new, first)
                elif feature.quantity == "foot_sliding":
                    found[feature.name][rows] = self._foot_sliding(new, first)
                elif feature.quantity in _OF_ENERGY:
                    found[feature.name][rows] = self._of_energy(feature, old, new, first)
                else:
                    found[feature.name][rows] = self._of_acceleration(feature, old, new, first)
        return found

    def _of_contact(self, feature: PartFeature, old: Features, new: Features, first: NDArray[np.bool_]) -> Floats:
        part = feature.part
        key = feature.name
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
            place = f"position_{axis}:{part}"
            name = f"{key}.lift_{axis}"
            # the place of the last step on the floor; before the first take-off the one of the start
            begun = np.where(first, old[place], self._kept(name, np.zeros_like(first)))
            lifted[axis] = np.where(was, old[place], begun)
            self.sums[name] = lifted[axis]
        way = np.hypot(new[f"position_x:{part}"] - lifted["x"], new[f"position_y:{part}"] - lifted["y"])
        self.sums[key] = np.where(landed, way, length)
        return self.sums[key]

    def _of_strides(self, new: Features, first: NDArray[np.bool_]) -> Kept:
        """What the strides of all feet asked for are now, by the names of `Strides`."""
        begun = self._strides.at_start(self._n)
        kept = {
            name: np.where(first[:, None], start, self.sums.get(f"stride.{name}", start))
            for name, start in begun.items()
        }
        read = (
            np.stack([new[f"{quantity}:{foot}"] for foot in self._feet], axis=1)
            for quantity in ("contact", "clearance", "slip")
        )
        kept = self._strides.after(kept, *read)
        self.sums |= {f"stride.{name}": values for name, values in kept.items()}
        return kept | {"frequency": self._strides.frequency(kept)}

    def _bounce(self, old: Features, new: Features, first: NDArray[np.bool_]) -> Floats:
        """Range of a sine wave with the deviation that the torso's height had over about the last second [m]."""
        torso = f"height:{self._spec.morphology.torso}"
        mean = np.where(first, old[torso], self.sums.get("bounce.mean", old[torso]))
        off = new[torso] - mean
        variance = (1.0 - self._gain) * (self._kept("bounce.variance", first) + self._gain * off**2)
        self.sums["bounce.mean"] = mean + self._gain * off
        self.sums["bounce.variance"] = variance
        return np.asarray(SINE * np.sqrt(variance))

    def _foot_sliding(self, new: Features, first: NDArray[np.bool_]) -> Floats:
        """Slip of the feet that are down over the torso's speed, both averaged as the swing of a joint is."""
        feet = self._spec.morphology.feet
        now = {
            "slip": sum((new[f"slip:{foot}"] for foot in feet), np.zeros(self._n)),
            "down": sum((new[f"contact:{foot}"] for foot in feet), np.zeros(self._n)),
            "speed": new[f"speed:{self._spec.morphology.torso}"],
        }
        mean = {}
        for name, value in now.items():
            kept = self._kept(f"sliding.{name}", first)
            self.sums[f"sliding.{name}"] = kept + self._gain * (value - kept)
            mean[name] = self.sums[f"sliding.{name}"] / -np.expm1(-self._steps * self._spec.dt / SWING_S)
        slip = np.divide(mean["slip"], mean["down"], out=np.zeros(self._n), where=mean["down"] > 0.0)
        return np.asarray(slip / np.maximum(mean["speed"], SLOWEST))

    def _spreads(self, old: Features, new: Features, first: NDArray[np.bool_]) -> dict[str, Floats]:
        """Spread of each angle, shape (n, angles) [rad].

        Its swing is the root of the exponentially weighted variance; mean and variance begin at the angle of the start
        and 0. Its range begins at the first angle after `SETTLED_S`.
        """
        start, angles = (np.stack([values[name] for name in self._angles], axis=1) for values in (old, new))
        begins = first[:, None]
        mean = np.where(begins, start, self.sums.get("swing.mean", start))
        variance = np.where(begins, 0.0, self.sums.get("swing.variance", 0.0))
        off = angles - mean
        self.sums["swing.mean"] = mean + self._gain * off
        self.sums["swing.variance"] = (1.0 - self._gain) * (variance + self._gain * off**2)
        settling = (self._steps * self._spec.dt <= SETTLED_S)[:, None]
        for name, extreme in (("lowest", np.minimum), ("highest", np.maximum)):
            key = f"range.{name}"
            self.sums[key] = np.where(settling, angles, extreme(angles, self.sums.get(key, angles)))
        return {
            "swing": np.sqrt(self.sums["swing.variance"]),
            "range": self.sums["range.highest"] - self.sums["range.lowest"],
        }

    def _of_energy(self, feature: PartFeature, old: Features, new: Features, first: NDArray[np.bool_]) -> Floats:
        key = feature.name
        energy = self._kept(key, first) + new["power"] * self._spec.dt
        self.sums[key] = energy
        if feature.quantity == "energy":
            return energy
        moved = []
        for axis in "xy":
            place = f"position_{axis}:{self._spec.morphology.torso}"
            name = f"{key}.start_{axis}"
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
        """Stored number of each environment; 0 at the start of its episode."""
        kept = self.sums.get(name)
        return np.zeros(self._n) if kept is None else np.where(first, 0.0, kept)
