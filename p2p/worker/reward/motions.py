"""Known motions for trying a reward, prescribed joint by joint.

No physics is run: the robot is where it is put, with the velocities that this implies.
"""

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig
from p2p.rewards.rotations import multiply
from p2p.worker.engine.root_joints import Root, root_of
from p2p.worker.features.kinematics import Kinematics

Floats = NDArray[np.float64]
Profile = Callable[[Floats], Floats]
"""Times [s] -> values."""

SECONDS = 3.0
"""Length of a motion."""
STRIDE_HZ = 2.0
STRIDE = 0.25
"""How the inner joints swing in gaits, and how far as a share of their range."""
EFFORT = 0.5
"""Amplitude of the actions that come with a gait, as a share of their range."""


@dataclass(frozen=True, slots=True)
class BodyPath:
    """Path of the whole robot."""

    name: str
    x: Profile = np.zeros_like
    """Distance forward [m]."""
    air: Profile = np.zeros_like
    """Height of its lowest point above the floor [m]."""
    pitch: Profile = np.zeros_like
    """Nose up positive [rad]."""
    yaw: Profile = np.zeros_like
    """To the left positive [rad]; of robots that can turn."""
    moves: bool = True
    """Whether its joints swing and its motors work."""
    even_pace: str | None = None
    """For a dash, the course that goes as far at an even pace."""
    y: Profile = np.zeros_like
    """Distance to the left [m]; of robots that can turn."""
    fallen: bool = False
    """Whether the robot falls, or lies."""
    noise_on: str | None = None
    """The course that this is with random actions; its motors work at random."""


@dataclass(frozen=True, slots=True)
class TrialMotion:
    """One motion of T steps."""

    name: str
    qpos: Floats
    """Shape (T + 1, nq)."""
    qvel: Floats
    """Shape (T + 1, nv)."""
    actions: Floats
    """Shape (T, action_dim)."""
    idle: bool
    """Whether nothing moves in it."""
    even_pace: str | None
    """For a dash, the motion that goes as far at an even pace."""
    fallen: bool = False
    """Whether the robot falls, or lies."""
    noise_on: str | None = None
    """The motion that this is with random actions."""


def _after(begin: float, lasting: float) -> Profile:
    """From 0 to 1 between two times [s]."""
    return lambda time: np.clip((time - begin) / lasting, 0.0, 1.0)


def _leap(begin: float, lasting: float, height: float) -> Profile:
    share = _after(begin, lasting)
    return lambda time: 4.0 * height * share(time) * (1.0 - share(time))


def _hops(time: Floats) -> Floats:
    phase = np.mod(time, 0.5) / 0.5
    return 4.0 * 0.3 * phase * (1.0 - phase)


_TURN = _after(1.0, 0.8)
_STANDING = "standing still"
_FORWARD = "moving forward at 2 m/s"
_BACKWARD = "moving backward at 2 m/s"
COURSES = (
    BodyPath(_STANDING, moves=False),
    BodyPath(_FORWARD, x=lambda time: 2.0 * time),
    BodyPath("moving forward at 1 m/s", x=lambda time: 1.0 * time),
    BodyPath(_BACKWARD, x=lambda time: -2.0 * time),
    BodyPath("moving backward at 1 m/s", x=lambda time: -1.0 * time),
    BodyPath("a dash of 6 m forward", x=lambda time: 6.0 * _after(1.0, 0.2)(time), even_pace=_FORWARD),
    BodyPath("a dash of 6 m backward", x=lambda time: -6.0 * _after(1.0, 0.2)(time), even_pace=_BACKWARD),
    BodyPath("hopping in place", air=_hops),
    BodyPath("a backflip", air=_leap(1.0, 0.8, 1.2), pitch=lambda time: 2.0 * np.pi * _TURN(time)),
    BodyPath("a front flip", air=_leap(1.0, 0.8, 1.2), pitch=lambda time: -2.0 * np.pi * _TURN(time)),
    BodyPath("rearing up", pitch=lambda time: 0.5 * np.pi * _after(0.5, 1.0)(time)),
    BodyPath("falling on its nose", pitch=lambda time: -0.5 * np.pi * _after(0.3, 0.5)(time), moves=False, fallen=True),
    BodyPath("lying on its back", pitch=lambda time: np.full_like(time, np.pi), moves=False, fallen=True),
    BodyPath("turning left on the spot", yaw=lambda time: 2.0 * np.pi * _after(0.3, 2.4)(time)),
    BodyPath("turning right on the spot", yaw=lambda time: -2.0 * np.pi * _after(0.3, 2.4)(time)),
    BodyPath("moving to the left at 1 m/s", y=lambda time: 1.0 * time),
    BodyPath("moving to the right at 1 m/s", y=lambda time: -1.0 * time),
    BodyPath("standing still with random actions", moves=False, noise_on=_STANDING),
)
"""Motions of robots that walk, run or jump."""


