"""Edits of motions, as paths."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from p2p.worker.known_motions.motion import Motion, ramp

Floats = NDArray[np.float64]
PATHS = ("x", "y", "lift", "roll", "pitch", "yaw", "sway", "bend", "effort")
MOVED = 1e-6
"""Change of a path from one state to the next from which on something happens [m] or [rad]."""


def edited(motion: Motion, steps: NDArray[np.int_]) -> Motion:
    """A motion with the steps of another in a new order.

    Args:
        motion: Where the steps come from.
        steps: Number of an old step for each new one, shape (T,); -1 changes nothing.
    """
    changed = {}
    for name in PATHS:
        path = getattr(motion, name)
        moves = np.append(np.diff(path), 0.0)[steps]
        changed[name] = np.concatenate([[0.0], np.cumsum(moves)]) + path[0] - path
    return motion.plus(**changed)


def along(motion: Motion, times: Floats) -> Motion:
    """A motion whose place is where it was at other times, shape (T + 1,) [s]; all else stays."""
    return replace(motion, x=np.interp(times, motion.t, motion.x), y=np.interp(times, motion.t, motion.y))


def calmed(motion: Motion, start: float) -> Motion:
    """A motion that stops stepping, leaving the floor and driving its motors within 0.2 s."""
    left = 1.0 - ramp(motion.t, start, 0.2)
    return replace(motion, sway=motion.sway * left, lift=motion.lift * left, effort=motion.effort * left)


def scaled_turns(motion: Motion, factor: float) -> Motion:
    """A motion that turns so many times as far, about all axes."""
    return replace(motion, roll=factor * motion.roll, pitch=factor * motion.pitch, yaw=factor * motion.yaw)


def events(motion: Motion) -> list[tuple[int, int]]:
    """First step and end of each stretch in which it leaves the floor or turns."""
    moving = np.zeros(len(motion.t) - 1, dtype=bool)
    for name in ("lift", "roll", "pitch", "yaw"):
        moving |= np.abs(np.diff(getattr(motion, name))) > MOVED
    edges = np.flatnonzero(np.diff(np.concatenate([[False], moving, [False]]).astype(int)))
    starts = edges[::2]
    ends = edges[1::2]
    found: list[tuple[int, int]] = []
    for start, end in zip(starts, ends, strict=True):
        if found and start - found[-1][1] <= 1:  # the apex of a flight, where it does not move
            found[-1] = (found[-1][0], int(end))
        else:
            found.append((int(start), int(end)))
    return found
