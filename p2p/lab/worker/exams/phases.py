"""Scripts: what a robot does, phase by phase, from which motions with known truth are drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.worker.known_motions.motion import Motion, arc, during, flight_time, ramp
from p2p.worker.known_motions.scene import Random

Floats = NDArray[np.float64]
Range = float | tuple[float, float]
"""A number, or bounds between which one is drawn."""
POSE_S = 0.4
"""Time in which a pose is taken up, or left [s]."""
EASE_S = 0.2
"""Time in which a gait begins, or fades away [s]."""
AIR = 0.08
"""Share of a flight, at either end of it, in which nothing turns."""


@dataclass(frozen=True)
class Phase:
    """Part of a motion. Amounts that are ranges are drawn once for each motion."""

    seconds: Range | None = None
    """Length [s]; None: what is left of the episode."""
    vx: Range = 0.0
    """Forward [m/s]."""
    vy: Range = 0.0
    """To the left [m/s]."""
    yaw: Range = 0.0
    """Turns to the left."""
    pitch: Range = 0.0
    """Turns nose up, in the air where the phase has flights."""
    roll: Range = 0.0
    """Turns with the right side down."""
    flights: int = 0
    """Flights of `height`, spread evenly over the phase."""
    height: Range = 0.0
    """[m]."""
    flight_s: Range | None = None
    """Length of a flight [s]; None: that of free flight."""
    bounce: float = 0.0
    """Height of the hops of the gait [m]."""
    lean: Range = 0.0
    """Nose up, held for the phase [rad]."""
    pose: Mapping[str, Range] = field(default_factory=dict)
    """Joint -> offset from standing, held for the phase [rad]."""
    beats: Mapping[str, Range] = field(default_factory=dict)
    """Joint -> how far it goes and comes back, `hz` times a second [rad]."""
    offbeats: Mapping[str, Range] = field(default_factory=dict)
    """The same, half a period later."""
    hz: Range = 1.0
    rock: float = 0.0
    """Amplitude of the trunk's rocking with the gait, nose up and down [rad]."""
    bend: Range = 0.0
    """Share of the crouch."""
    sway: float = 0.0
    """Amplitude of the gait [rad]."""
    effort: Range = 0.0
    """Amplitude of the actions, as a share of their range."""

    @property
    def still(self) -> bool:
        """Whether nothing of it moves the robot or its joints."""
        return replace(self, seconds=None, effort=0.0) == Phase()

    @property
    def travels(self) -> bool:
        """Whether it gets somewhere."""
        return self.vx != 0.0 or self.vy != 0.0

    def scaled(self, factor: float) -> "Phase":
        """So many times the speed, the turns, the heights, the poses and the leans."""
        changed: dict[str, Any] = {name: times(getattr(self, name), factor) for name in AMOUNTS}
        for name in SHAPES:
            changed[name] = {joint: times(by, factor) for joint, by in getattr(self, name).items()}
        return replace(self, **changed)

    def turned_round(self) -> "Phase":
        """Directions the other way round."""
        changed: dict[str, Any] = {name: times(getattr(self, name), -1.0) for name in DIRECTIONS}
        return replace(self, **changed)


AMOUNTS = ("vx", "vy", "yaw", "pitch", "roll", "height", "lean", "bend")
SHAPES = ("pose", "beats", "offbeats")
DIRECTIONS = ("vx", "vy", "yaw", "pitch", "roll", "lean")


def times(amount: Range, factor: float) -> Range:
    """So many times an amount."""
    if isinstance(amount, tuple):
        low, high = sorted((amount[0] * factor, amount[1] * factor))
        return low, high
    return amount * factor


def drawn(amount: Range, rng: Random) -> float:
    """A number of a range."""
    return float(rng.uniform(*amount)) if isinstance(amount, tuple) else float(amount)


@dataclass(frozen=True)
class Drawn:
    """A motion, with what its joints do besides."""

    motion: Motion
    joints: dict[str, Floats]