def known_motions(spec: EnvSpec, model: mujoco.MjModel) -> list[TrialMotion]:
    """Motions of the robot; empty for a fixed one, or one in a fluid.

    Args:
        spec: The environment.
        model: Its model.
    """
    try:
        root = root_of(spec)
    except InvalidConfig:
        return []
    turns = any(joint.kind == "free" for joint in spec.joints)
    puppet = _Puppet(spec, model, root)
    return [
        puppet.perform(course)
        for course in COURSES
        if turns or (course.yaw is np.zeros_like and course.y is np.zeros_like)
    ]


class _Puppet:
    """Robot posed along a course."""

    def __init__(self, spec: EnvSpec, model: mujoco.MjModel, root: Root) -> None:
        self._spec = spec
        self._model = model
        self._root = root
        self._kinematics = Kinematics(model, spec)
        self._time: Floats = np.arange(round(SECONDS / spec.dt) + 1, dtype=np.float64) * spec.dt

    def perform(self, course: BodyPath) -> TrialMotion:
        time = self._time
        qpos = np.tile(self._model.qpos0, (len(time), 1))
        if course.moves:
            hinges = [joint for joint in self._spec.joints if joint.kind == "hinge" and joint.low is not None]
            for number, joint in enumerate(hinges):
                low, high = joint.low or 0.0, joint.high or 0.0
                swing = STRIDE * (high - low) / 2 * np.sin(2 * np.pi * STRIDE_HZ * self._time + number)
                qpos[:, joint.qpos_index] = np.clip(qpos[:, joint.qpos_index] + swing, low, high)
        self._place(qpos, course)
        qvel = np.zeros((len(time), self._model.nv))
        for step in range(1, len(time)):
            mujoco.mj_differentiatePos(self._model, qvel[step], self._spec.dt, qpos[step - 1], qpos[step])
        qvel[0] = qvel[1]
        idle = not qvel.any()
        actions = self._actions(course)
        return TrialMotion(course.name, qpos, qvel, actions, idle, course.even_pace, course.fallen, course.noise_on)

    def _place(self, qpos: Floats, course: BodyPath) -> None:
        """Move the root, so that the lowest point follows the course."""
        forward = course.x(self._time)
        pitch = course.pitch(self._time)
        yaw = course.yaw(self._time)
        spare = np.zeros(self._model.nv)
        qpos[:, self._forward_index()] += forward
        if course.y is not np.zeros_like:
            qpos[:, self._forward_index() + 1] += course.y(self._time)
        for row, angle in enumerate(pitch):
            self._root.place(qpos[row], spare, float(angle), 0.0, 0.0)
        if yaw.any():
            free = next(joint for joint in self._spec.joints if joint.kind == "free")
            rows = slice(free.qpos_index + 3, free.qpos_index + 7)
            zero = np.zeros_like(yaw)
            about_z = np.stack([np.cos(yaw / 2), zero, zero, np.sin(yaw / 2)], axis=1)
            qpos[:, rows] = multiply(about_z, qpos[:, rows])
        lows = self._kinematics.read(qpos, np.zeros((len(qpos), self._model.nv))).low - self._spec.rest_clearance
        for row, (low, air) in enumerate(zip(lows, course.air(self._time), strict=True)):
            self._root.lift(qpos[row], float(air - low))

    def _forward_index(self) -> int:
        own = [joint for joint in self._spec.joints if joint.body == self._spec.morphology.torso]
        return next(
            joint.qpos_index
            for joint in own
            if joint.kind == "free" or (joint.kind == "slide" and abs(joint.axis[0]) > 0.5)
        )

    def _actions(self, course: BodyPath) -> Floats:
        low = np.array([actuator.low for actuator in self._spec.action])
        high = np.array([actuator.high for actuator in self._spec.action])
        steps = len(self._time) - 1
        if course.noise_on is not None:
            # Uniform over the range of each action, like early exploration.
            return np.random.default_rng(0).uniform(low, high, size=(steps, len(low)))
        if not course.moves:
            return np.tile(np.clip(0.0, low, high), (steps, 1))
        phases = 2 * np.pi * STRIDE_HZ * self._time[:-1, None] + np.arange(len(low))
        return np.asarray((low + high) / 2 + (high - low) / 2 * EFFORT * np.sin(phases))
