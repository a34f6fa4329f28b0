"""Motions of known behaviour, drawn as paths of the joints and measured like recorded rollouts."""

from dataclasses import dataclass, field, replace

import gymnasium
import mujoco
import numpy as np

from p2p.contracts.env import EnvSpec
from p2p.envs import catalog
from p2p.rewards.features import measure_trajectory
from p2p.rewards.part_sequences import PartSequences
from p2p.worker.features.kinematics import Kinematics
from p2p.worker.known_motions.motion_player import swings_of


@dataclass(frozen=True)
class Motion:
    """Paths over the time t, shape (T + 1,): place [m], clearance over the floor [m], and angles [rad]."""

    t: np.ndarray
    x: np.ndarray
    y: np.ndarray
    lift: np.ndarray
    roll: np.ndarray
    pitch: np.ndarray
    """Nose up positive."""
    yaw: np.ndarray
    """Left positive."""
    sway: float | np.ndarray = 0.0
    """Amplitude of all joints, also as a path [rad]."""
    stride_hz: float = 2.0
    phase: float = 0.0


def still(dt: float, seconds: float) -> Motion:
    t = np.arange(round(seconds / dt) + 1) * dt
    zero = np.zeros_like(t)
    return Motion(t, zero, zero, zero, zero, zero, zero)


def ramp(t, start, end, value):
    """0 before `start`, `value` after `end`, smooth between."""
    s = np.clip((t - start) / (end - start), 0.0, 1.0)
    return value * s * s * (3.0 - 2.0 * s)


def arc(t, start, end, height):
    """A parabola of `height` between `start` and `end`."""
    s = np.clip((t - start) / (end - start), 0.0, 1.0)
    return 4.0 * height * s * (1.0 - s)


def go(motion: Motion, vx: float = 0.0, vy: float = 0.0, stride_hz: float = 2.0) -> Motion:
    """Travel with a gait; up to speed within 0.5 s."""
    t = motion.t
    distance = np.where(t < 0.5, t * t, t - 0.25)
    return replace(motion, x=motion.x + vx * distance, y=motion.y + vy * distance, sway=0.3, stride_hz=stride_hz)


def flip(motion: Motion, turns: float, start: float = 1.0, seconds: float = 0.7, height: float = 0.6) -> Motion:
    """Turn about the lateral axis in the air; backward positive."""
    t = motion.t
    return replace(
        motion,
        pitch=motion.pitch + ramp(t, start, start + seconds, 2.0 * np.pi * turns),
        lift=motion.lift + arc(t, start, start + seconds, height),
    )


def spin(motion: Motion, turns: float, start: float = 0.3, seconds: float = 3.0) -> Motion:
    """Turn about the vertical on stepping feet; left positive."""
    return replace(motion, yaw=motion.yaw + ramp(motion.t, start, start + seconds, 2.0 * np.pi * turns), sway=0.1)


def vary(motion: Motion, seed: int) -> Motion:
    """The same behaviour, a little different in place, speed, height and gait."""
    rng = np.random.default_rng(seed)
    speed, height = 1.0 + 0.03 * rng.uniform(-1.0, 1.0, 2)
    return replace(
        motion,
        x=speed * motion.x + 0.05 * rng.standard_normal(),
        y=speed * motion.y,
        lift=height * motion.lift,
        phase=float(rng.uniform(0.0, 2.0 * np.pi)),
    )


@dataclass
class Stage:
    """An environment in which motions are played."""

    env_id: str
    stands_by_itself: bool = True
    """Whether the robot keeps standing when it is let go."""
    spec: EnvSpec = field(init=False)

    def __post_init__(self) -> None:
        self.spec = catalog.load(self.env_id)
        env = gymnasium.make(self.env_id, disable_env_checker=True)
        self._model, self._rest = env.unwrapped.model, env.unwrapped.init_qpos
        env.close()
        if self.stands_by_itself:
            self._rest = self._settled(self._rest)
        self._kinematics = Kinematics(self._model, self.spec)
        self._free = self._model.nq != self._model.nv

    def _settled(self, qpos: np.ndarray) -> np.ndarray:
        """The pose in which the robot rests on the floor without control."""
        data = mujoco.MjData(self._model)
        data.qpos[:] = qpos
        mujoco.mj_step(self._model, data, nstep=round(3.0 / self._model.opt.timestep))
        return np.array(data.qpos)

    def still(self, seconds: float) -> Motion:
        return still(self.spec.dt, seconds)

    def play(self, motion: Motion) -> dict[str, np.ndarray]:
        """Features of the motion, with the robot's lowest point always `lift` above its resting height."""
        qpos = np.tile(self._rest, (len(motion.t), 1))
        waves = motion.sway * np.sin(2.0 * np.pi * motion.stride_hz * motion.t + motion.phase)
        first = 7 if self._free else 3
        signs = np.where(np.arange(qpos.shape[1] - first) % 2, -1.0, 1.0)
        qpos[:, first:] += waves[:, None] * signs
        height = self._place(qpos, motion)
        qvel = np.zeros((len(qpos), self._model.nv))
        qvel[1:, -len(signs) :] = np.diff(qpos[:, first:], axis=0) / self.spec.dt
        low = self._kinematics.read(qpos, qvel).low
        qpos[:, height] += self.spec.rest_clearance + motion.lift - low
        states = self._kinematics.read(qpos, qvel)
        actions = np.tile(waves[1:, None], (1, self.spec.action_dim))
        return measure_trajectory(self.spec, states, actions) | self._swings(qpos)

    def _swings(self, qpos: np.ndarray) -> dict[str, np.ndarray]:
        """How far joints and legs swing, which criteria of gaits and of standing still read."""
        angles = {
            f"joint_angle:{joint.name}": qpos[:, joint.qpos_index]
            for joint in self.spec.joints
            if joint.kind in ("hinge", "slide")
        }
        before, after = ({name: path[ends] for name, path in angles.items()} for ends in (slice(-1), slice(1, None)))
        starts = np.arange(len(qpos) - 1)[:, None] == 0
        return PartSequences(self.spec, 1, swings_of(self.spec)).measure(before, after, starts)

    def _place(self, qpos: np.ndarray, motion: Motion) -> int:
        qpos[:, 0] = motion.x
        if not self._free:
            qpos[:, 2] -= motion.pitch
            return 1
        qpos[:, 1] = motion.y
        w, z = np.cos(motion.yaw / 2), np.sin(motion.yaw / 2)
        cr, sr = np.cos(motion.roll / 2), np.sin(motion.roll / 2)
        qpos[:, 3:7] = np.stack([w * cr, w * sr, z * sr, z * cr], axis=1)
        return 2
