"""Scenes of turning over: in the air, by half, on the floor, and rolling."""

from collections.abc import Callable

import numpy as np

from p2p.contracts.known_motions import ClaimKind
from p2p.worker.known_motions.motion import Motion, arc, during, flip, ramp, tumble
from p2p.worker.known_motions.robots import Robot
from p2p.worker.known_motions.scene import (
    EXPLOIT,
    NEAR_MISS,
    NEGATIVE,
    POSITIVE,
    UNCLEAR,
    Random,
    Recipe,
    Scene,
    every,
)

FLIP_S = 0.7
FLIP_HEIGHT = 0.6
"""Of a flip: time [s], and height of the lowest point [m]."""


def recipes(robot: Robot) -> list[Recipe]:
    """All recipes for one robot."""
    found: list[Recipe] = []
    if robot.asks("flip"):
        found.append(Recipe("jump without turning", _flipping(0.0)))
        for turns in (0.5, 1.0, 2.0):
            for way, words in ((1.0, "backward"), (-1.0, "forward")):
                found.append(Recipe(f"flip {turns:g} {words}", _flipping(way * turns)))
        for way, words in ((1.0, "backward"), (-1.0, "forward")):
            found += [
                Recipe(f"flip {words}, and fall at once", _flip_without_landing(way)),
                Recipe(f"flip {words} one and a half times, onto the back", _flipping(1.5 * way)),
                Recipe(f"flip {words} half way, and undo it", _undone(way)),
                Recipe(f"flip {words} too far, and rock back onto the feet", _too_far(way)),
                Recipe(f"turn over {words}, half in the air and half on the floor", _half_in_the_air(way)),
                Recipe(f"turn over {words} on the floor", _tumbling(way, 1.0)),
                Recipe(f"turn over {words} on the floor in 0.4 s", _tumbling(way, 1.0, seconds=0.4)),
                Recipe(f"turn over {words} on a vibrating back", _tumbling(way, 1.0, flicker=0.015)),
                Recipe(f"turn over {words} in two steps", _turned_in_two_steps(way)),
            ]
    if robot.asks("roll"):
        found += [
            Recipe("roll over", _rolling(1.0)),
            Recipe("roll half way over", _rolling(0.5)),
            Recipe("roll over the wrong way", _rolling(-1.0)),
            Recipe("turn over in the air in place of rolling", _roll_in_the_air),
        ]
    return found


def _flipping(turns: float) -> Callable[[Robot, Random], Scene]:
    def make(robot: Robot, rng: Random) -> Scene:
        start = rng.uniform(1.1, 1.6)
        lasting = (FLIP_S + 0.4 * max(0.0, abs(turns) - 1.0)) * rng.uniform(0.95, 1.15)
        height = FLIP_HEIGHT * rng.uniform(0.9, 1.2)
        # Kind of an aerial flip with landing for all flip sentences; half a turn is no flip.
        flips: dict[str, ClaimKind | None] = {}
        for asked in (a for a in robot.asked if a.skill == "flip"):
            done = turns * asked.way
            if turns == 0.0:
                flips[asked.sentence] = NEGATIVE
            elif done == asked.low:
                flips[asked.sentence] = POSITIVE
            else:
                flips[asked.sentence] = UNCLEAR if done == 2.0 else NEAR_MISS
        kinds = flips | every(robot, ("jump",), UNCLEAR)
        parameters = {"turns": turns, "start": start, "lasting": lasting, "height": height}
        return Scene(lambda m: flip(m, turns, start, lasting, height), parameters, kinds)

    return make


def _missed(robot: Robot, kind: ClaimKind) -> dict[str, ClaimKind | None]:
    return every(robot, ("flip",), kind) | every(robot, ("jump",), UNCLEAR)


def _flip_without_landing(way: float) -> Callable[[Robot, Random], Scene]:
    """A flip that keeps turning at touch-down and ends on the back or the nose."""

    def make(robot: Robot, rng: Random) -> Scene:
        start = rng.uniform(1.1, 1.6)
        more = 0.5 if way > 0.0 else rng.choice([0.25, 0.5])

        def build(motion: Motion) -> Motion:
            over = flip(motion, way, start, FLIP_S, FLIP_HEIGHT)
            return tumble(over, float(way * more), start + 0.8 * FLIP_S, 0.3)

        return Scene(build, {"turns": way, "start": start, "more": float(more)}, _missed(robot, NEAR_MISS))

    return make


def _undone(way: float) -> Callable[[Robot, Random], Scene]:
    def make(robot: Robot, rng: Random) -> Scene:
        start = rng.uniform(1.1, 1.5)

        def build(motion: Motion) -> Motion:
            half = flip(motion, 0.6 * way, start, FLIP_S, FLIP_HEIGHT)
            return flip(half, -0.6 * way, start + 1.2, FLIP_S, FLIP_HEIGHT)

        return Scene(build, {"turns": 0.6 * way, "start": start}, _missed(robot, NEAR_MISS))

    return make


