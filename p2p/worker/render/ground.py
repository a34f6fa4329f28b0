"""Floor and sky of the ray caster, in closed form: no ray is cast for what has no shape."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.worker.render.camera import HALF_VIEW, Floats, Views
from p2p.worker.render.gl_child import HORIZON, TILES, sky

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
        self._size, self._axes = size, views.axes
        columns, rows = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
        self.pixels = self.through(columns.ravel(), rows.ravel())

    def through(self, columns: Floats, rows: Floats) -> Floats:
        """Directions, of depth 1, through places of the picture [px]; shape (..., 3)."""
        width, height = self._size
        scale = 2 * HALF_VIEW / height
        right, up = (columns - width / 2) * scale, (height / 2 - rows) * scale
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
        self._model, self._planes = model, planes
        self._rays = lens.pixels.astype(np.float32)
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
            self._lay(int(plane), eye - places[plane], turns[plane].astype(np.float32), picture, nearest)
        return picture

    def _lay(self, plane: int, eye: Floats, turn: Pixels, picture: Pixels, nearest: Pixels) -> None:
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
        colour = (dark + light[:, None] * (bright - dark) - horizon) * clear + horizon
        np.copyto(picture[part], colour, where=seen[:, None])
        np.copyto(nearest[part], away, where=seen)

    def _tiles(self, plane: int) -> tuple[Pixels, Pixels]:
        if self._model.geom_matid[plane] >= 0:
            dark, bright = TILES
            return np.full(3, dark, np.float32), np.full(3, bright, np.float32)
        own = self._model.geom_rgba[plane, :3].astype(np.float32)
        return own * np.float32(1 - CONTRAST), own


def _checker(x: Pixels, y: Pixels, blur: Pixels) -> Pixels:
    """1 on light tiles, 0 on dark ones, with edges as wide as `blur`, all in tiles; grey where that is too coarse."""
    steepness = np.float32(1 / np.pi) / np.maximum(blur, np.float32(1e-3))
    product = np.float32(0.5)
    for place in (x, y):
        product = product * np.clip(np.sin(np.float32(np.pi) * place) * steepness, -1, 1)
    return np.asarray(product + np.float32(0.5), np.float32)
