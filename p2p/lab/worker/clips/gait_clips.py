"""Gaits of a four-legged robot drawn foot by foot: true ones, and imitations whose fault is known by construction.

The torso follows a path, each foot its own: on the floor it stays where it is put down, and swings in an arc to where
it is put down next. The joints follow by inverse kinematics. Nothing is simulated, and no criterion is asked.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec, joints_of_leg
from p2p.rewards.legs import four_feet
from p2p.worker.engine.environment import compiled_model
from p2p.worker.engine.morphology import index_of

Floats = NDArray[np.float64]
Phases = tuple[float, float, float, float]
IK_STEPS = 3
"""From one control step to the next, in which feet move by centimetres."""
DAMPING = 5e-5
"""Of the inverse kinematics, against singular poses."""
REACH = 1.0
"""Most that a joint turns in an iteration [rad]."""


@dataclass(frozen=True)
class DrawnGait:
    """How a robot goes. Phases are those of the front left, front right, rear left and rear right foot."""

    phases: Phases
    duty: float = 0.55
    period_s: float = 0.5
    speed: float = 0.8
    """[m/s]."""
    lift: float = 0.05
    """Height of a swinging foot [m]."""
    turn: float = 0.0
    """To the left over the whole clip [rad]."""
    bounce: float = 0.0
    """From low to high of the torso, twice a stride, in standing heights."""
    sliding: float = 0.0
    """Speed of a foot on the floor, as a share of the torso's."""
    still: tuple[int, ...] = ()
    """Feet that do not step, and are dragged along."""
    every_other: tuple[int, ...] = ()
    """Feet that step only every second stride."""
    until_s: float = np.inf
    """When it stops [s]; the gait changes to `then`, or it stands."""
    then: Phases | None = None
    """Phases after `until_s`."""


TROT = (0.0, 0.5, 0.5, 0.0)
PACE = (0.0, 0.5, 0.0, 0.5)
BOUND = (0.0, 0.0, 0.5, 0.5)
WALK = (0.25, 0.75, 0.0, 0.5)
PRONK = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Kind:
    """A kind of clips with its truth."""

    name: str
    gait: DrawnGait
    does: frozenset[str] = field(default_factory=frozenset)
    """Of "amble", and of "trot", "pace" and "bound" at 0.8 m/s, those that it is."""
    unclear: frozenset[str] = field(default_factory=frozenset)
    """Those for which people may differ."""
    held_out: bool = False
    """Not looked at while criteria were chosen."""


_TROT, _WALK = DrawnGait(TROT), DrawnGait(WALK, duty=0.72, period_s=0.66, speed=0.5)
KINDS: tuple[Kind, ...] = (
    Kind("trot", _TROT, frozenset({"trot"})),
    Kind("trot with longer contact", replace(_TROT, duty=0.68), frozenset({"trot"})),
    Kind("running trot", replace(_TROT, duty=0.42), frozenset({"trot"})),
    Kind("walk of four beats", _WALK, frozenset({"amble"})),
    Kind("walk in the other order", replace(_WALK, phases=(0.75, 0.25, 0.0, 0.5)), frozenset({"amble"})),
    Kind("pace", DrawnGait(PACE), frozenset({"pace"})),
    Kind("bound", DrawnGait(BOUND, duty=0.45), frozenset({"bound"})),
    Kind("all feet at once", DrawnGait(PRONK, duty=0.5, bounce=0.3)),
    Kind("slide on still feet", replace(_TROT, still=(0, 1, 2, 3))),
    Kind("trot like a pogo stick", replace(_TROT, bounce=0.35)),
    Kind("trot with a dragged leg", replace(_TROT, still=(2,))),
    Kind("trot and turn away", replace(_TROT, turn=1.34)),
    Kind("walk and turn away", replace(_WALK, turn=-1.34)),
    Kind("walk like a pogo stick", replace(_WALK, bounce=0.35)),
    Kind("walk with a dragged leg", replace(_WALK, still=(1,))),
    # held out
    Kind("trot on gliding feet", replace(_TROT, sliding=0.75), held_out=True),
    Kind("trot with feet that hardly rise", replace(_TROT, lift=0.012), held_out=True),
    Kind("trot with a leg that steps every second stride", replace(_TROT, every_other=(3,)), held_out=True),
    Kind("trot, then pace", replace(_TROT, until_s=2.4, then=PACE), held_out=True),
    Kind("trot, then stand", replace(_TROT, until_s=2.5), held_out=True),
    Kind("between trot and pace", DrawnGait((0.0, 0.5, 0.25, 0.75)), unclear=frozenset({"amble"}), held_out=True),
    Kind("trot with a late diagonal", DrawnGait((0.0, 0.5, 0.75, 0.25)), unclear=frozenset({"amble"}), held_out=True),
    Kind("canter", DrawnGait((0.35, 0.7, 0.0, 0.35), duty=0.45), held_out=True),
    Kind("trot in a wide curve", replace(_TROT, turn=0.9), held_out=True),
    Kind("quick short trot", replace(_TROT, period_s=0.36, lift=0.04), frozenset({"trot"}), held_out=True),
    Kind("trot a little uneven", DrawnGait((0.0, 0.47, 0.53, 0.04)), frozenset({"trot"}), held_out=True),
    Kind("walk on gliding feet", replace(_WALK, sliding=0.75), held_out=True),
    Kind("walk with two legs at a time", DrawnGait(TROT, duty=0.72, period_s=0.66, speed=0.5), held_out=True),
)  # fmt: skip


