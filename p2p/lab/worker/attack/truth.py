"""Whether a motion clearly does not do what was asked, from what MuJoCo says of its states.

No feature and no predicate takes part. A check says how wrong a motion is in its respect: from 1 on it is wrong beyond
doubt, below that nothing is said. The limits stand far outside of what could be debated: somebody who looks at a film
of it is to agree.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from p2p.lab.worker.clips.policy_labels import SimulatedCourse
from p2p.worker.known_motions.motion_player import MotionPlayer, Played
from p2p.worker.known_motions.robots import KnownSentence, Robot

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
LOOK_S = 0.024
"""Least time between two states that are looked at [s]."""
STANDS, STANDS_S = 0.35, 0.5
"""Share of the time from which on who should go stands; told of stretches of so many seconds."""
STANDING_SPEED = 0.15
"""Share of the mean speed below which it stands."""
LIES, LIES_S = 0.3, 0.3
"""Up-component below which it lies; at the end that is told of the last seconds."""
TRUNK_SHARE, DOWN_SHARE = 0.25, 0.25
"""Share of the time on the trunk, or leaning by more than 60°, from which on it is not on its feet."""
MOTIONLESS = 0.015
"""Standard deviation of its most used joint below which it does not step [rad]."""
AWAY, STILL_TURN, STILL_JOINTS, STILL_AWAY = 1.0, 0.45, 0.6, 0.7
"""Who stays in place goes less far [m]; who stands still turns less [rad], bends less [rad], goes less far [m]."""
REARED = (1.0, 2.14)
"""Pitches between which it stands on its hind legs; beyond them it leans or lies on its back [rad]."""
FLIGHT_S = 0.05
"""Least time in the air of a jump [s]."""
LIFTED = 0.25
"""Share of a jump's height by which the torso at least rises, from where it was before."""
DRIVEN = ("walk", "run", "hop", "crawl", "swim")


@dataclass(frozen=True)
class Wrong:
    """One respect in which a motion may be wrong."""

    words: str
    how_much: float
    """From 1 on it is wrong beyond doubt."""


@dataclass(frozen=True)
class SimulatedMotion:
    """A motion as MuJoCo sees it, at n moments."""

    course: SimulatedCourse
    trunk: Flags
    """Where the trunk touches the floor, shape (n,)."""
    dt: float
    """Between two moments [s]."""
    lift: Floats
    """Of its lowest point above the floor, shape (n,) [m]."""
    rest: Floats
    """Place of the torso when it stands, shape (3,) [m]."""

    @classmethod
    def of(cls, stage: MotionPlayer, played: Played, seconds: float) -> "SimulatedMotion":
        """Look at a motion."""
        every = max(1, round(LOOK_S / stage.spec.dt))
        qpos = played.qpos[::every]
        trunk = stage.trunk_down(qpos) > 0.0
        standing = stage.rest[None].copy()
        if stage.has_floor:
            standing[:, stage.height_index] -= stage.lift_of(standing)
        rest = SimulatedCourse.measured(stage.model, standing, seconds).place[0]
        course = SimulatedCourse.measured(stage.model, qpos, seconds)
        return cls(course, trunk, every * stage.spec.dt, stage.lift_of(qpos), rest)

    def last(self, seconds: float) -> slice:
        """Moments of the last seconds."""
        return slice(-max(1, round(seconds / self.dt)), None)

    @property
    def flights(self) -> list[slice]:
        """Where nothing touches the floor, for longer than a moment."""
        air = np.concatenate([[False], ~self.course.touching, [False]]).astype(int)
        begins = np.flatnonzero(np.diff(air) == 1)
        ends = np.flatnonzero(np.diff(air) == -1)
        long = (ends - begins) * self.dt >= FLIGHT_S
        return [slice(begin, end) for begin, end in zip(begins[long], ends[long], strict=True)]


