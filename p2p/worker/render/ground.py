"""Floor and sky of the ray caster, in closed form: background needs no rays."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.worker.engine.morphology import terrain_geom
from p2p.worker.render.camera import HALF_VIEW, Floats, Views
from p2p.worker.render.gl_child import HORIZON, SHADOW, TILES, level_floors, shadows, sky
from p2p.worker.render.uneven_ground import UnevenGround

Pixels = NDArray[np.float32]

HAZE = 0.01
"""How fast the floor fades into the horizon [1/m]."""
FARTHEST = 1000.0
"""Beyond it a floor counts as horizon [m]."""
CONTRAST = 0.06
"""How much darker the dark tiles of a plane are that has a colour of its own."""
TILE_SIZES = (0.1, 0.25, 0.5, 1.0)
"""Side of a tile; the largest that is at most a third of the camera's distance [m]."""


class Lens:
    """Directions through the pixels of a picture.

    Args:
        views: The camera.
        size: Width and height [px].
    """

    def __init__(self, views: Views, size: tuple[int, int]) -> None:
        width, height = size
        self._size = size
        self._axes = views.axes
        columns, rows = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
        self.pixels = self.through(columns.ravel(), rows.ravel())

    def through(self, columns: Floats, rows: Floats) -> Floats:
        """Directions, of depth 1, through places of the picture [px]; shape (..., 3)."""
        width, height = self._size
        scale = 2 * HALF_VIEW / height
        right = (columns - width / 2) * scale
        up = (height / 2 - rows) * scale
        forward, rightward, upward = self._axes
        return np.asarray(forward + right[..., None] * rightward + up[..., None] * upward)


class Ground:
    """Background of the pictures.

    Args:
        model: The simulated model; its planes are the floors and tables.
        planes: Indices of the plane geoms to draw.
        views: The camera.
        size: Width and height [px].
        lens: Directions through the pixels.
    """

    def __init__(
        self, model: mujoco.MjModel, planes: NDArray[np.intp], views: Views, size: tuple[int, int], lens: Lens
    ) -> None:
        width, height = size
        self._model = model
        self._planes = planes
        self._level = set(level_floors(model))
        self._rays = lens.pixels.astype(np.float32)
        terrain = terrain_geom(model)
        self._terrain = UnevenGround(model, terrain, self._rays, size) if terrain is not None else None
        self._lengths = np.linalg.norm(self._rays, axis=1)
        self._sky: Pixels = np.repeat(sky(views.elevation, height).astype(np.float32) / 255, width, axis=0)
        self._pixel = 2 * HALF_VIEW / height
        self._tile = max((side for side in TILE_SIZES if side <= views.distance / 3), default=TILE_SIZES[0])

    def paint(self, eye: Floats, places: Floats, turns: Floats) -> Pixels:
        """Floor and sky of one frame.

        Args:
            eye: Where the camera stands, shape (3,) [m].
            places: Centres of all geoms, shape (ngeom, 3) [m].
            turns: Their rotation matrices, shape (ngeom, 3, 3).

        Returns:
            Colours, shape (height * width, 3), in [0, 1].
        """
        picture = self._sky.copy()
        nearest: Pixels = np.full(len(picture), FARTHEST, np.float32)
        for plane in self._planes:
            shade = shadows(self._model, plane, places, turns) if int(plane) in self._level else None
            turn = turns[plane].astype(np.float32)
            self._lay(int(plane), eye - places[plane], turn, picture, nearest, places[plane], shade)
        if self._terrain is not None:
            self._terrain.paint(eye, picture)
        return picture

    def _lay(
        self,
        plane: int,
        eye: Floats,
        turn: Pixels,
        picture: Pixels,
        nearest: Pixels,
        origin: Floats,
        shade: tuple[Floats, Floats] | None,
    ) -> None:
        slope = self._rays @ turn[:, 2]
        below = np.flatnonzero(slope < -1e-6)
        above = np.float32(eye @ turn[:, 2])
        if above <= 0 or not len(below):
            return
        part = slice(below[0], below[-1] + 1)  # all of it where the horizon is level; the rest is sorted out below
        slope = np.minimum(slope[part], np.float32(-1e-6))
        away = -above / slope
        along = [np.float32(eye @ axis) + away * (self._rays[part] @ axis) for axis in turn.T[:2]]
        seen = away < nearest[part]
        for half, place in zip(self._model.geom_size[plane], along, strict=False):
            if half > 0:
                seen &= np.abs(place) <= half
        blur = self._pixel / self._tile * away / np.maximum(-slope, np.float32(0.02))
        light = _checker(along[0] / self._tile, along[1] / self._tile, blur)
        dark, bright = self._tiles(plane)
        clear = np.exp(-HAZE * away * self._lengths[part])[:, None]
        horizon = np.array(HORIZON, np.float32)
        tiles = dark + light[:, None] * (bright - dark)
        if shade is not None:
            ends, radii = shade
            tiles *= _shade(along[0], along[1], ends - origin[:2], radii, self._pixel * away)[:, None]
        colour = (tiles - horizon) * clear + horizon
        np.copyto(picture[part], colour, where=seen[:, None])
        np.copyto(nearest[part], away, where=seen)

    def _tiles(self, plane: int) -> tuple[Pixels, Pixels]:
        if self._model.geom_matid[plane] >= 0:
            dark, bright = TILES
            return np.full(3, dark, np.float32), np.full(3, bright, np.float32)
        own = self._model.geom_rgba[plane, :3].astype(np.float32)
        return own * np.float32(1 - CONTRAST), own


def _shade(x: Pixels, y: Pixels, ends: Floats, radii: Floats, blur: Pixels) -> Pixels:
    """Light on places of a level floor, 1 or `SHADOW`, with edges as wide as `blur` [m].

    Args:
        x: Places on the floor, from its centre, shape (n,) [m].
        y: The same.
        ends: Of the shadows, from its centre, shape (shapes, 2, 2) [m].
        radii: Half their widths [m].
        blur: Width of a pixel there, shape (n,) [m].
    """
    light: Pixels = np.ones(len(x), np.float32)
    for (start, end), radius in zip(ends.astype(np.float32), radii.astype(np.float32), strict=True):
        reach = radius + 0.1
        low = np.minimum(start, end) - reach
        high = np.maximum(start, end) + reach
        near = np.flatnonzero((x > low[0]) & (x < high[0]) & (y > low[1]) & (y < high[1]))
        if not len(near):
            continue
        along = end - start
        dx = x[near] - start[0]
        dy = y[near] - start[1]
        share = np.clip((dx * along[0] + dy * along[1]) / max(float(along @ along), 1e-9), 0, 1)
        distance = np.hypot(dx - share * along[0], dy - share * along[1])
        covered = np.clip((radius - distance) / np.maximum(blur[near], np.float32(1e-4)) + np.float32(0.5), 0, 1)
        light[near] = np.minimum(light[near], 1 - (1 - np.float32(SHADOW)) * covered)
    return light


def _checker(x: Pixels, y: Pixels, blur: Pixels) -> Pixels:
    """1 on light tiles, 0 on dark ones, with edges as wide as `blur`, all in tiles; grey where that is too coarse."""
    steepness = np.float32(1 / np.pi) / np.maximum(blur, np.float32(1e-3))
    product = np.float32(0.5)
    for place in (x, y):
        product = product * np.clip(np.sin(np.float32(np.pi) * place) * steepness, -1, 1)
    return np.asarray(product + np.float32(0.5), np.float32)
