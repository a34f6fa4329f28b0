"""Which moments of a rollout to show: even sampling jumps over a flip, so frames are chosen by what happens."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROTATIONS = ("pitch_turns", "yaw_turns", "roll_turns")
"""Features that count turns [turns]."""
COUNTS = (8, 10, 12)
"""Numbers of frames on a sheet; more only where turns need them."""
A_TURN = 0.35
"""Rotation from which a rollout is about turning [turns]."""
WIDE, WIDEST, TOO_WIDE = 60.0, 90.0, 120.0
"""Angles between neighbouring frames: aimed at, good, and still shown with a note; beyond, a turn might be one the
other way [deg]."""
SHORTEST_FLIGHT_S = 0.08
"""Of a flip; less is a bounce [s]."""
HIGH_JUMP = 0.3
"""Clearance of a jump worth showing, as a share of the height at rest, and at least 0.2 m."""
GAIT = 4
"""As many flights at least half as high are a gait, not a jump, unless they are twice as high as a jump must be."""


@dataclass(frozen=True)
class KeyFrames:
    """Moments of a rollout, in order."""

    steps: tuple[int, ...]
    """Indices into the rollout."""
    words: tuple[str, ...]
    """What happens at each; empty for those in between."""
    note: str
    """How they were chosen."""
    rotation: str | None
    """The feature that counts the turns the robot makes most of; None where it has none."""


def choose_frames(features: Mapping[str, Floats], dt: float, rest_height: float) -> KeyFrames:
    """Eight to twelve moments that tell what happened.

    Args:
        features: Name -> values after every control step, shape (T,).
        dt: Control period [s].
        rest_height: Height of the torso at rest [m].
    """
    length = len(next(iter(features.values())))
    rotation = max((name for name in ROTATIONS if name in features), key=lambda n: np.ptp(features[n]), default=None)
    words = {length - 1: "end", 0: "start"} | _incidents(features, dt)
    if rotation is not None and np.ptp(features[rotation]) >= A_TURN:
        return _turning(features, rotation, words, dt)
    if (jump := _highest_flight(features, rest_height)) is not None:
        words |= _flight_words(features, *jump)
        steps = _spread(set(words) | {sum(jump) // 2}, None, COUNTS[0])
        note = f"jump, {(jump[1] - jump[0]) * dt:.2f} s in the air"
        return _finished(steps, words, note, rotation)
    if len(words) == 2:
        even = {round(step) for step in np.linspace(0, length - 1, COUNTS[0])}
        gap = (length - 1) * dt / (COUNTS[0] - 1)
        return _finished(even, words, f"no single event: even frames, {gap:.2f} s apart", rotation)
    return _finished(_spread(set(words), None, COUNTS[0]), words, "frames around events", rotation)


def _turning(features: Mapping[str, Floats], rotation: str, words: dict[int, str], dt: float) -> KeyFrames:
    degrees, times = 360.0 * features[rotation], features["time"]
    begin, end = _turn(degrees)
    whole = np.copysign(np.ptp(degrees), degrees[end] - degrees[begin])
    note = f"{rotation.removesuffix('_turns')} {whole:+.0f} deg, {times[begin]:.2f}-{times[end]:.2f} s"
    middle = begin + int(np.argmax(np.abs(degrees[begin : end + 1] - degrees[begin]) >= np.ptp(degrees) / 2))
    flight = _flight_at(features.get("airborne"), middle)
    if flight is not None and (flight[1] - flight[0]) * dt >= SHORTEST_FLIGHT_S:
        words = words | _flight_words(features, *flight)
    else:
        words = {begin: "turn starts", end: "turn ends"} | words
    for count in COUNTS:
        steps = _spread(set(words), degrees, count)
        if _widest(steps, degrees) <= WIDEST:
            return _finished(steps, words, note, rotation)
    if (widest := _widest(steps, degrees)) <= TOO_WIDE:
        return _finished(steps, words, f"{note}; frames up to {widest:.0f} deg apart", rotation)
    first = _first_turns(degrees, begin, end, COUNTS[-1] - 2)
    shown = abs(degrees[max(first)] - degrees[begin]) / 360
    steps = first | {0, len(degrees) - 1}
    return _finished(steps, words, f"{note}; frames 2-11 show {shown:.1f} turns", rotation)


def _incidents(features: Mapping[str, Floats], dt: float) -> dict[int, str]:
    """Moments worth a frame whatever the rollout is about."""
    incidents: dict[int, str] = {}
    if (trunk := features.get("torso_contact")) is not None:
        touches = np.flatnonzero(np.diff(trunk) > 0) + 1
        if len(touches) and touches[0] * dt >= 0.2:
            incidents[int(touches[0])] = "trunk touches"
    if (distance := features.get("target_distance")) is not None:
        incidents[int(np.argmin(distance))] = "closest"
    if (pole := features.get("pole_angle")) is not None and pole.max() > 0.5:
        incidents[int(np.argmax(pole > 0.5))] = "pole falls"
    return {step: word for step, word in incidents.items() if 0 < step < len(features["time"]) - 1}


def _turn(degrees: Floats) -> tuple[int, int]:
    """First and last step of the largest rotation one way, without its slow ends."""
    low, high = sorted((int(np.argmin(degrees)), int(np.argmax(degrees))))
    progress = np.abs(degrees[low : high + 1] - degrees[low]) / np.ptp(degrees)
    begin = int(np.flatnonzero(progress <= 0.04)[-1])  # of several attempts the last, which goes all the way
    return low + begin, low + begin + int(np.argmax(progress[begin:] >= 0.97))


def _flights(airborne: Floats) -> list[tuple[int, int]]:
    """First step in the air and first step back on the floor, of every flight that begins and ends."""
    change = np.diff((airborne > 0.5).astype(int))
    starts, ends = np.flatnonzero(change > 0) + 1, np.flatnonzero(change < 0) + 1
    return [(int(start), int(ends[ends > start][0])) for start in starts if (ends > start).any()]


def _flight_at(airborne: Floats | None, step: int) -> tuple[int, int] | None:
    if airborne is None:
        return None
    return next((flight for flight in _flights(airborne) if flight[0] <= step < flight[1]), None)


def _highest_flight(features: Mapping[str, Floats], rest_height: float) -> tuple[int, int] | None:
    if "airborne" not in features:
        return None
    clearance, flights = features["clearance"], _flights(features["airborne"])
    tops = [float(clearance[start:end].max()) for start, end in flights]
    highest, needed = max(tops, default=0.0), max(0.2, HIGH_JUMP * rest_height)
    alike = sum(top >= highest / 2 for top in tops)
    if highest < needed or (alike >= GAIT and highest < 2 * needed):
        return None
    return flights[int(np.argmax(tops))]


def _flight_words(features: Mapping[str, Floats], start: int, end: int) -> dict[int, str]:
    apex = start + int(np.argmax(features["height"][start:end]))
    return {apex: "apex", start: "take-off", end: "landing"}


def _spread(steps: set[int], degrees: Floats | None, count: int) -> set[int]:
    """Add steps up to `count`: where neighbours differ by too large an angle, else in the longest gap."""
    steps = set(steps)
    last = max(steps)
    while len(steps) < min(count, last + 1):
        ordered = sorted(steps)
        pairs = [pair for pair in pairwise(ordered) if pair[1] - pair[0] > 1]
        wide = max(pairs, key=lambda pair: _apart(degrees, *pair))
        if degrees is not None and _apart(degrees, *wide) > WIDE:
            steps.add(_halfway(degrees, *wide))
        else:
            left, right = max(pairs, key=lambda pair: pair[1] - pair[0])
            steps.add((left + right) // 2)
    return steps


def _apart(degrees: Floats | None, left: int, right: int) -> float:
    return 0.0 if degrees is None else float(abs(degrees[right] - degrees[left]))


def _halfway(degrees: Floats, left: int, right: int) -> int:
    """The step strictly between two at which half of the angle between them is passed."""
    inside = np.abs(degrees[left + 1 : right] - (degrees[left] + degrees[right]) / 2)
    return left + 1 + int(np.argmin(inside))


def _widest(steps: set[int], degrees: Floats) -> float:
    return float(np.abs(np.diff(degrees[sorted(steps)])).max())


def _first_turns(degrees: Floats, begin: int, end: int, count: int) -> set[int]:
    """Steps from `begin` on, each as far from the one before as `WIDEST` allows."""
    steps = [begin]
    while len(steps) < count and steps[-1] < end:
        near = np.abs(degrees[steps[-1] + 1 : end + 1] - degrees[steps[-1]]) <= WIDEST
        steps.append(steps[-1] + max(1, int(np.argmin(near)) if not near.all() else len(near)))
    return set(steps)


def _finished(steps: set[int], words: dict[int, str], note: str, rotation: str | None) -> KeyFrames:
    ordered = tuple(sorted(steps))
    return KeyFrames(ordered, tuple(words.get(step, "") for step in ordered), note, rotation)
