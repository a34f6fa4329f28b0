"""How far the shapes of a robot are from uneven ground."""

from itertools import product

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.worker.engine.height_field import HeightField

Floats = NDArray[np.float64]
Kind = mujoco.mjtGeom

DIRECTIONS = np.array([one for one in product((-1.0, 0.0, 1.0), repeat=3) if any(one)])
"""To the corners, edges and faces of a cube, shape (26, 3)."""
_DOWN, _ASIDE = np.sqrt(0.5), ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
AROUND = np.array(
    [(x, y, 0.0) for x, y in _ASIDE] + [(_DOWN * x, _DOWN * y, -_DOWN) for x, y in _ASIDE] + [(0.0, 0.0, -1.0)]
)
"""Directions from the middle of a sphere to places where it may touch a riser, the side of a valley or an edge: four
level, four at 45 degrees downwards, and straight down, shape (9, 3)."""
MOST_BALLS = 5
"""Of a capsule."""
RIM = 8
"""Points on each rim of a cylinder."""


class TerrainDistances:
    """Distance of each of a robot's geoms from the terrain, by points on their surfaces.

    A sphere counts as its point that is nearest to the plane of the triangle below its middle, and nine others beside
    and below; a capsule as up to five spheres; any other shape as corners and points between them. The distance of a
    point is that from the plane of the triangle below it, or its height above the highest ground near it if that is
    more. On flat ground this is the height of the lowest point, and over one triangle that of a sphere is exact.
    Whatever is taken to touch does; where the ground bulges between two points of a shape, it is nearer than it is
    taken for, by what the ground rises between them at most.

    Args:
        model: The simulated model.
        geoms: Of the robot.
        ground: The terrain.
    """

    def __init__(self, model: mujoco.MjModel, geoms: NDArray[np.intp], ground: HeightField) -> None:
        self._ground = ground
        parts = [_points(model, int(geom)) for geom in geoms]
        self._counts = [len(points) for points, _ in parts]
        self._first = np.concatenate([[0], np.cumsum(self._counts)[:-1]])
        self._of = np.repeat(geoms, self._counts)
        self._points = np.concatenate([points for points, _ in parts])
        self._radius = np.repeat([radius for _, radius in parts], self._counts)
        self._roof = ground.roof(float(self._radius.max()))

    def read(self, centres: Floats, rotations: Floats) -> Floats:
        """Distances, negative inside the ground, shape (B, number of the robot's geoms) [m].

        Args:
            centres: Of all geoms of the model, shape (B, ngeom, 3) [m].
            rotations: Their rotation matrices by rows, shape (B, ngeom, 9).
        """
        rows = rotations[:, self._of].reshape(len(rotations), len(self._of), 3, 3)
        own = self._points
        middle = centres[:, self._of]
        # written out, not as a product of matrices: each row is to round alike wherever it stands
        x, y, z = (
            middle[:, :, i]
            + (rows[:, :, i, 0] * own[:, 0] + rows[:, :, i, 1] * own[:, 1] + rows[:, :, i, 2] * own[:, 2])
            for i in range(3)
        )
        above, slope_x, slope_y, steepness = self._seen_from(x, y, z)
        over_all = z - self._radius - self._roof[self._ground.cell(x, y)]
        distance = np.maximum(above - self._radius, over_all)
        # where the ground near a sphere is nowhere as high as its lowest point, it touches nothing
        near = (over_all < 0.0) & (self._radius > 0.0)
        if near.any():
            along = -slope_x[near] / steepness[near], -slope_y[near] / steepness[near], 1.0 / steepness[near]
            radius = np.broadcast_to(self._radius, x.shape)[near][:, None]
            places = [
                one[near][:, None]
                + radius * np.concatenate([-normal[:, None], np.tile(around, (len(normal), 1))], axis=1)
                for one, normal, around in zip((x, y, z), along, AROUND.T, strict=True)
            ]
            distance[near] = self._seen_from(*places)[0].min(axis=1)
        return np.minimum.reduceat(distance, self._first, axis=1)

    def _seen_from(self, x: Floats, y: Floats, z: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Distance of points from the plane of the triangle below each [m], its slopes, the length of its normal."""
        height, slope_x, slope_y = self._ground.surface(x, y)
        steepness = np.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
        return (z - height) / steepness, slope_x, slope_y, steepness


def _points(model: mujoco.MjModel, geom: int) -> tuple[Floats, float]:
    """Points of a geom in its own frame, shape (n, 3), and the radius of the sphere about each [m]."""
    size = model.geom_size[geom]
    kind = int(model.geom_type[geom])
    if kind == Kind.mjGEOM_SPHERE:
        return np.zeros((1, 3)), float(size[0])
    if kind == Kind.mjGEOM_CAPSULE:
        balls = int(np.clip(np.ceil(size[1] / (2.0 * size[0])) + 1, 2, MOST_BALLS))
        along = np.linspace(-size[1], size[1], balls)
        return np.stack([0.0 * along, 0.0 * along, along], axis=1), float(size[0])
    if kind == Kind.mjGEOM_CYLINDER:
        angles = np.linspace(0.0, 2.0 * np.pi, RIM, endpoint=False)
        rim = size[0] * np.cos(angles), size[0] * np.sin(angles)
        ends = [np.stack([*rim, np.full(RIM, end)], axis=1) for end in (-size[1], size[1])]
        return np.concatenate([*ends, [[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]]]), 0.0
    if kind == Kind.mjGEOM_ELLIPSOID:
        return size * DIRECTIONS / np.linalg.norm(DIRECTIONS, axis=1, keepdims=True), 0.0
    if kind == Kind.mjGEOM_BOX:
        return size * DIRECTIONS, 0.0
    if kind == Kind.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        corners = model.mesh_vert[first : first + count].astype(np.float64)
        return corners[np.unique((corners @ DIRECTIONS.T).argmax(axis=0))], 0.0
    return model.geom_aabb[geom, :3] + model.geom_aabb[geom, 3:] * DIRECTIONS, 0.0
