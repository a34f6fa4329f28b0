"""Choose the moments of a rollout to show, by events: even sampling would miss a flip.

Where nothing happens they are spread with jitter: evenly spaced, a gait would show the same pose in all of them.
"""

import hashlib
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
WIDE = 60.0
WIDEST = 90.0
TOO_WIDE = 120.0
"""Angles between neighbouring frames: aimed at, good, and still shown with a note; beyond, a turn might be one the
other way [deg]."""
SHORTEST_FLIGHT_S = 0.08
"""Of a flip; less is a bounce [s]."""
JUMP = 0.12
LOWEST_JUMP_M = 0.1
"""Clearance of a jump worth showing, as a share of the height at rest, and at least [m]."""
HIGH_JUMP = 0.6
LOWEST_HIGH_JUMP_M = 0.4
"""The same of jumps that are shown however many there are; others may be a gait."""
GAIT = 6
"""As many flights at least half as high are a gait, not jumps, unless they are high."""
JUMP_WORDS = (("take-off", "apex", "landing"), ("apex", "landing"), ("apex",))
"""What is shown of each jump, the most that there is room for."""
JITTER = 0.7
"""Range within which moments without an event are displaced, as a share of the distance to the next."""


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
    """Choose eight to twelve moments that show what happened.

    Args:
        features: Name -> values after every control step, shape (T,).
        dt: Control period [s].
        rest_height: Height of the torso at rest [m].
    """
    length = len(next(iter(features.values())))
    rotation = max((name for name in ROTATIONS if name in features), key=lambda n: np.ptp(features[n]), default=None)
    words = {length - 1: "end", 0: "start"} | _incidents(features, dt)
    # Reproducible generator, seeded by the rollout's first state and hence by its reset. Rounded, so that the last
    # bits of a processor's arithmetic change nothing.
    first = ",".join(f"{float(values[0]):.4g}" for values in features.values())
    random = np.random.default_rng(int.from_bytes(hashlib.sha256(first.encode()).digest()[:8]))
    if rotation is not None and np.ptp(features[rotation]) >= A_TURN:
        return _turning(features, rotation, words, dt, random)
    flights = _flights(features["airborne"]) if "airborne" in features else []
    jumps = _jumps(features, flights, rest_height)
    if jumps:
        words = _words_of_jumps(features, jumps, words)
        middle = {sum(jumps[0]) // 2} if len(jumps) == 1 else set()
        count = next((count for count in COUNTS if count >= len(words)), COUNTS[-1])
        longest = max((end - start) * dt for start, end in jumps)
        note = (
            f"jump, {longest:.2f} s in the air" if len(jumps) == 1 else f"{len(jumps)} jumps, {longest:.2f} s at most"
        )
        return _finished(_spread(set(words) | middle, None, count, random), words, note, rotation)
    if len(words) == 2:
        flown = f" ({len(flights)} flights)" if flights else ""
        gap = (length - 1) * dt / (COUNTS[0] - 1)
        note = f"no single event{flown}: about every {gap:.2f} s, at random"
        # Both ends and evenly spaced steps between, each displaced by another share of the distance, in random order.
        # Displacements are spread evenly over `JITTER`, so that no period fits all of them.
        count = COUNTS[0]
        even = np.linspace(0, length - 1, count)
        shares = (random.permutation(count - 2) + 0.5) / (count - 2) - 0.5
        even[1:-1] += shares * JITTER * (length - 1) / (count - 1)
        return _finished({round(step) for step in even}, words, note, rotation)
    return _finished(_spread(set(words), None, COUNTS[0], random), words, "frames around events", rotation)


def _turning(
    features: Mapping[str, Floats], rotation: str, words: dict[int, str], dt: float, random: np.random.Generator
) -> KeyFrames:
    degrees = 360.0 * features[rotation]
    times = features["time"]
    begin, end = _turn(degrees)
    whole = np.copysign(np.ptp(degrees), degrees[end] - degrees[begin])
    note = f"{rotation.removesuffix('_turns')} {whole:+.0f} deg, {times[begin]:.2f}-{times[end]:.2f} s"
    middle = begin + int(np.argmax(np.abs(degrees[begin : end + 1] - degrees[begin]) >= np.ptp(degrees) / 2))
    flights = _flights(features["airborne"]) if "airborne" in features else []
    flight = next((flight for flight in flights if flight[0] <= middle < flight[1]), None)
    if flight is not None and (flight[1] - flight[0]) * dt >= SHORTEST_FLIGHT_S:
        words = words | _flight_words(features, *flight)
    else:
        words = {begin: "turn starts", end: "turn ends"} | words
    for count in COUNTS:
        steps = _spread(set(words), degrees, count, random)
        if _widest(steps, degrees) <= WIDEST:
            return _finished(steps, words, note, rotation)
    if (widest := _widest(steps, degrees)) <= TOO_WIDE:
        return _finished(steps, words, f"{note}; frames up to {widest:.0f} deg apart", rotation)
    # Steps from `begin` on, each as far from the previous one as `WIDEST` allows.
    most = COUNTS[-1] - 2
    reached = [begin]
    while len(reached) < most and reached[-1] < end:
        near = np.abs(degrees[reached[-1] + 1 : end + 1] - degrees[reached[-1]]) <= WIDEST
        reached.append(reached[-1] + max(1, int(np.argmin(near)) if not near.all() else len(near)))
    first = set(reached)
    shown = abs(degrees[max(first)] - degrees[begin]) / 360
    steps = first | {0, len(degrees) - 1}
    return _finished(steps, words, f"{note}; frames 2-11 show {shown:.1f} turns", rotation)


def _incidents(features: Mapping[str, Floats], dt: float) -> dict[int, str]:
    """Moments worth a frame in any rollout."""
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
    """First step in the air and first step back on the floor, of every complete flight."""
    change = np.diff((airborne > 0.5).astype(int))
    starts = np.flatnonzero(change > 0) + 1
    ends = np.flatnonzero(change < 0) + 1
    return [(int(start), int(ends[ends > start][0])) for start in starts if (ends > start).any()]


def _jumps(features: Mapping[str, Floats], flights: list[tuple[int, int]], rest_height: float) -> list[tuple[int, int]]:
    """Flights to show, in order: at least half as high as the highest, if that is a jump."""
    tops = [float(features["clearance"][start:end].max()) for start, end in flights]
    highest = max(tops, default=0.0)
    alike = [flight for flight, top in zip(flights, tops, strict=True) if top >= highest / 2]
    if highest < max(LOWEST_JUMP_M, JUMP * rest_height):
        return []
    if len(alike) >= GAIT and highest < max(LOWEST_HIGH_JUMP_M, HIGH_JUMP * rest_height):
        return []
    return alike


def _words_of_jumps(
    features: Mapping[str, Floats], jumps: list[tuple[int, int]], others: dict[int, str]
) -> dict[int, str]:
    """Take-off, apex and landing of each jump, numbered if there are several; fewer each if there are many."""
    free = COUNTS[-1] - len(others)
    kinds = next((kinds for kinds in JUMP_WORDS if len(kinds) * len(jumps) <= free), JUMP_WORDS[-1])
    words: dict[int, str] = {}
    for number, jump in enumerate(jumps[: free // len(kinds)], start=1):
        numbered = f" {number}" if len(jumps) > 1 else ""
        moments = _flight_words(features, *jump)
        words |= {step: f"{word}{numbered}" for step, word in moments.items() if word in kinds}
    return words | others


def _flight_words(features: Mapping[str, Floats], start: int, end: int) -> dict[int, str]:
    apex = start + int(np.argmax(features["height"][start:end]))
    return {apex: "apex", start: "take-off", end: "landing"}


def _spread(steps: set[int], degrees: Floats | None, count: int, random: np.random.Generator) -> set[int]:
    """Add steps up to `count`: between neighbours with too large an angle, else in the longest gap."""
    steps = set(steps)
    last = max(steps)
    while len(steps) < min(count, last + 1):
        ordered = sorted(steps)
        pairs = [pair for pair in pairwise(ordered) if pair[1] - pair[0] > 1]
        wide = max(pairs, key=lambda pair: _apart(degrees, *pair))
        if degrees is not None and _apart(degrees, *wide) > WIDE:
            begin, end = wide
            inside = np.abs(degrees[begin + 1 : end] - (degrees[begin] + degrees[end]) / 2)
            steps.add(begin + 1 + int(np.argmin(inside)))
        else:
            left, right = max(pairs, key=lambda pair: pair[1] - pair[0])
            share = 0.5 + JITTER / 2 * (random.random() - 0.5)
            steps.add(min(max(round(left + share * (right - left)), left + 1), right - 1))
    return steps


def _apart(degrees: Floats | None, left: int, right: int) -> float:
    return 0.0 if degrees is None else float(abs(degrees[right] - degrees[left]))


def _widest(steps: set[int], degrees: Floats) -> float:
    return float(np.abs(np.diff(degrees[sorted(steps)])).max())


def _finished(steps: set[int], words: dict[int, str], note: str, rotation: str | None) -> KeyFrames:
    ordered = tuple(sorted(steps))
    return KeyFrames(ordered, tuple(words.get(step, "") for step in ordered), note, rotation)
