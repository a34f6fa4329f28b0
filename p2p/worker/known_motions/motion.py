"""Motions as paths over time; their truth follows from the paths."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DRAWN_UP = 1.5
"""Bend of legs that are drawn up: the torso sinks by more than any robot's feet are lifted."""


@dataclass(frozen=True)
class Motion:
    """Paths at the times `t`, each of shape (T + 1,)."""

    t: Floats
    """[s]."""
    x: Floats
    """Forward [m]."""
    y: Floats
    """To the left [m]."""
    lift: Floats
    """Of the lowest point above where it rests on the floor [m]."""
    roll: Floats
    """Right side down positive [rad]."""
    pitch: Floats
    """Nose up positive [rad]."""
    yaw: Floats
    """To the left positive [rad]."""
    sway: Floats
    """Amplitude of the joints [rad]."""
    bend: Floats
    """Share of the crouch, 0 standing and 1 as low as its legs let it."""
    effort: Floats
    """Amplitude of the actions, as a share of their range."""
    stride_hz: float = 2.0
    phase: float = 0.0
    braced: bool = False
    """Whether the actions are held and do not swing."""
    limp: int | None = None
    """Seed of a start from which it is let go and simulated, with no action; the paths say nothing then."""

    @classmethod
    def standing(cls, dt: float, seconds: float) -> Self:
        """Stand still."""
        t = dt * np.arange(round(seconds / dt) + 1, dtype=np.float64)
        zero = np.zeros_like(t)
        return cls(t, zero, zero, zero, zero, zero, zero, zero, zero, zero)

    def striding(self, stride_hz: float, phase: float = 0.0) -> Self:
        """The same motion with another gait: stride frequency [1/s] and phase [rad]."""
        return replace(self, stride_hz=stride_hz, phase=phase)

    @property
    def seconds(self) -> float:
        """Length [s]."""
        return float(self.t[-1])

    def plus(self, **paths: Floats | float) -> Self:
        """Add paths to the motion."""
        return replace(self, **{name: getattr(self, name) + path for name, path in paths.items()})


def ramp(t: Floats, start: float, seconds: float) -> Floats:
    """0 before `start`, rising smoothly to 1 within `seconds`."""
    s = np.clip((t - start) / seconds, 0.0, 1.0)
    return np.asarray(s * s * (3.0 - 2.0 * s))


def arc(t: Floats, start: float, seconds: float) -> Floats:
    """Parabola of height 1: free flight."""
    s = np.clip((t - start) / seconds, 0.0, 1.0)
    return np.asarray(4.0 * s * (1.0 - s))


def during(t: Floats, start: float, end: float) -> Floats:
    """1 between two times, else 0."""
    return np.asarray((t >= start) & (t < end), dtype=np.float64)


def travel(motion: Motion, vx: float = 0.0, vy: float = 0.0, until: float | None = None, sway: float = 0.3) -> Motion:
    """Travel with a gait; the mean velocity over `until` seconds, or all of it, is the requested one."""
    end = motion.seconds if until is None else until
    gone = np.minimum(motion.t, end)
    walking = sway * during(motion.t, 0.0, end)
    return motion.plus(x=vx * gone, y=vy * gone, sway=walking, effort=walking)


def flip(motion: Motion, turns: float, start: float, seconds: float, height: float) -> Motion:
    """Turn over in the air, backward positive; the turn begins after take-off and ends before landing."""
    t = motion.t
    air = 0.08 * seconds
    turned = 2.0 * np.pi * turns * ramp(t, start + air, seconds - 2.0 * air)
    return motion.plus(pitch=turned, lift=height * arc(t, start, seconds))


def tumble(motion: Motion, turns: float, start: float, seconds: float) -> Motion:
    """Turn over without leaving the floor, backward positive."""
    return motion.plus(pitch=2.0 * np.pi * turns * ramp(motion.t, start, seconds))


def jump(motion: Motion, height: float, start: float) -> Motion:
    """One jump, in free flight."""
    return motion.plus(lift=height * arc(motion.t, start, flight_time(height)))


def flight_time(height: float) -> float:
    """Duration of a jump [s]."""
    return float(2.0 * np.sqrt(2.0 * height / 9.81))


def spin(motion: Motion, turns: float, start: float, seconds: float) -> Motion:
    """Turn about the vertical on stepping feet; left is positive."""
    turned = 2.0 * np.pi * turns * ramp(motion.t, start, seconds)
    return motion.plus(yaw=turned, sway=0.1 * during(motion.t, start, start + seconds))
