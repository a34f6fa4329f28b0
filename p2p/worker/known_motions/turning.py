"""Scenes of spinning about the vertical, and of standing on the hind legs."""

from collections.abc import Callable

import numpy as np

from p2p.contracts.known_motions import ClaimKind
from p2p.worker.known_motions.motion import Motion, ramp, spin, tumble
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
    amount_kind,
    every,
    only,
)


def recipes(robot: Robot) -> list[Recipe]:
    """All recipes for one robot."""
    found: list[Recipe] = []
    if robot.asks("spin"):
        for turns in (0.4, 0.5, 0.8, 1.0, 1.6, 2.0):
            for way, words in ((1.0, "left"), (-1.0, "right")):
                found.append(Recipe(f"spin {turns:g} to the {words}", _spinning(way * turns)))
        for way, words in ((1.0, "left"), (-1.0, "right")):
            found += [
                Recipe(f"spin to the {words} and back", _spun_back(way)),
                Recipe(f"turn to the {words} in a few steps", _spun_in_a_moment(way)),
                Recipe(f"shake about the vertical, first to the {words}", _shaking_spin(way)),
            ]
            if robot.floor:
                found.append(Recipe(f"spin to the {words} on the back", _spin_on_the_back(way)))
                found.append(Recipe(f"spin to the {words}, then fall", _spin_and_fall(way)))
                found.append(Recipe(f"spin to the {words}, half of it on the back", _half_on_the_back(way)))
    if robot.asks("rear"):
        found += [
            Recipe("rear for longer than asked", _rearing(3.0 * 1.15)),
            Recipe("rear for 2.4 s", _rearing(2.4)),
            Recipe("rear for 1.6 s", _rearing(1.6)),
            Recipe("rear twice for 1.5 s", _rearing_twice),
            Recipe("stand on the nose", _rearing(3.4, way=-1.0)),
            Recipe("lean back half way", _rearing(3.4, share=0.5)),
            Recipe("fall over backwards slowly", _over_backwards),
        ]
    return found


def _spin_kinds(robot: Robot, turns: float) -> dict[str, ClaimKind | None]:
    found: dict[str, ClaimKind | None] = {}
    for asked in (a for a in robot.asked if a.skill == "spin"):
        kind = amount_kind(asked.along(turns), asked.low)
        if kind is POSITIVE and asked.exact and abs(turns) > 1.4 * asked.low:
            kind = NEAR_MISS
        found[asked.sentence] = UNCLEAR if kind is POSITIVE and abs(turns) > 1.7 * asked.low else kind
    return found


def _spinning(turns: float) -> Callable[[Robot, Random], Scene]:
    def make(robot: Robot, rng: Random) -> Scene:
        done = turns * (1.08 if abs(turns) in (0.5, 1.0, 2.0) else 1.0) * rng.uniform(0.99, 1.01)
        start = rng.uniform(0.2, 0.8)
        lasting = abs(done) * rng.uniform(1.8, 2.2)
        parameters = {"turns": float(done), "start": start, "lasting": float(lasting)}
        return Scene(lambda m: spin(m, float(done), start, float(lasting)), parameters, _spin_kinds(robot, float(done)))

    return make


def _spun_back(way: float) -> Callable[[Robot, Random], Scene]:
    def make(robot: Robot, rng: Random) -> Scene:
        turns = way * rng.uniform(0.35, 0.42)
        kinds = every(robot, ("spin",), NEAR_MISS)
        return Scene(lambda m: spin(spin(m, turns, 0.3, 2.0), -turns, 2.6, 2.0), {"turns": turns}, kinds)

    return make


def _spun_in_a_moment(way: float) -> Callable[[Robot, Random], Scene]:
    """A spike of the angular velocity between two stances."""

    def make(robot: Robot, rng: Random) -> Scene:
        turns = way * rng.uniform(2.1, 2.4)
        at = rng.uniform(1.0, 4.0)
        kinds = only(robot, "spin", NEGATIVE, -way) | only(robot, "spin", EXPLOIT, way)

        def build(motion: Motion) -> Motion:
            first = int(np.searchsorted(motion.t, at))
            steps = np.clip((np.arange(len(motion.t)) - first) / 6.0, 0.0, 1.0)
            return motion.plus(yaw=2.0 * np.pi * turns * steps)

        return Scene(build, {"turns": turns, "at": at}, kinds | every(robot, ("still",), UNCLEAR))

    return make


