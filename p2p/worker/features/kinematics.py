"""Inputs of features at given simulator states, not a sub-step behind them."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec, Morphology
from p2p.rewards.rotations import conjugate, multiply
from p2p.rewards.states import States
from p2p.worker.engine.forward_kinematics import ForwardKinematics, Poses
from p2p.worker.engine.height_field import height_field
from p2p.worker.engine.morphology import (
    collides,
    floor_geom,
    index_of,
    inner_dofs,
    largest_geom,
    name_of,
    robot_geoms,
    terrain_geom,
)
from p2p.worker.features.terrain_distances import TerrainDistances

Floats = NDArray[np.float64]
Kind = mujoco.mjtGeom
ROWS = 256
"""States whose poses are held at a time: those of a humanoid take 3 kB."""
MOST_CORNERS = 200
"""Of a mesh with more, the box around it is read: robots from model files have hulls of at most 64."""
FLAT = 1e-6
"""Sine of the angle below which an edge or face lies flat on the floor."""


class Kinematics:
    """Reader of a model's states.

    Args:
        model: The simulated model.
        spec: The environment it belongs to; names the torso, feet, target and poles.
    """

    def __init__(self, model: mujoco.MjModel, spec: EnvSpec) -> None:
        body = spec.morphology
        self._poses = ForwardKinematics(model)
        self._torso = index_of(model, "body", body.torso)
        self._upright = conjugate(np.array(body.upright))
        self._dofs = inner_dofs(model, self._torso)
        self._shapes = GeomHeights(model, self._torso)
        self._target = TargetDistance(model, body) if body.effector and body.target else None
        self._floor = Floor(model, self._torso, body.feet, body.trunk)
        self._poles = Poles(model, body.pole)
        self._ground = self._shapes.ground

    def read(self, qpos: Floats, qvel: Floats) -> States:
        """Read B states.

        Args:
            qpos: Joint positions, shape (B, nq).
            qvel: Joint velocities, shape (B, nv).

        Returns:
            New arrays with leading axis B.
        """
        if len(qpos) <= ROWS:
            return self._read(qpos, qvel)
        cuts = range(0, len(qpos), ROWS)
        return States.joined([self._read(qpos[cut : cut + ROWS], qvel[cut : cut + ROWS]) for cut in cuts])

    def _read(self, qpos: Floats, qvel: Floats) -> States:
        rows = self._poses.read(qpos)
        heights = self._shapes.above_ground(rows.geom_xpos, rows.geom_xmat)
        position = rows.xpos[:, self._torso].copy()
        if self._ground is None:
            ground, tops = np.zeros(len(qpos)), rows.geom_xpos[:, self._shapes.geoms, 2]
        else:
            ground = self._ground.height(position[:, 0], position[:, 1])
            tops = self._ground.above(rows.geom_xpos[:, self._shapes.geoms])
        top = tops.max(axis=1) if len(self._shapes.geoms) else np.zeros(len(qpos))
        low, feet, foot_height, touching, trunk = self._floor.read(heights)
        angle, tip = self._poles.read(rows.xmat, rows.geom_xpos, rows.geom_xmat)
        if not len(self._dofs):
            joint_speed = np.zeros(len(qvel))
        else:
            joint_speed = np.asarray(np.abs(np.take(qvel, self._dofs, axis=1)).mean(axis=1))
        distance = np.zeros(len(qpos)) if self._target is None else self._target.read(rows)
        return States(
            position=position,
            ground=ground,
            quaternion=multiply(rows.xquat[:, self._torso], self._upright),
            low=low,
            top=top,
            feet=feet,
            foot_height=foot_height,
            touching=touching,
            trunk=trunk,
            joint_speed=joint_speed,
            target_distance=distance,
            pole_angle=angle,
            pole_height=tip,
        )


class TargetDistance:
    """Distance from what reaches to what is reached.

    Args:
        model: The simulated model.
        body: Names both.
    """

    def __init__(self, model: mujoco.MjModel, body: Morphology) -> None:
        effector, target = str(body.effector), str(body.target)
        sites = {model.site(site).name: site for site in range(model.nsite)}
        bodies = [name_of(model, "body", one) for one in range(model.nbody)]
        site = sites[effector] if effector not in bodies else None
        self._effector = bodies.index(effector) if site is None else int(model.site_bodyid[site])
        self._offset: Floats | None = model.site_pos[site].copy() if site is not None else None
        self._target = bodies.index(target)
        self._in_space = body.height_counts
        self._geom = largest_geom(model, self._target)
        self._radius = body.target_radius

    def read(self, rows: Poses) -> Floats:
        """Distance in each of B poses, shape (B,) [m]."""
        tip = rows.xpos[:, self._effector]
        if not self._in_space:
            gap = tip[:, :2] - rows.xpos[:, self._target, :2]
            return np.asarray(np.sqrt(gap[:, 0] ** 2 + gap[:, 1] ** 2))
        if self._offset is not None:
            tip = tip + rows.xmat[:, self._effector].reshape(-1, 3, 3) @ self._offset
        centre = rows.xpos[:, self._target] if self._geom is None else rows.geom_xpos[:, self._geom]
        away = np.sqrt(((tip - centre) ** 2).sum(axis=1))
        return np.asarray(np.maximum(away - self._radius, 0.0))


class GeomHeights:
    """Lowest point of every geom of a robot, in closed form.

    A shape's extent towards the floor is that of a box, an ellipsoid and a sphere added up, with only the fitting ones
    non-zero; a mesh counts as its corners where it collides, else as the box around it.
    """

    def __init__(self, model: mujoco.MjModel, torso: int) -> None:
        self.geoms = robot_geoms(model, torso)
        parts = [_extents(model, int(geom)) for geom in self.geoms]
        box, ellipsoid, radius, centre = zip(*parts, strict=True)
        self._box = np.array(box)
        self._ellipsoid = np.array(ellipsoid)
        self._centre = np.array(centre)
        self._radius = np.array(radius)
        self._corners = [
            (at, model.mesh_vert[start : start + count].astype(np.float64))
            for at, geom in enumerate(self.geoms)
            if model.geom_type[geom] == Kind.mjGEOM_MESH and (model.geom_contype[geom] or model.geom_conaffinity[geom])
            for start, count in [_span(model, int(model.geom_dataid[geom]))]
            if count <= MOST_CORNERS
        ]
        self.ground = height_field(model)
        """The terrain; None where the floor is level."""
        self._terrain = TerrainDistances(model, self.geoms, self.ground) if self.ground is not None else None

    def above_ground(self, centres: Floats, rotations: Floats) -> Floats:
        """World height of each geom's lowest point; on a terrain its distance from that.

        Args:
            centres: Of all geoms of the model, shape (B, ngeom, 3) [m].
            rotations: Their rotation matrices by rows, shape (B, ngeom, 9).

        Returns:
            Shape (B, number of the robot's geoms) [m].
        """
        if self._terrain is not None:
            return self._terrain.read(centres, rotations)
        return self.lowest(centres[:, :, 2], rotations[:, :, 6:])

    def lowest(self, z: Floats, up: Floats) -> Floats:
        """World height of each geom's lowest point.

        Args:
            z: Height of all geom centres of the model, shape (B, ngeom) [m].
            up: Third row of all geoms' rotation matrices, shape (B, ngeom, 3).

        Returns:
            Shape (B, number of the robot's geoms) [m].
        """
        up = up[:, self.geoms]
        extent = (np.abs(up) * self._box).sum(axis=2) + np.sqrt(((up * self._ellipsoid) ** 2).sum(axis=2))
        lowest = np.asarray(z[:, self.geoms] + (up * self._centre).sum(axis=2) - extent - self._radius)
        for at, corners in self._corners:
            lowest[:, at] = z[:, self.geoms[at]] + (up[:, at] @ corners.T).min(axis=1)
        return lowest

    def support(self, geom: int, centre: Floats, rotation: Floats) -> Floats:
        """The lowest point of one geom in the world, shape (B, 3) [m]; the middle where an edge or face lies flat.

        Args:
            geom: Its index in `geoms`.
            centre: Of the geom, shape (B, 3) [m].
            rotation: Its rotation matrices, shape (B, 3, 3).
        """
        up = rotation[:, 2]
        side = np.where(np.abs(up) > FLAT, np.sign(up), 0.0)
        stretched = up * self._ellipsoid[geom]
        length = np.sqrt((stretched**2).sum(axis=1, keepdims=True))
        round_part = stretched * self._ellipsoid[geom] / np.where(length > 0.0, length, 1.0)
        local = self._centre[geom] - side * self._box[geom] - round_part - self._radius[geom] * up
        return np.asarray(centre + np.einsum("bij,bj->bi", rotation, local))


def _span(model: mujoco.MjModel, mesh: int) -> tuple[int, int]:
    """Where a mesh's corners begin, and how many it has."""
    return int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])


