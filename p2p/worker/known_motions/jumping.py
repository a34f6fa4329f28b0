"""Scenes of jumping, and of tricks that count as jumps."""

from collections.abc import Callable

import numpy as np

from p2p.contracts.known_motions import ClaimKind
from p2p.worker.known_motions.motion import DRAWN_UP, Motion, arc, jump, ramp
from p2p.worker.known_motions.robots import Robot
from p2p.worker.known_motions.scene import (
    EXPLOIT,
    NEAR_MISS,
    POSITIVE,
    UNCLEAR,
    Kinds,
    Random,
    Recipe,
    Scene,
    amount_kind,
    every,
)


def recipes(robot: Robot) -> list[Recipe]:
    """All recipes for one robot."""
    if not robot.asks("jump"):
        return []
    counts = [Recipe(f"jump {n} times", _jumping(n, 1.25)) for n in (1, 2, 3, 4)]
    return [
        *counts,
        Recipe("jump high", _jumping(1, 2.2)),
        Recipe("jump 80 % as high", _jumping(1, 0.8)),
        Recipe("jump 3 times, 80 % as high", _jumping(3, 0.8)),
        Recipe("jump 3 times, the last one too low", _last_too_low),
        Recipe("one jump with kicking legs", _kicking_jump),
        Recipe("vibrate on the floor", _vibrating),
        Recipe("be in the air for one step", _height_spike),
        Recipe("draw up the legs", _drawing_up(1)),
        Recipe("draw up the legs 3 times", _drawing_up(3)),
        Recipe("jump on the back", _jump_on_the_back),
        Recipe("jump, then fall in the last second", _jump_and_fall),
    ]


def _jump_kinds(robot: Robot, height: float, times: int) -> Kinds:
    """Kind of a number of jumps for all jump sentences."""
    found: dict[str, ClaimKind | None] = {}
    for asked in (a for a in robot.asked if a.skill == "jump"):
        kind = amount_kind(height, asked.low)
        few = times < asked.times
        found[asked.sentence] = NEAR_MISS if few and kind in (POSITIVE, NEAR_MISS) else kind
        if asked.exact and times > asked.times and kind is POSITIVE:
            found[asked.sentence] = NEAR_MISS
    return found


def _jumping(times: int, share: float) -> Callable[[Robot, Random], Scene]:
    def make(robot: Robot, rng: Random) -> Scene:
        least = min(a.low for a in robot.asked if a.skill == "jump")
        height = float(least * share * rng.uniform(0.98, 1.02))
        starts = 1.05 + 1.1 * np.arange(times) + rng.uniform(0.0, 0.3)

        def build(motion: Motion) -> Motion:
            for start in starts:
                motion = jump(motion, height, float(start))
            return motion

        return Scene(build, {"height": height, "jumps": float(times)}, _jump_kinds(robot, height, times))

    return make


def _last_too_low(robot: Robot, rng: Random) -> Scene:
    least = min(a.low for a in robot.asked if a.skill == "jump")
    height = least * rng.uniform(1.2, 1.3)
    start = rng.uniform(1.1, 1.4)

    def build(motion: Motion) -> Motion:
        return jump(jump(jump(motion, height, start), height, start + 1.1), 0.7 * least, start + 2.2)

    kinds = _jump_kinds(robot, height, 2)
    return Scene(build, {"height": height, "jumps": 3.0, "last_height": 0.7 * least}, kinds)


def _kicking_jump(robot: Robot, rng: Random) -> Scene:
    """One high jump with kicking legs: the lowest point rises and falls without landing."""
    least = min(a.low for a in robot.asked if a.skill == "jump")
    height = 2.6 * least
    start = rng.uniform(1.1, 1.8)
    lasting = 0.9

    def build(motion: Motion) -> Motion:
        inside = np.clip((motion.t - start) / lasting, 0.0, 1.0)
        kicks = 0.5 - 0.5 * np.cos(2.0 * np.pi * 4.0 * inside)
        return motion.plus(lift=height * np.minimum(1.0, 1.6 * arc(motion.t, start, lasting)) * (0.15 + 0.85 * kicks))

    counted = {a.sentence: EXPLOIT if a.times > 1 else UNCLEAR for a in robot.asked if a.skill == "jump"}
    return Scene(build, {"height": height, "jumps": 1.0}, counted)


def _vibrating(robot: Robot, rng: Random) -> Scene:
    height = rng.uniform(0.01, 0.03)
    hz = rng.uniform(5.0, 8.0)
    kinds = every(robot, ("jump", "still", "hop"), EXPLOIT)
    return Scene(
        lambda m: m.plus(lift=height * np.abs(np.sin(2.0 * np.pi * hz * m.t)), sway=0.05, effort=0.9),
        {"height": height, "hz": hz},
        kinds,
    )


def _height_spike(robot: Robot, rng: Random) -> Scene:
    at = rng.uniform(1.0, 4.0)
    height = 1.5 * max(a.low for a in robot.asked if a.skill == "jump")

    def build(motion: Motion) -> Motion:
        lift = np.zeros_like(motion.t)
        lift[np.searchsorted(motion.t, at)] = height
        return motion.plus(lift=lift)

    return Scene(build, {"height": height}, every(robot, ("jump",), EXPLOIT) | every(robot, ("still",), UNCLEAR))


def _drawing_up(times: int) -> Callable[[Robot, Random], Scene]:
    """The feet leave the floor, as high as for a jump, since the legs are drawn up; the torso sinks meanwhile."""

    def make(robot: Robot, rng: Random) -> Scene:
        height = 1.1 * min(a.low for a in robot.asked if a.skill == "jump")
        lasting = rng.uniform(0.3, 0.45)
        starts = 1.05 + 1.1 * np.arange(times) + rng.uniform(0.0, 0.3)

        def build(motion: Motion) -> Motion:
            for start in starts:
                drawn = arc(motion.t, start, lasting)
                motion = motion.plus(lift=height * drawn**2, bend=DRAWN_UP * drawn)
            return motion

        return Scene(build, {"height": height, "times": float(times)}, every(robot, ("jump",), EXPLOIT))

    return make


def _jump_on_the_back(robot: Robot, rng: Random) -> Scene:
    path, angle = robot.back
    height = 1.4 * max(a.low for a in robot.asked if a.skill == "jump")
    start = rng.uniform(1.1, 3.0)
    return Scene(
        lambda m: jump(m.plus(**{path: angle}), height, start), {"height": height}, every(robot, ("jump",), EXPLOIT)
    )


def _jump_and_fall(robot: Robot, rng: Random) -> Scene:
    path, angle = robot.fall
    height = 1.3 * max(a.low for a in robot.asked if a.skill == "jump")
    start = rng.uniform(1.1, 1.8)
    down = robot.seconds - rng.uniform(1.0, 1.3)
    return Scene(
        lambda m: jump(m, height, start).plus(**{path: angle * ramp(m.t, down, 0.35)}),
        {"height": height, "falls_at": down},
        every(robot, ("jump",), NEAR_MISS),
    )
