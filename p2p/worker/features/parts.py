"""Read the features of single bodies, feet and joints from simulator states; only requested ones are computed."""

from collections.abc import Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import COM, EnvSpec, PartKind, parts_of
from p2p.rewards.features import Features
from p2p.rewards.part_features import PartFeature
from p2p.rewards.part_sequences import PartSequences, read_by
from p2p.rewards.rotations import conjugate, forward_axis, left_axis, multiply, upness
from p2p.worker.engine.forward_kinematics import ForwardFields
from p2p.worker.engine.morphology import index_of
from p2p.worker.engine.vec_env import Block
from p2p.worker.features.kinematics import ROWS, Floor, GeomHeights
from p2p.worker.saved_state import State, joined, part

Floats = NDArray[np.float64]
_POSES = ("xpos", "xquat", "geom_xpos", "geom_xmat", "subtree_com")
_MOTIONS = ("cvel", "subtree_linvel")
_FORCES = ("cfrc_ext", "qfrc_actuator")
_MOVING = frozenset({"velocity_x", "velocity_y", "velocity_z", "speed", "slip"})
_FORCED = frozenset({"contact_force", "joint_torque", "power"})
_AXES = {"x": 0, "y": 1, "z": 2}


class PartFeatures:
    """Features of parts, of blocks in a row.

    Args:
        model: The simulated model.
        spec: The environment it belongs to.
        n: Environments.
        asked: What is measured; nothing else is computed.
    """

    def __init__(self, model: mujoco.MjModel, spec: EnvSpec, n: int, asked: tuple[PartFeature, ...]) -> None:
        self._asked = asked
        self._n = n
        instants = {one for feature in asked for one in read_by(feature, spec)}
        self._reader = PartReader(model, spec, tuple(sorted(instants, key=lambda one: one.name)))
        self._sequences = PartSequences(spec, n, asked)
        self._last: Features | None = None

    def read(self, block: Block) -> Features:
        """Name -> values after every step of the block that follows the last one, shape (T * n,)."""
        index = np.flatnonzero(block.starts.ravel())
        begun = block.before.qpos[index], block.before.qvel[index]
        return self._measured(begun, (block.after.qpos, block.after.qvel), block.actions, block.starts)

    def of_episode(self, qpos: Floats, qvel: Floats, actions: Floats) -> Features:
        """Name -> values of one episode, shape (T,).

        Args:
            qpos: Joint positions of its T + 1 states, the one after the reset first, shape (T + 1, nq).
            qvel: Velocities, shape (T + 1, nv).
            actions: Shape (T, nu).
        """
        starts = np.zeros((len(actions), 1), dtype=np.bool_)
        starts[0] = True
        return self._measured((qpos[:1], qvel[:1]), (qpos[1:], qvel[1:]), actions, starts)

    def _measured(
        self,
        begun_at: tuple[Floats, Floats],
        after: tuple[Floats, Floats],
        controls: NDArray[np.floating],
        starts: NDArray[np.bool_],
    ) -> Features:
        """Features after every step, `begun_at` holding the states that episodes of the block begin at."""
        actions = np.asarray(controls, dtype=np.float64)
        now = self._reader.read(*after, actions)
        before: Features = {}
        if self._sequences.any:
            n = self._n
            index = np.flatnonzero(starts.ravel())
            begun = self._reader.read(*begun_at, np.zeros((len(index), actions.shape[1])))
            for name, values in now.items():
                first = values[:n] if self._last is None else self._last[name]
                before[name] = np.concatenate([first, values[:-n]])
                before[name][index] = begun[name]
            self._last = {name: values[-n:].copy() for name, values in now.items()}
        summed = self._sequences.measure(before, now, starts) if self._sequences.any else {}
        return {feature.name: (summed if feature.name in summed else now)[feature.name] for feature in self._asked}

    def state(self) -> State:
        """State carried over from earlier blocks."""
        return joined({"last": dict(self._last or {}), "sums": dict(self._sequences.sums)})

    def restore(self, state: State) -> None:
        """Continue from a saved state."""
        self._last = part(state, "last") or None
        self._sequences.sums = part(state, "sums")


