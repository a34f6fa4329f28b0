"""What a policy's episode is for each sentence, from a few numbers that MuJoCo itself gives of its joints.

The numbers are how far the torso came, how it was turned, and whether MuJoCo found a contact with the floor: no
feature, no predicate. Between what is clearly done and what is clearly not done nothing is claimed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.known_motions import ClaimKind
from p2p.worker.known_motions.robots import KnownSentence, Robot
from p2p.worker.known_motions.scene import NEAR_MISS, NEGATIVE, POSITIVE, UNCLEAR, amount_kind, speed_kinds

Floats = NDArray[np.float64]
TORSO = "torso"
UPRIGHT, DOWN = 0.75, 0.3
"""Up-component of the torso from which on it is upright, and below which it lies."""
STRETCHES = 6
"""Parts of an episode in each of which, but the first, a steady gait gets on."""
STEADY = 0.4
"""Share of its mean speed that it has at least in each of them."""


@dataclass(frozen=True)
class SimulatedCourse:
    """What MuJoCo says of T + 1 states."""

    place: Floats
    """Of the torso, shape (T + 1, 3) [m]."""
    up: Floats
    """Up-component of its vertical axis, shape (T + 1,)."""
    pitch: Floats
    """Of its forward axis, from its start, nose up positive, shape (T + 1,) [rad]; unwrapped where it moves in a plane,
    else against the horizontal."""
    first_pitch: float
    """Of its forward axis at the start, in [-pi, pi], nose up positive [rad]."""
    yaw: Floats
    """Of its forward axis about the vertical, the same, to the left positive [rad]."""
    touching: NDArray[np.bool_]
    """Whether anything touches the world, shape (T + 1,)."""
    joints: Floats
    """Joint angles, shape (T + 1, n) [rad]."""
    seconds: float

    @classmethod
    def measured(cls, model: mujoco.MjModel, qpos: Floats, seconds: float) -> Self:
        """Of the states of an episode, shape (T + 1, nq)."""
        data = mujoco.MjData(model)
        torso = model.body(TORSO).id
        place, attitude, touching = [], [], []
        for row in qpos:
            data.qpos[:] = row
            mujoco.mj_forward(model, data)
            place.append(data.xpos[torso].copy())
            attitude.append(data.xmat[torso].reshape(3, 3).copy())
            bodies = [model.geom_bodyid[list(contact.geom)] for contact in data.contact[: data.ncon]]
            touching.append(any(0 in pair for pair in bodies))
        axes = np.array(attitude)
        free = model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
        ahead = np.hypot(axes[:, 0, 0], axes[:, 1, 0]) if free else axes[:, 0, 0]
        return cls(
            place=np.array(place),
            up=axes[:, 2, 2],
            pitch=_turned(axes[:, 2, 0], ahead),
            first_pitch=float(np.arctan2(axes[0, 2, 0], ahead[0])),
            yaw=_turned(axes[:, 1, 0], axes[:, 0, 0]),
            touching=np.array(touching),
            joints=qpos[:, 7 if free else 3 :],
            seconds=seconds,
        )

    def numbers(self) -> dict[str, float]:
        """What is told of the clip."""
        vx, vy = self.velocity
        turned = {"pitch_turns": self.pitch[-1], "yaw_turns": self.yaw[-1]}
        return {"vx": vx, "vy": vy, "lowest_up": float(self.up.min())} | {
            name: float(angle / (2.0 * np.pi)) for name, angle in turned.items()
        }

    @property
    def velocity(self) -> tuple[float, float]:
        """Mean, forward and to the left [m/s]."""
        vx, vy = (self.place[-1, :2] - self.place[0, :2]) / self.seconds
        return float(vx), float(vy)

    @property
    def away(self) -> float:
        """Largest horizontal distance from the start [m]."""
        return float(np.linalg.norm(self.place[:, :2] - self.place[0, :2], axis=1).max())

    @property
    def on_its_feet(self) -> bool:
        """Whether it is upright and as high as it stands, practically all the time."""
        low = np.median(self.place[:, 2]) < 0.8 * self.place[0, 2]
        return bool(np.mean(self.up > UPRIGHT) > 0.98 and not low)

    @property
    def lies(self) -> bool:
        """Whether it has fallen over, and stays so to the end."""
        return bool((self.up[-len(self.up) // 4 :] < DOWN).all())

    @property
    def leaves_the_floor(self) -> bool:
        """Whether nothing touches the floor in two states one after the other."""
        return bool((~self.touching[1:] & ~self.touching[:-1]).any())

    @property
    def steps(self) -> bool:
        """Whether it moves its joints as a gait does."""
        return bool(np.max(np.std(self.joints, axis=0)) > 0.1)

    def steady(self, axis: int) -> bool:
        """Whether it gets on along an axis of the world all the time, once it has begun."""
        parts = np.array_split(np.diff(self.place[:, axis]), STRETCHES)[1:]
        whole = self.place[-1, axis] - self.place[0, axis]
        return all(part.sum() * np.sign(whole) > STEADY * abs(whole) / STRETCHES for part in parts)


def kinds_of(robot: Robot, course: SimulatedCourse) -> dict[str, ClaimKind | None]:
    """What an episode is for every sentence of a robot; None where that is not beyond doubt."""
    return {asked.sentence: _BY_SKILL[asked.skill](robot, asked, course) for asked in robot.asked}


def _move(robot: Robot, asked: KnownSentence, course: SimulatedCourse) -> ClaimKind | None:
    kind = speed_kinds(robot, *course.velocity)[asked.sentence]
    if kind is not POSITIVE:
        return kind
    if robot.floor and course.lies:
        return NEAR_MISS
    well = (not robot.floor or course.on_its_feet) and course.steady(1 if asked.sideways else 0) and course.steps
    return POSITIVE if well else UNCLEAR


def _too_slow(_robot: Robot, asked: KnownSentence, course: SimulatedCourse) -> ClaimKind | None:
    """Nothing but that it hardly gets on that way is claimed of gaits that ask for more than speed."""
    return NEGATIVE if course.velocity[0] * asked.way < 0.5 * asked.low else UNCLEAR


def _still(robot: Robot, _asked: KnownSentence, course: SimulatedCourse) -> ClaimKind | None:
    if course.away > 1.0:
        return NEGATIVE
    return NEAR_MISS if robot.floor and course.lies else UNCLEAR


def _jump(_robot: Robot, _asked: KnownSentence, course: SimulatedCourse) -> ClaimKind | None:
    return UNCLEAR if course.leaves_the_floor else NEGATIVE


def _over(_robot: Robot, _asked: KnownSentence, course: SimulatedCourse) -> ClaimKind | None:
    return NEGATIVE if (course.up > 0.0).all() else UNCLEAR


def _rear(_robot: Robot, _asked: KnownSentence, course: SimulatedCourse) -> ClaimKind | None:
    return NEGATIVE if (np.abs(course.pitch) < 0.5).all() else UNCLEAR


def _spin(robot: Robot, asked: KnownSentence, course: SimulatedCourse) -> ClaimKind | None:
    """Turns are told of an upright torso alone."""
    turns = course.yaw / (2.0 * np.pi)
    turns = turns * (asked.way or np.sign(turns[-1]))
    if robot.floor and not (course.up > 0.5).all():
        return UNCLEAR
    if np.abs(turns).max() < 0.4 * asked.low:
        return NEGATIVE
    kind = amount_kind(float(turns[-1]), asked.low)
    if kind is POSITIVE:
        in_place = course.away < 1.0 and (not robot.floor or course.on_its_feet)
        return POSITIVE if in_place and turns[-1] < 1.7 * asked.low else UNCLEAR
    return kind if turns.max() < 0.84 * asked.low else UNCLEAR


def _turned(rise: Floats, run: Floats) -> Floats:
    angle = np.unwrap(np.arctan2(rise, run))
    return np.asarray(angle - angle[0])


_BY_SKILL: Mapping[str, Callable[[Robot, KnownSentence, SimulatedCourse], ClaimKind | None]] = {
    "move": _move,
    "hop": _too_slow,
    "crawl": _too_slow,
    "still": _still,
    "jump": _jump,
    "flip": _over,
    "roll": _over,
    "rear": _rear,
    "spin": _spin,
}