def wrongs(robot: Robot, asked: KnownSentence, seen: SimulatedMotion) -> list[Wrong]:
    """All respects in which a motion may be wrong, the worst first."""
    found = list(_BY_SKILL[asked.skill](robot, asked, seen))
    if robot.floor and asked.skill not in ("flip", "roll", "rear"):
        found += [
            Wrong("lies at the end", _from(float(np.max(seen.course.up[seen.last(LIES_S)])), LIES)),
            Wrong("leans by more than 60° or lies", float(np.mean(seen.course.up < 0.5)) / DOWN_SHARE),
        ]
        if asked.skill != "crawl":
            found.append(Wrong("rests on its trunk", float(np.mean(seen.trunk)) / TRUNK_SHARE))
    return sorted(found, key=lambda wrong: -wrong.how_much)


def _from(value: float, limit: float) -> float:
    """1 at a limit, more below it."""
    return max(0.0, 1.0 + (limit - value))


def _standing_share(seen: SimulatedMotion, axis: int, mean_speed: float) -> float:
    """Share of the time in which it gets on by less than a part of its mean speed, or the other way."""
    stretch = max(1, round(STANDS_S / seen.dt))
    path = seen.course.place[:, axis]
    gone = (path[stretch:] - path[:-stretch]) * np.sign(mean_speed)
    return float(np.mean(gone < STANDING_SPEED * abs(mean_speed) * STANDS_S))


def _move(_robot: Robot, asked: KnownSentence, seen: SimulatedMotion) -> Iterator[Wrong]:
    vx, vy = seen.course.velocity
    along, across = (vy, vx) if asked.sideways else (vx, vy)
    speed = along * asked.way
    yield Wrong("goes the other way" if speed < 0 else "too slow", max(0.0, 0.8 * asked.low / max(speed, 1e-6)))
    if np.isfinite(asked.high):
        yield Wrong("too fast", max(0.0, speed / (1.25 * asked.high)))
    yield Wrong("goes to the side", abs(across) / max(abs(along), 1e-6))
    yield Wrong("stands for part of the time", _standing_share(seen, 1 if asked.sideways else 0, along) / STANDS)
    if asked.sentence.startswith(DRIVEN):
        swing = float(np.max(np.std(seen.course.joints, axis=0)))
        yield Wrong("its joints do not move", MOTIONLESS / max(swing, 1e-6))


def _hop(robot: Robot, asked: KnownSentence, seen: SimulatedMotion) -> Iterator[Wrong]:
    yield from _move(robot, asked, seen)
    middle = len(seen.course.up) // 2
    late = sum(flight.start > middle for flight in seen.flights)
    yield Wrong("does not hop in the second half", 1.0 if late == 0 else 1.0 / (1.0 + late))


def _crawl(robot: Robot, asked: KnownSentence, seen: SimulatedMotion) -> Iterator[Wrong]:
    yield from _move(robot, asked, seen)
    yield Wrong("goes as high as it stands", float(np.median(seen.course.place[:, 2])) / (0.95 * seen.rest[2]))


def _still(_robot: Robot, asked: KnownSentence, seen: SimulatedMotion) -> Iterator[Wrong]:
    end = seen.last(5.0 if "5 seconds" in asked.sentence else seen.course.seconds - 1.0)
    place = seen.course.place[end]
    yield Wrong("goes away", float(np.ptp(place, axis=0).max()) / STILL_AWAY)
    for words, angle in (("pitches", seen.course.pitch), ("turns", seen.course.yaw)):
        yield Wrong(f"{words} to and fro", float(np.ptp(angle[end])) / STILL_TURN)
    yield Wrong("leans to and fro", float(np.ptp(np.arccos(np.clip(seen.course.up[end], -1, 1)))) / STILL_TURN)
    yield Wrong("moves its joints", float(np.ptp(seen.course.joints[end], axis=0).max()) / STILL_JOINTS)