class PartReader:
    """Features of parts that follow from a state and an action alone.

    Args:
        model: The simulated model.
        spec: The environment it belongs to.
        wanted: What is read.
    """

    def __init__(self, model: mujoco.MjModel, spec: EnvSpec, wanted: tuple[PartFeature, ...]) -> None:
        quantities = {feature.quantity for feature in wanted}
        self._model = model
        self._spec = spec
        self._wanted = wanted
        functions = ["mj_kinematics", "mj_comPos"]
        fields = list(_POSES)
        if quantities & _MOVING:
            functions = [*functions, "mj_comVel", "mj_subtreeVel"]
            fields = [*fields, *_MOTIONS]
        if quantities & _FORCED:
            functions = ["mj_forward", "mj_subtreeVel", "mj_rnePostConstraint"]
            fields = [*_POSES, *_MOTIONS, *_FORCES]
        only_joints = not quantities - {"joint_angle", "joint_velocity"}
        self._forward = None if only_joints else ForwardFields(model, functions, fields)
        self._torso = index_of(model, "body", spec.morphology.torso)
        self._root = int(model.body_rootid[self._torso])
        self._bodies = {body.name: index_of(model, "body", body.name) for body in spec.bodies}
        self._joints = {joint.name: joint for joint in spec.joints}
        # Inverse orientation of every body of a robot that stands upright, facing +x, with its joints at 0.
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        turn = multiply(np.array(spec.morphology.upright)[None], conjugate(data.xquat[self._torso])[None])
        self._turned = conjugate(multiply(np.repeat(turn, model.nbody, axis=0), data.xquat))
        self._heights = GeomHeights(model, self._torso)
        self._floor = Floor(model, self._torso, (), ())
        self._ground = self._heights.ground
        self._geoms: dict[str, list[int]] = {}
        """Places of each part's geoms among the robot's."""
        geoms = self._heights.geoms
        for name in parts_of(spec, PartKind.TOUCHING) if quantities & {"contact", "clearance", "slip"} else ():
            if name in self._bodies:
                self._geoms[name] = np.flatnonzero(model.geom_bodyid[geoms] == self._bodies[name]).tolist()
            else:
                self._geoms[name] = [list(geoms).index(index_of(model, "geom", name))]

    def read(self, qpos: Floats, qvel: Floats, ctrl: Floats) -> Features:
        """Name -> values, shape (B,), at joint positions (B, nq), velocities (B, nv) and controls (B, nu)."""
        cuts = range(0, max(len(qpos), 1), ROWS)
        parts = [self._read(qpos[c : c + ROWS], qvel[c : c + ROWS], ctrl[c : c + ROWS]) for c in cuts]
        return {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}

    def _read(self, qpos: Floats, qvel: Floats, ctrl: Floats) -> Features:
        fields = {} if self._forward is None else self._forward.read(qpos, qvel, ctrl)
        rows = _ComputedStates(self._model, fields, qpos, qvel)
        return {feature.name: self._one(feature, rows) for feature in self._wanted}

    def _one(self, feature: PartFeature, rows: "_ComputedStates") -> Floats:
        quantity = feature.quantity
        name = feature.part
        if quantity.startswith("joint_") or quantity == "power":
            return self._of_joint(quantity, name, rows)
        if quantity in ("contact", "clearance", "slip"):
            return self._on_the_floor(quantity, name, rows)
        if quantity in ("roll", "pitch", "yaw", "up"):
            body = self._bodies[name]
            return _attitude(quantity, multiply(rows.fields["xquat"][:, body], self._turned[body]))
        if quantity == "contact_force":
            return np.asarray(np.linalg.norm(rows.fields["cfrc_ext"][:, self._bodies[name], 3:], axis=1))
        if quantity == "height" and self._ground is not None:
            return self._ground.above(self._point(name, rows))
        if quantity in ("position_x", "position_y", "height"):
            return self._point(name, rows)[:, {"position_x": 0, "position_y": 1, "height": 2}[quantity]].copy()
        if name == COM:
            velocity = rows.fields["subtree_linvel"][:, self._root]
        else:
            of_geom = name not in self._bodies
            body = int(self._model.geom_bodyid[index_of(self._model, "geom", name)]) if of_geom else self._bodies[name]
            velocity = rows.velocity(body, self._point(name, rows))
        if quantity == "speed":
            return np.asarray(np.hypot(velocity[:, 0], velocity[:, 1]))
        return velocity[:, _AXES[quantity[-1]]].copy()

    def _of_joint(self, quantity: str, name: str, rows: "_ComputedStates") -> Floats:
        if quantity == "power":
            return np.asarray(np.abs(rows.fields["qfrc_actuator"] * rows.qvel).sum(axis=1))
        joint = self._joints[name]
        if quantity == "joint_angle":
            return rows.qpos[:, joint.qpos_index].copy()
        if quantity == "joint_velocity":
            return rows.qvel[:, joint.qvel_index].copy()
        return rows.fields["qfrc_actuator"][:, joint.qvel_index].copy()

    def _point(self, name: str, rows: "_ComputedStates") -> Floats:
        if name == COM:
            return rows.fields["subtree_com"][:, self._root]
        if name in self._bodies:
            return rows.fields["xpos"][:, self._bodies[name]]
        return rows.fields["geom_xpos"][:, index_of(self._model, "geom", name)]

    def _on_the_floor(self, quantity: str, name: str, rows: "_ComputedStates") -> Floats:
        """Contact, clearance and slip of a part: of the geom of it that is lowest."""
        own = self._geoms[name]
        all_geoms = rows.lowest(self._heights)
        distance, down = self._floor.distances(all_geoms)
        touching = down[:, own].max(axis=1)
        if quantity == "contact":
            return np.asarray(touching)
        if quantity == "clearance":
            return np.asarray(distance[:, own].min(axis=1) - self._spec.rest_clearance)
        lowest = distance[:, own].argmin(axis=1)
        slip = np.zeros(len(distance))
        for k, geom in enumerate(own):
            index = int(self._heights.geoms[geom])
            centre = rows.fields["geom_xpos"][:, index]
            rotation = rows.fields["geom_xmat"][:, index].reshape(-1, 3, 3)
            velocity = rows.velocity(int(self._model.geom_bodyid[index]), self._heights.support(geom, centre, rotation))
            slip = np.where(lowest == k, np.hypot(velocity[:, 0], velocity[:, 1]), slip)
        return np.asarray(np.where(touching > 0.0, slip, 0.0))