@dataclass(frozen=True)
class GaitClip:
    """One drawn motion, T steps."""

    kind: Kind
    number: int
    qpos: Floats
    """Shape (T + 1, nq), where it begins first."""
    qvel: Floats
    """Shape (T + 1, nv)."""
    actions: Floats
    """Shape (T, n_actions)."""


def gait_clips(spec: EnvSpec, seed: int, variations: int, seconds: float = 5.0) -> Iterator[GaitClip]:
    """Clips of every kind, each with several random draws of period, lift and phase.

    Raises:
        ValueError: the robot was not described from a model file, or has no four legs.
    """
    artist = GaitArtist(spec)
    for kind in KINDS:
        for number in range(variations):
            rng = np.random.default_rng([seed, zlib.crc32(kind.name.encode()), number])
            shift = rng.uniform()
            drawn = replace(
                kind.gait,
                period_s=kind.gait.period_s * rng.uniform(0.92, 1.08),
                lift=kind.gait.lift * rng.uniform(0.9, 1.15),
                speed=kind.gait.speed * rng.uniform(0.95, 1.05),
                phases=_shifted(kind.gait.phases, shift),
                then=None if kind.gait.then is None else _shifted(kind.gait.then, shift),
            )
            qpos = artist.draw(drawn, seconds)
            qvel = np.zeros((len(qpos), artist.model.nv))
            for step in range(1, len(qpos)):
                mujoco.mj_differentiatePos(artist.model, qvel[step], spec.dt, qpos[step - 1], qpos[step])
            swing = 0.3 * np.sin(2.0 * np.pi / drawn.period_s * spec.dt * np.arange(1, len(qpos)))
            yield GaitClip(kind, number, qpos, qvel, np.repeat(swing[:, None], spec.action_dim, axis=1))


