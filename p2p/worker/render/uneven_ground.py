"""Terrain of the ray caster: rays are followed down to the height field in numpy, one for some pixels."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.worker.engine.height_field import HeightField
from p2p.worker.render.camera import Floats
from p2p.worker.render.gl_child import HORIZON, TILES

Pixels = NDArray[np.float32]

BLOCK = 3
"""Side of the square of pixels that one ray stands for [px]."""
SAMPLES = 32
"""Places at which a ray is held against the ground, between the highest and the lowest there is."""
FARTHEST_M = 60.0
"""Ground further away is not drawn."""
HAZE = 0.02
"""How fast it fades into the horizon [1/m]."""
SUN = np.array([0.25, -0.45, 0.86])
AMBIENT = 0.5
DIFFUSE = 0.5
"""Light from everywhere, and from the sun."""
CONTRAST = 0.06
"""How much darker one of two neighbouring tiles is."""
TILE_M = 0.5


class UnevenGround:
    """Draws the terrain of a model. It hides nothing: a robot is drawn over it.

    Args:
        model: The simulated model.
        geom: Its terrain.
        rays: Directions through all pixels, of depth 1, shape (height * width, 3).
        size: Width and height of a picture [px].
    """

    def __init__(self, model: mujoco.MjModel, geom: int, rays: Pixels, size: tuple[int, int]) -> None:
        width, height = size
        self._ground = HeightField(model, geom)
        self._lowest, self._highest = self._ground.limits
        self._size = size
        grid = rays.reshape(height, width, 3)[BLOCK // 2 :: BLOCK, BLOCK // 2 :: BLOCK].astype(np.float64)
        self._coarse = grid.shape[:2]
        self._rays = grid.reshape(-1, 3)
        self._lengths = np.linalg.norm(self._rays, axis=1)
        own = model.geom_rgba[geom, :3] if model.geom_matid[geom] < 0 else np.full(3, sum(TILES) / 2)
        self._colour = np.asarray(own, np.float64)

    def paint(self, eye: Floats, picture: Pixels) -> None:
        """Draw one frame over the sky in `picture`, shape (height * width, 3), seen from `eye`, shape (3,) [m]."""
        away = self._distances(eye)
        met = np.flatnonzero(np.isfinite(away))
        x, y, _ = (eye + away[met, None] * self._rays[met]).T
        _, slope_x, slope_y = self._ground.surface(x, y)
        lit = (SUN[2] - slope_x * SUN[0] - slope_y * SUN[1]) / np.sqrt(1.0 + slope_x**2 + slope_y**2)
        light = AMBIENT + DIFFUSE * np.maximum(lit, 0.0)
        light *= 1.0 - CONTRAST * ((np.floor(x / TILE_M) + np.floor(y / TILE_M)) % 2)
        clear = np.exp(-HAZE * away[met] * self._lengths[met])[:, None]
        horizon = np.array(HORIZON)
        colours = np.zeros((len(away), 3), np.float32)
        colours[met] = (self._colour * light[:, None] - horizon) * clear + horizon
        width, height = self._size
        seen = self._spread(np.isfinite(away))[:height, :width].reshape(-1, 1)
        np.copyto(picture, self._spread(colours)[:height, :width].reshape(-1, 3), where=seen)

    def _distances(self, eye: Floats) -> Floats:
        """Depth at which each ray meets the ground, infinite where it does not, shape (rays,) [m]."""
        down = np.minimum(self._rays[:, 2], -1e-6)
        first = np.maximum((self._highest - eye[2]) / down, 0.0)
        last = np.minimum((self._lowest - eye[2]) / down, FARTHEST_M)
        share = np.linspace(0.0, 1.0, SAMPLES)
        depths = first[:, None] + share * np.maximum(last - first, 0.0)[:, None]
        x, y, z = (eye[i] + depths * self._rays[:, i, None] for i in range(3))
        above = z - self._ground.height(x, y)
        below = above <= 1e-9
        at = below.argmax(axis=1)
        rows = np.arange(len(at))
        before = np.maximum(at - 1, 0)
        high, low = above[rows, before], above[rows, at]
        part = np.clip(high / np.maximum(high - low, 1e-12), 0.0, 1.0)
        met = depths[rows, before] + part * (depths[rows, at] - depths[rows, before])
        return np.where(below.any(axis=1) & (self._rays[:, 2] < -1e-6) & (first < FARTHEST_M), met, np.inf)

    def _spread(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """One value for each ray as one for each pixel, shape (height or more, width or more, ...)."""
        grid = values.reshape(*self._coarse, *values.shape[1:])
        grid = np.repeat(np.repeat(grid, BLOCK, axis=0), BLOCK, axis=1)
        missing = [(0, max(0, want - have)) for want, have in zip(self._size[::-1], grid.shape, strict=False)]
        return np.pad(grid, [*missing, *[(0, 0)] * (grid.ndim - 2)], mode="edge")