class _ComputedStates:
    """What MuJoCo computed of B states."""

    def __init__(self, model: mujoco.MjModel, fields: Mapping[str, Floats], qpos: Floats, qvel: Floats) -> None:
        self.fields = fields
        self.qpos = qpos
        self.qvel = qvel
        self._model = model
        self._lowest: Floats | None = None

    def velocity(self, body: int, point: Floats) -> Floats:
        """Velocity of the material point of a body that is at `point`, shape (B, 3) [m/s]."""
        motion = self.fields["cvel"][:, body]
        origin = self.fields["subtree_com"][:, int(self._model.body_rootid[body])]
        return np.asarray(motion[:, 3:] + np.cross(motion[:, :3], point - origin))

    def lowest(self, heights: GeomHeights) -> Floats:
        """What `GeomHeights` gives, shape (B, number of geoms) [m]."""
        if self._lowest is None:
            self._lowest = heights.above_ground(self.fields["geom_xpos"], self.fields["geom_xmat"])
        return self._lowest


def _attitude(quantity: str, quaternion: Floats) -> Floats:
    if quantity == "up":
        return upness(quaternion)
    if quantity == "pitch":
        return np.arctan2(forward_axis(quaternion)[:, 2], upness(quaternion))
    left = left_axis(quaternion)
    if quantity == "roll":
        return np.arcsin(np.clip(left[:, 2], -1.0, 1.0))
    return np.arctan2(-left[:, 0], left[:, 1])