class GaitArtist:
    """Draws gaits of one robot.

    Raises:
        ValueError: it was not described from a model file, or has no four legs.
    """

    def __init__(self, spec: EnvSpec) -> None:
        feet = four_feet(spec)
        if spec.robot is None or feet is None:
            raise ValueError(f"{spec.env_id} is no four-legged robot that was described from a model file")
        self.model = compiled_model(spec, {})
        self._spec = spec
        self._data = mujoco.MjData(self.model)
        self._stance: Floats = np.array(spec.robot.stance)
        self._geoms = [index_of(self.model, "geom", foot) for foot in feet]
        dofs = {joint.name: joint.qvel_index for joint in spec.joints}
        self._dofs = [[dofs[joint] for joint in joints_of_leg(spec, foot)] for foot in feet]
        self._data.qpos[:] = self._stance
        mujoco.mj_kinematics(self.model, self._data)
        self._places: Floats = self._data.geom_xpos[self._geoms] - self._stance[:3]
        """Of the feet in the stance from the torso, shape (4, 3) [m]."""

    def draw(self, gait: DrawnGait, seconds: float) -> Floats:
        """Positions at every control step, shape (T + 1, nq)."""
        t = self._spec.dt * np.arange(round(seconds / self._spec.dt) + 1, dtype=np.float64)
        going = np.minimum(t, gait.until_s) if gait.then is None else t
        yaw = gait.turn * t / seconds
        heading = np.stack([np.cos(yaw), np.sin(yaw)], axis=1)
        steps = np.diff(going, prepend=0.0)[:, None] * gait.speed * heading
        torso = np.zeros((len(t), 3))
        torso[:, :2] = self._stance[:2] + np.cumsum(steps, axis=0)
        beat = 4.0 * np.pi * t / gait.period_s
        torso[:, 2] = self._stance[2] + gait.bounce * self._stance[2] / 2.0 * np.sin(beat)
        feet = np.stack([self._foot(foot, gait, t, torso, yaw) for foot in range(4)], axis=1)
        qpos = np.tile(self._stance, (len(t), 1))
        pose = self._stance.copy()
        for row, (place, angle, goals) in enumerate(zip(torso, yaw, feet, strict=True)):
            pose[:3] = place
            mujoco.mju_axisAngle2Quat(pose[3:7], np.array([0.0, 0.0, 1.0]), angle)
            self._reach(pose, goals)
            qpos[row] = pose
        return qpos

    def _foot(self, foot: int, gait: DrawnGait, t: Floats, torso: Floats, yaw: Floats) -> Floats:
        """Path of one foot in the world, shape (T + 1, 3)."""
        neutral = np.stack([_turned(self._places[foot, :2], angle) for angle in yaw]) + torso[:, :2]
        ground = self._stance[2] + self._places[foot, 2]
        found = np.column_stack([neutral, np.full(len(t), ground)])
        if foot in gait.still:
            return found
        period = gait.period_s * (2.0 if foot in gait.every_other else 1.0)
        duty = gait.duty if foot not in gait.every_other else 1.0 - (1.0 - gait.duty) / 2.0
        phases = np.full(len(t), gait.phases[foot])
        if gait.then is not None:
            phases = np.where(t < gait.until_s, phases, gait.then[foot])
        share = (t / period - phases) % 1.0
        down = share < duty
        if gait.then is None:
            down |= t > gait.until_s
        ahead = np.array([gait.speed * np.cos(yaw), gait.speed * np.sin(yaw)]).T
        back = period * (duty / 2.0 - share)  # since the middle of its contact, in seconds
        held = (1.0 - gait.sliding) * ahead * back[:, None]
        reach = period * duty / 2.0
        swing = (share - duty) / (1.0 - duty)
        forth = (1.0 - gait.sliding) * ahead * (reach * -np.cos(np.pi * np.clip(swing, 0.0, 1.0)))[:, None]
        moving = (t <= gait.until_s) | (gait.then is not None)
        found[:, :2] += np.where(down[:, None], held, forth) * np.reshape(moving, (-1, 1))
        found[:, 2] += np.where(down, 0.0, gait.lift * np.sin(np.pi * np.clip(swing, 0.0, 1.0)))
        return found

    def _reach(self, pose: Floats, goals: Floats) -> None:
        """Bring the feet to their goals, shape (4, 3), from the joints' last positions."""
        data = self._data
        jacobian = np.zeros((3, self.model.nv))
        for _ in range(IK_STEPS):
            data.qpos[:] = pose
            mujoco.mj_kinematics(self.model, data)
            mujoco.mj_comPos(self.model, data)
            change = np.zeros(self.model.nv)
            for geom, dofs, goal in zip(self._geoms, self._dofs, goals, strict=True):
                mujoco.mj_jacGeom(self.model, data, jacobian, None, geom)
                own = jacobian[:, dofs]
                gap = goal - data.geom_xpos[geom]
                change[dofs] = own.T @ np.linalg.solve(own @ own.T + DAMPING * np.eye(3), gap)
            mujoco.mj_integratePos(self.model, pose, np.clip(change, -REACH, REACH), 1.0)


def _shifted(phases: Phases, by: float) -> Phases:
    front_left, front_right, rear_left, rear_right = phases
    return front_left + by, front_right + by, rear_left + by, rear_right + by


def _turned(place: Floats, angle: float) -> Floats:
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([cosine * place[0] - sine * place[1], sine * place[0] + cosine * place[1]])