def _too_far(way: float) -> Callable[[Robot, Random], Scene]:
    """A flip that comes down past its feet, and is pushed up onto them from there."""

    def make(robot: Robot, rng: Random) -> Scene:
        start = rng.uniform(1.1, 1.5)
        more, back_s = rng.uniform(0.25, 0.35), rng.uniform(0.2, 0.4)

        def build(motion: Motion) -> Motion:
            over = flip(motion, (1.0 + more) * way, start, FLIP_S, FLIP_HEIGHT)
            return tumble(over, -more * way, start + FLIP_S, back_s)

        missed = {
            asked.sentence: UNCLEAR if asked.way == way and not asked.lands else NEAR_MISS
            for asked in robot.asked
            if asked.skill == "flip"
        }
        kinds = missed | every(robot, ("jump",), UNCLEAR)
        return Scene(build, {"turns": way, "start": start, "more": more}, kinds)

    return make


def _half_in_the_air(way: float) -> Callable[[Robot, Random], Scene]:
    """A leap onto the back, and over onto the feet from there."""

    def make(robot: Robot, rng: Random) -> Scene:
        start = rng.uniform(1.1, 1.6)
        leap = rng.uniform(0.4, 0.55)

        def build(motion: Motion) -> Motion:
            half = flip(motion, 0.5 * way, start, leap, 0.4)
            return tumble(half, 0.5 * way, start + leap, rng.uniform(0.25, 0.4))

        return Scene(build, {"turns": way, "start": start, "leap": leap}, _missed(robot, EXPLOIT))

    return make


def _tumbling(way: float, turns: float, seconds: float = 1.0, flicker: float = 0.0) -> Callable[[Robot, Random], Scene]:
    """A full turn without a leap."""

    def make(robot: Robot, rng: Random) -> Scene:
        start = rng.uniform(1.1, 1.6)
        hz = rng.uniform(6.0, 8.0)

        def build(motion: Motion) -> Motion:
            rolling = during(motion.t, start, start + seconds)
            lift = flicker * np.abs(np.sin(2.0 * np.pi * hz * motion.t)) * rolling
            return tumble(motion, way * turns, start, seconds).plus(lift=lift)

        kinds = every(robot, ("flip",), EXPLOIT) | every(robot, ("jump",), NEGATIVE) | every(robot, ("roll",), UNCLEAR)
        return Scene(build, {"turns": way * turns, "start": start, "lasting": seconds, "height": flicker}, kinds)

    return make


def _turned_in_two_steps(way: float) -> Callable[[Robot, Random], Scene]:
    """A spike of the angular velocity, airborne only as long."""

    def make(robot: Robot, rng: Random) -> Scene:
        at = rng.uniform(1.0, 3.0)

        def build(motion: Motion) -> Motion:
            first = int(np.searchsorted(motion.t, at))
            pitch = np.zeros_like(motion.t)
            lift = np.zeros_like(motion.t)
            pitch[first] = 0.34
            pitch[first + 1] = 0.67
            pitch[first + 2 :] = 1.0
            lift[first : first + 2] = 0.3
            return motion.plus(pitch=2.0 * np.pi * way * pitch, lift=lift)

        kinds = every(robot, ("flip",), EXPLOIT) | every(robot, ("jump", "still", "roll"), UNCLEAR)
        return Scene(build, {"turns": way, "at": at, "height": 0.3}, kinds)

    return make


def _turned(robot: Robot, motion: Motion, turns: float, start: float, seconds: float) -> Motion:
    path = "roll" if robot.sideways else "pitch"
    return motion.plus(**{path: 2.0 * np.pi * turns * ramp(motion.t, start, seconds)})


def _rolling(share: float) -> Callable[[Robot, Random], Scene]:
    def make(robot: Robot, rng: Random) -> Scene:
        (asked,) = (a for a in robot.asked if a.skill == "roll")
        start = rng.uniform(1.1, 1.8)
        seconds = rng.uniform(1.2, 2.0)
        kinds = {asked.sentence: POSITIVE if share == 1.0 else NEAR_MISS} | every(robot, ("flip",), EXPLOIT)
        parameters = {"turns": asked.way * share, "start": start, "lasting": seconds}
        return Scene(lambda m: _turned(robot, m, asked.way * share, start, seconds), parameters, kinds)

    return make


def _roll_in_the_air(robot: Robot, rng: Random) -> Scene:
    (asked,) = (a for a in robot.asked if a.skill == "roll")
    start = rng.uniform(1.1, 1.8)
    kinds = {asked.sentence: NEAR_MISS} | every(robot, ("jump", "flip"), UNCLEAR)
    return Scene(
        lambda m: _turned(robot, m.plus(lift=0.6 * arc(m.t, start, 0.7)), asked.way, start + 0.05, 0.6),
        {"turns": asked.way, "height": 0.6},
        kinds,
    )