def _jump(_robot: Robot, asked: KnownSentence, seen: SimulatedMotion) -> Iterator[Wrong]:
    height = np.maximum(seen.course.place[:, 2] - seen.rest[2], seen.lift)  # either may be meant by its height
    z = seen.course.place[:, 2]
    high = [
        flight
        for flight in seen.flights
        if height[flight].max() >= 0.8 * asked.low
        and z[flight].max() - z[max(flight.start - 1, 0)] >= LIFTED * asked.low  # else it draws up its legs
    ]
    few = asked.times - len(high)
    yield Wrong("jumps too seldom", 1.0 + few if few > 0 else 0.5)
    if asked.exact:
        more = len(high) - asked.times
        yield Wrong("jumps too often", 1.0 + more if more > 0 else 0.5)


def _flip(_robot: Robot, asked: KnownSentence, seen: SimulatedMotion) -> Iterator[Wrong]:
    pitch = seen.course.pitch
    airborne = ~seen.course.touching
    turns = (pitch[-1] - pitch[0]) / (2.0 * np.pi) * asked.way
    yield Wrong("does not turn all the way over", max(0.0, 1.0 + 0.8 * asked.low - turns))
    if asked.exact:
        yield Wrong("turns over too often", max(0.0, 1.0 + turns - asked.low - 0.6))
    steps = np.diff(pitch) * asked.way / (2.0 * np.pi)
    yield Wrong("turns over on the floor", max(0.0, 1.0 + 0.5 * asked.low - float(steps[airborne[1:]].sum())))
    turned = (pitch - pitch[0]) * asked.way
    over = (turned > 1.0) & (turned < 2.0 * np.pi * asked.low - 1.0)  # neither rocking before nor landing after it
    if over.any():
        yield Wrong("its trunk touches the floor while it turns", float(np.mean(seen.trunk[over])) / 0.15)
    if asked.lands and seen.flights:
        after = slice(seen.flights[-1].stop, seen.flights[-1].stop + max(1, round(1.0 / seen.dt)))
        lying = float(np.mean((seen.course.up < LIES)[after])) if len(seen.course.up[after]) else 0.0
        yield Wrong("lies after landing", lying / 0.5)


def _spin(robot: Robot, asked: KnownSentence, seen: SimulatedMotion) -> Iterator[Wrong]:
    turned = seen.course.yaw / (2.0 * np.pi)
    turns = asked.along(float(turned[-1] if asked.exact else turned[np.argmax(np.abs(turned))]))
    yield Wrong("does not turn as far", max(0.0, 1.0 + 0.75 * asked.low - turns))
    if asked.exact:
        yield Wrong("turns too far", max(0.0, 1.0 + turns - asked.low - (0.3 if asked.low < 1.0 else 0.6)))
    if "in place" in asked.sentence:
        yield Wrong("leaves its place", seen.course.away / AWAY)
    if not robot.floor:
        return
    yaw = np.abs(np.diff(seen.course.yaw))
    on_its_feet = seen.course.up[1:] > 0.5
    yield Wrong("turns while it lies", _from(float(yaw[on_its_feet].sum()) / max(1e-6, float(yaw.sum())), 0.6))


def _rear(_robot: Robot, asked: KnownSentence, seen: SimulatedMotion) -> Iterator[Wrong]:
    pitch = np.angle(np.exp(1j * (seen.course.first_pitch + seen.course.pitch)))
    up = (pitch > REARED[0]) & (pitch < REARED[1])
    edges = np.flatnonzero(np.diff(np.concatenate([[0], up.astype(int), [0]])))
    longest = float(np.max(edges[1::2] - edges[::2], initial=0)) * seen.dt
    yield Wrong("is up for too short a time", 0.75 * asked.low / max(longest, 1e-6))
    if up.any():
        yield Wrong("sits on its trunk", float(np.mean(seen.trunk[up])) / 0.5)


_BY_SKILL: dict[str, Callable[[Robot, KnownSentence, SimulatedMotion], Iterator[Wrong]]] = {
    "move": _move,
    "hop": _hop,
    "crawl": _crawl,
    "still": _still,
    "jump": _jump,
    "flip": _flip,
    "spin": _spin,
    "rear": _rear,
}
SKILLS = frozenset(_BY_SKILL)
"""Skills that can be told wrong beyond doubt."""