def _extents(model: mujoco.MjModel, geom: int) -> tuple[Floats, Floats, float, Floats]:
    size = model.geom_size[geom]
    none = np.zeros(3)
    kind = int(model.geom_type[geom])
    if kind == Kind.mjGEOM_SPHERE:
        return none, none, float(size[0]), none
    if kind == Kind.mjGEOM_CAPSULE:
        return np.array([0.0, 0.0, size[1]]), none, float(size[0]), none
    if kind == Kind.mjGEOM_CYLINDER:
        return np.array([0.0, 0.0, size[1]]), np.array([size[0], size[0], 0.0]), 0.0, none
    if kind == Kind.mjGEOM_ELLIPSOID:
        return none, size.copy(), 0.0, none
    if kind == Kind.mjGEOM_BOX:
        return size.copy(), none, 0.0, none
    return model.geom_aabb[geom, 3:].copy(), none, 0.0, model.geom_aabb[geom, :3].copy()


class Floor:
    """Who touches the floor: a geom does while its distance is below the contact margin, as in MuJoCo's own test."""

    def __init__(self, model: mujoco.MjModel, torso: int, feet: tuple[str, ...], trunk: tuple[str, ...]) -> None:
        geoms = list(robot_geoms(model, torso))
        self._feet = [geoms.index(index_of(model, "geom", name)) for name in feet]
        self._trunk = [geoms.index(index_of(model, "geom", name)) for name in trunk]
        floor = floor_geom(model, torso)
        self._exists = floor is not None
        if floor is None:
            return
        self._height = float(model.geom_pos[floor, 2]) if terrain_geom(model) is None else 0.0
        reach = model.geom_margin - model.geom_gap
        self._margin = reach[geoms] + reach[floor]
        solid = collides(model, floor, np.array(geoms))
        self._margin[~solid] = -np.inf
        self._solid = np.flatnonzero(solid) if solid.any() else np.arange(len(solid))

    def read(self, lowest: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Lowest point over the floor [m], feet down, feet above where they touch [m], anything down, trunk down.

        Args:
            lowest: What `GeomHeights` gives, shape (B, number of the robot's geoms) [m].
        """
        n = len(lowest)
        if not self._exists:
            feet = np.zeros((n, len(self._feet)))
            return np.zeros(n), feet, feet, np.zeros(n), np.zeros(n)
        distance = lowest - self._height
        down = (distance < self._margin).astype(np.float64)
        trunk = down[:, self._trunk].max(axis=1, initial=0.0)
        above = distance[:, self._feet] - np.maximum(self._margin[self._feet], 0.0)
        return distance[:, self._solid].min(axis=1), down[:, self._feet], above, down.max(axis=1), trunk

    def distances(self, lowest: Floats) -> tuple[Floats, Floats]:
        """Height of each geom's lowest point over the floor [m], and 1 where it touches, shaped as `lowest`."""
        distance = lowest - self._height
        return distance, (distance < self._margin).astype(np.float64)


class Poles:
    """The chain of poles that ends in a given body: everything that hinges, outermost last."""

    def __init__(self, model: mujoco.MjModel, last: str | None) -> None:
        self._bodies: list[int] = []
        if last is None:
            return
        body = index_of(model, "body", last)
        # The pole's geom, and its half length with the sign that leads away from the hinge.
        geom = int(model.body_geomadr[body])
        axis = np.zeros(3)
        mujoco.mju_rotVecQuat(axis, np.array([0.0, 0.0, 1.0]), model.geom_quat[geom])
        self._geom, self._half = geom, float(np.copysign(model.geom_size[geom, 1], axis @ model.geom_pos[geom]))
        while body and int(model.body_parentid[body]):
            self._bodies.append(body)
            body = int(model.body_parentid[body])

    def read(self, xmat: Floats, geom_xpos: Floats, geom_xmat: Floats) -> tuple[Floats, Floats]:
        """Summed angle from upright [rad] and height of the tip [m], each of shape (B,)."""
        n = len(xmat)
        if not self._bodies:
            return np.zeros(n), np.zeros(n)
        up = xmat[:, self._bodies, 8]
        side = np.sqrt(xmat[:, self._bodies, 2] ** 2 + xmat[:, self._bodies, 5] ** 2)
        angle = np.arctan2(side, up).sum(axis=1)
        return angle, geom_xpos[:, self._geom, 2] + self._half * geom_xmat[:, self._geom, 8]