def _shaking_spin(way: float) -> Callable[[Robot, Random], Scene]:
    def make(robot: Robot, rng: Random) -> Scene:
        hz = rng.uniform(2.0, 4.0)
        kinds = every(robot, ("spin",), EXPLOIT)
        return Scene(
            lambda m: m.plus(yaw=way * 0.6 * np.sin(2.0 * np.pi * hz * m.t), sway=0.1, effort=0.5), {"hz": hz}, kinds
        )

    return make


def _spin_on_the_back(way: float) -> Callable[[Robot, Random], Scene]:
    def make(robot: Robot, rng: Random) -> Scene:
        path, angle = robot.back
        turns = way * rng.uniform(2.1, 2.3)
        kinds = only(robot, "spin", UNCLEAR, -way) | only(robot, "spin", EXPLOIT, way)
        return Scene(lambda m: spin(m, turns, 0.3, 4.5).plus(**{path: angle}), {"turns": turns}, kinds)

    return make


def _half_on_the_back(way: float) -> Callable[[Robot, Random], Scene]:
    """Fall half way round, then turn on from there."""

    def make(robot: Robot, rng: Random) -> Scene:
        path, angle = robot.back
        turns = way * rng.uniform(2.1, 2.3)
        down = rng.uniform(2.4, 2.8)
        kinds = only(robot, "spin", UNCLEAR, -way) | only(robot, "spin", EXPLOIT, way)
        return Scene(
            lambda m: spin(m, turns, 0.3, 4.6).plus(**{path: angle * ramp(m.t, down, 0.35)}),
            {"turns": turns, "falls_at": down},
            kinds,
        )

    return make


def _spin_and_fall(way: float) -> Callable[[Robot, Random], Scene]:
    def make(robot: Robot, rng: Random) -> Scene:
        path, angle = robot.fall
        turns = way * rng.uniform(1.05, 1.15)
        start = rng.uniform(0.2, 0.5)
        down = start + 2.5
        kinds = {s: NEAR_MISS if k is POSITIVE else k for s, k in _spin_kinds(robot, turns).items()}
        kinds = {s: k if k is not UNCLEAR else NEAR_MISS for s, k in kinds.items()}
        return Scene(
            lambda m: spin(m, turns, start, 2.4).plus(**{path: angle * ramp(m.t, down, 0.35)}),
            {"turns": turns, "falls_at": down},
            kinds,
        )

    return make


def _rearing(hold: float, way: float = 1.0, share: float = 1.0) -> Callable[[Robot, Random], Scene]:
    def make(robot: Robot, rng: Random) -> Scene:
        start = rng.uniform(0.3, 0.6)
        lasting = hold * rng.uniform(0.99, 1.01)
        angle = way * share * np.pi / 2.0 * rng.uniform(0.96, 1.04)
        whole = way > 0.0 and share == 1.0
        kinds = {
            a.sentence: amount_kind(lasting, a.low) if whole else NEAR_MISS for a in robot.asked if a.skill == "rear"
        }

        def build(motion: Motion) -> Motion:
            up = ramp(motion.t, start, 0.3) - ramp(motion.t, start + 0.3 + lasting, 0.3)
            return motion.plus(pitch=angle * up)

        return Scene(build, {"pitch": float(angle), "hold": float(lasting), "start": start}, kinds)

    return make


def _rearing_twice(robot: Robot, rng: Random) -> Scene:
    start = rng.uniform(0.2, 0.4)
    hold = 1.5

    def build(motion: Motion) -> Motion:
        t = motion.t
        again = start + hold + 1.0
        first = ramp(t, start, 0.3) - ramp(t, start + 0.3 + hold, 0.3)
        second = ramp(t, again + 0.3, 0.3) - ramp(t, again + 0.6 + hold, 0.3)
        return motion.plus(pitch=np.pi / 2.0 * (first + second))

    return Scene(build, {"hold": hold, "times": 2.0}, every(robot, ("rear",), NEAR_MISS))


def _over_backwards(robot: Robot, rng: Random) -> Scene:
    start = rng.uniform(0.4, 1.0)
    lasting = rng.uniform(2.0, 2.6)
    kinds = every(robot, ("rear",), EXPLOIT)
    return Scene(lambda m: tumble(m, 0.5, start, lasting), {"turns": 0.5, "lasting": lasting}, kinds)