def draw(phases: tuple[Phase, ...], dt: float, seconds: float, rng: Random) -> Drawn:
    """A motion of a script; phases that do not fit into the episode are cut off."""
    motion = Motion.standing(dt, seconds).striding(float(rng.uniform(1.6, 2.4)), float(rng.uniform(0.0, 6.0)))
    joints: dict[str, Floats] = {}
    lengths = [None if phase.seconds is None else drawn(phase.seconds, rng) for phase in phases]
    left = max(0.0, seconds - sum(length for length in lengths if length is not None))
    rests = max(1, lengths.count(None))
    start = 0.0
    for phase, length in zip(phases, lengths, strict=True):
        lasting = left / rests if length is None else length
        motion = _with_phase(motion, joints, phase, (start, lasting), rng)
        start += lasting
    return Drawn(motion, joints)


def _with_phase(
    motion: Motion, joints: dict[str, Floats], phase: Phase, place: tuple[float, float], rng: Random
) -> Motion:
    start, lasting = place
    if lasting <= 0.0:
        return motion
    t = motion.t
    ends = start + lasting if start + lasting < motion.seconds - 1e-6 else np.inf
    inside = during(t, start, ends)
    eased = (ramp(t, start, EASE_S) if start else np.ones_like(t)) - (ramp(t, ends, EASE_S) if ends < np.inf else 0.0)
    gone = np.clip(t - start, 0.0, lasting)
    held = ramp(t, start, POSE_S) if start else np.ones_like(t)
    if ends < np.inf:
        held = held - ramp(t, ends, POSE_S)
    yaw, pitch, roll = (2.0 * np.pi * drawn(amount, rng) for amount in (phase.yaw, phase.pitch, phase.roll))
    lift, over = _flights(t, phase, place, rng)
    if phase.bounce:
        lift = lift + inside * phase.bounce * np.maximum(0.0, np.sin(2.0 * np.pi * motion.stride_hz * (t - start)))
    hz = drawn(phase.hz, rng)
    for joint, offset in phase.pose.items():
        joints[joint] = joints.get(joint, 0.0) + drawn(offset, rng) * held
    for beats, sign in ((phase.beats, 1.0), (phase.offbeats, -1.0)):
        swing = 0.5 - 0.5 * sign * np.cos(2.0 * np.pi * hz * (t - start))
        for joint, reach in beats.items():
            joints[joint] = joints.get(joint, 0.0) + drawn(reach, rng) * swing * inside
    rocking = phase.rock * np.sin(2.0 * np.pi * motion.stride_hz * t + motion.phase)
    return motion.plus(
        x=drawn(phase.vx, rng) * gone,
        y=drawn(phase.vy, rng) * gone,
        lift=lift,
        yaw=yaw * ramp(t, start, lasting),
        pitch=pitch * over + drawn(phase.lean, rng) * held + rocking * eased,
        roll=roll * (over if phase.flights else ramp(t, start, lasting)),
        sway=phase.sway * eased,
        bend=drawn(phase.bend, rng) * held,
        effort=drawn(phase.effort, rng) * inside,
    )


def _flights(t: Floats, phase: Phase, place: tuple[float, float], rng: Random) -> tuple[Floats, Floats]:
    """Height of the flights [m], and the share of the turning over that is done."""
    start, lasting = place
    if not phase.flights:
        return np.zeros_like(t), ramp(t, start, lasting)
    height = drawn(phase.height, rng)
    flying = flight_time(max(height, 0.0)) if phase.flight_s is None else drawn(phase.flight_s, rng)
    lift = np.zeros_like(t)
    over = np.zeros_like(t)
    for number in range(phase.flights):
        begins = start + lasting * (number + 0.5) / phase.flights - 0.5 * flying
        if flying > 0.0:
            lift += height * arc(t, begins, flying)
            over += ramp(t, begins + AIR * flying, (1.0 - 2.0 * AIR) * flying) / phase.flights
    return lift, over
