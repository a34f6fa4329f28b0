"""Stage: plays paths as states of a robot's joints."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import BY_NAME, EnvSpec, inner_joints, parts_of
from p2p.rewards.expression_values import evaluate
from p2p.rewards.features import Features, measure_trajectory
from p2p.rewards.part_features import PartFeature, read_extra_features
from p2p.rewards.part_sequences import PartSequences
from p2p.worker.engine.environment import compiled_model
from p2p.worker.engine.morphology import FREE
from p2p.worker.features.kinematics import Kinematics
from p2p.worker.features.parts import PartFeatures
from p2p.worker.known_motions.motion import Motion

Floats = NDArray[np.float64]
SETTLE_S = 3.0
"""Time after which a robot that stands by itself has come to rest [s]."""
NOISE = 0.005
"""Of the start of a robot that is let go, in positions and velocities."""
BRACED = 0.97
"""Action of a robot that holds itself by bracing, as a share of the range."""
TRIED_POSES = 6000
MOST_TILT = 0.65
"""Of the search for a pose that rests on the trunk: how many are tried, and the most that it leans [rad]."""


@dataclass(frozen=True)
class Played:
    """A motion of a robot, T steps."""

    qpos: Floats
    """Shape (T + 1, nq), the state after the reset first."""
    qvel: Floats
    """Shape (T + 1, nv)."""
    actions: Floats
    """Shape (T, n_actions)."""
    features: Features
    """Name -> shape (T,)."""


def swings_of(spec: EnvSpec) -> tuple[PartFeature, ...]:
    """Joint features that criteria read; single joints only for a robot without feet."""
    legs = [
        PartFeature(quantity, part)
        for quantity in ("leg_swing", "most_leg_swing", "pose_range")
        for part in parts_of(spec, BY_NAME[quantity].kind)
    ]
    joints = () if spec.morphology.feet else inner_joints(spec)
    return (*legs, *(PartFeature("joint_swing", joint) for joint in joints))


class MotionPlayer:
    """Robot that plays motions.

    Args:
        spec: Its environment.
        settles: Whether it keeps standing when it is let go; then it is taken in the pose in which it comes to rest.
        crouch: Joint angles of its crouch [rad], relative to standing.
        extra_features: Features of parts, and expressions, that are measured too; other names are passed over.
    """

    def __init__(self, spec: EnvSpec, settles: bool, crouch: Floats, extra_features: Collection[str] = ()) -> None:
        self.spec = spec
        self.model = compiled_model(spec, {})
        self._asked = read_extra_features(extra_features, spec)
        self._kinematics = Kinematics(self.model, spec)
        self._free = FREE in self.model.jnt_type
        self._flat = "height" not in spec.feature_names
        self._rest: Floats = self.model.qpos0.copy()
        if settles:
            data = mujoco.MjData(self.model)
            data.qpos[:] = self.model.qpos0
            mujoco.mj_step(self.model, data, nstep=round(SETTLE_S / self.model.opt.timestep))
            self._rest = np.array(data.qpos)
            self._rest[:2] = self.model.qpos0[:2]
            if self._free:
                self._rest[3:7] = self.model.qpos0[3:7]
        self._first = 7 if self._free else 3
        self._crouch = crouch
        self._joints = {joint.name: joint.qpos_index for joint in spec.joints if joint.kind in ("hinge", "slide")}
        self._swings = swings_of(spec)
        self._low = np.array([actuator.low for actuator in spec.action])
        self._high = np.array([actuator.high for actuator in spec.action])

    def play(self, motion: Motion, joints: Mapping[str, Floats] | None = None) -> Played:
        """States, actions and features of a motion; the robot's lowest point is `lift` above its resting height.

        Args:
            motion: What it does.
            joints: Added to the positions of joints, by name, shape (T + 1,) [rad or m].
        """
        if motion.limp is not None:
            # Simulate from the usual start with a little noise.
            rng = np.random.default_rng(motion.limp)
            start = self.model.qpos0 + rng.uniform(-NOISE, NOISE, self.model.nq)
            idle = np.zeros((len(motion.t) - 1, self.spec.action_dim))
            return self.measured(*self.simulate(start, rng.uniform(-NOISE, NOISE, self.model.nv), idle), idle)
        qpos, waves = self._posed(motion)
        for name, path in (joints or {}).items():
            qpos[:, self._joints[name]] += path
        still = np.zeros((len(qpos), self.model.nv))
        if not self._flat:
            low = self._kinematics.read(qpos, still).low
            qpos[:, 2 if self._free else 1] += self.spec.rest_clearance + motion.lift - low
        qvel = self._velocities(qpos)
        # The effort swings with the joints, neighbouring actuators against each other, within each one's range.
        scaled = BRACED * motion.effort if motion.braced else motion.effort * waves
        signs = np.where(np.arange(self.spec.action_dim) % 2, -1.0, 1.0)
        middle = (self._low + self._high) / 2.0
        half = (self._high - self._low) / 2.0
        actions = np.asarray(middle + half * np.clip(scaled[1:, None] * signs, -1.0, 1.0))
        return self.measured(qpos, qvel, actions)

    def height_of(self, bend: float, dt: float) -> float:
        """Torso height while crouching [m]."""
        motion = Motion.standing(dt, 2 * dt).plus(bend=bend)
        return float(self.play(motion).features["height"][-1])

    def replay(self, qpos: Floats, actions: Floats, lift: Floats | None = None) -> Played:
        """The motion through given states.

        Args:
            qpos: Shape (T + 1, nq); not changed.
            actions: Shape (T, n_actions).
            lift: Height at which the lowest point is put above where it rests, shape (T + 1,) [m]; None leaves it.
        """
        if lift is not None and not self._flat:
            qpos = qpos.copy()
            qpos[:, self.height_index] += lift - self.lift_of(qpos)
        return self.measured(qpos, self._velocities(qpos), actions)

    def measured(self, qpos: Floats, qvel: Floats, actions: Floats) -> Played:
        """States with their features, including part features of whole-motion criteria."""
        features = measure_trajectory(self.spec, self._kinematics.read(qpos, qvel), actions)
        angles = {f"joint_angle:{name}": qpos[:, index] for name, index in self._joints.items()}
        starts = np.zeros((len(actions), 1), dtype=np.bool_)
        starts[0] = True
        before, after = ({name: path[ends] for name, path in angles.items()} for ends in (slice(-1), slice(1, None)))
        features |= PartSequences(self.spec, 1, self._swings).measure(before, after, starts)
        if self._asked.parts:
            parts = PartFeatures(self.model, self.spec, 1, self._asked.parts)
            features |= parts.of_episode(qpos, qvel, actions)
        features |= {one.text: evaluate(one, features) for one in self._asked.expressions}
        return Played(qpos, qvel, actions, features)

    def lift_of(self, qpos: Floats) -> Floats:
        """Height of the lowest point above its resting height, shape (T + 1,) [m]; 0 without a floor."""
        if self._flat:
            return np.zeros(len(qpos))
        low = self._kinematics.read(qpos, np.zeros((len(qpos), self.model.nv))).low
        return np.asarray(low - self.spec.rest_clearance)

    def trunk_down(self, qpos: Floats) -> Floats:
        """1 while the trunk or the head touches the floor, else 0, shape (T + 1,)."""
        return self._kinematics.read(qpos, np.zeros((len(qpos), self.model.nv))).trunk

    @property
    def height_index(self) -> int:
        """Index of the root's height among the joint positions; meaningless without a floor."""
        return 2 if self._free else 1

    @property
    def has_floor(self) -> bool:
        """Whether it has a height above a floor."""
        return not self._flat

    @property
    def first_joint(self) -> int:
        """Index of the first joint after the root's."""
        return self._first

    @property
    def free(self) -> bool:
        """Whether the root moves freely, with a quaternion."""
        return self._free

    @property
    def crouch(self) -> Floats:
        """Joint angles of the crouch, relative to standing [rad]; empty without one."""
        return np.atleast_1d(self._crouch) if np.ndim(self._crouch) else np.zeros(0)

    @property
    def action_half(self) -> Floats:
        """Half of the range of every action, shape (n_actions,)."""
        return np.asarray((self._high - self._low) / 2.0)

    @property
    def rest(self) -> Floats:
        """Standing pose, shape (nq,)."""
        return self._rest

    @cached_property
    def on_trunk(self) -> Floats | None:
        """Slightly tilted pose within the joints' ranges with the trunk on the floor, shape (nq,).

        None where there is none, as of an ant, whose legs always hold its torso up.
        """
        if self._flat or self.model.jnt_range.shape[0] == 0:
            return None
        rng = np.random.default_rng(0)
        joints = self.model.jnt_limited.astype(bool)
        low, high = self.model.jnt_range[joints].T
        poses = np.tile(self._rest, (TRIED_POSES, 1))
        poses[:, self._first :] = rng.uniform(low, high, (TRIED_POSES, len(low)))
        tilt = rng.uniform(-MOST_TILT, MOST_TILT, TRIED_POSES)
        if self._free:
            poses[:, 3] = np.cos(tilt / 2.0)
            poses[:, 5] = np.sin(tilt / 2.0)
        else:
            poses[:, 2] = tilt
        poses[:, self.height_index] -= self.lift_of(poses)
        down = np.flatnonzero(self.trunk_down(poses) > 0.0)
        if not len(down):
            return None
        apart = np.abs(tilt[down]) + np.abs(poses[down][:, self._first :] - self._rest[self._first :]).mean(axis=1)
        return np.asarray(poses[down[np.argmin(apart)]])

    def simulate(self, qpos: Floats, qvel: Floats, actions: Floats) -> tuple[Floats, Floats]:
        """Simulate from a state.

        Args:
            qpos: Where it begins, shape (nq,).
            qvel: How fast, shape (nv,).
            actions: Of every step, shape (T, n_actions); 0 is a motor that is off.

        Returns:
            Positions and velocities, shapes (T + 1, nq) and (T + 1, nv), the beginning first.
        """
        data = mujoco.MjData(self.model)
        frames = round(self.spec.dt / self.model.opt.timestep)
        data.qpos[:] = qpos
        data.qvel[:] = qvel
        positions = [np.array(qpos)]
        velocities = [np.array(qvel)]
        for action in actions:
            data.ctrl[:] = action
            mujoco.mj_step(self.model, data, nstep=frames)
            positions.append(data.qpos.copy())
            velocities.append(data.qvel.copy())
        return np.array(positions), np.array(velocities)

    def _posed(self, motion: Motion) -> tuple[Floats, Floats]:
        """Joint positions before placing the robot on the floor, and the joints' swing, shape (T + 1,)."""
        qpos = np.tile(self._rest, (len(motion.t), 1))
        waves = np.sin(2.0 * np.pi * motion.stride_hz * motion.t + motion.phase)
        signs = np.where(np.arange(qpos.shape[1] - self._first) % 2, -1.0, 1.0)
        qpos[:, self._first :] += (motion.sway * waves)[:, None] * signs + motion.bend[:, None] * self._crouch
        qpos[:, 0] = motion.x
        if self._free:
            qpos[:, 1] = motion.y
            # Yaw, then pitch, then roll, about the robot's own axes, shape (T + 1, 4).
            rows = np.zeros((len(motion.t), 4))
            for row, yaw, pitch, roll in zip(rows, motion.yaw, motion.pitch, motion.roll, strict=True):
                turned, tilted, leant, both = (np.zeros(4) for _ in range(4))
                mujoco.mju_axisAngle2Quat(turned, np.array([0.0, 0.0, 1.0]), yaw)
                mujoco.mju_axisAngle2Quat(tilted, np.array([0.0, 1.0, 0.0]), -pitch)
                mujoco.mju_axisAngle2Quat(leant, np.array([1.0, 0.0, 0.0]), roll)
                mujoco.mju_mulQuat(both, turned, tilted)
                mujoco.mju_mulQuat(row, both, leant)
            qpos[:, 3:7] = rows
        elif self._flat:
            qpos[:, 1] = motion.y
            qpos[:, 2] = motion.yaw
        else:
            qpos[:, 2] -= motion.pitch
        return qpos, waves

    def _velocities(self, qpos: Floats) -> Floats:
        qvel = np.zeros((len(qpos), self.model.nv))
        for step in range(1, len(qpos)):
            mujoco.mj_differentiatePos(self.model, qvel[step], self.spec.dt, qpos[step - 1], qpos[step])
        return qvel
