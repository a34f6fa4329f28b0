"""Look up the ground of a compiled model: its height and its slopes anywhere."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.worker.engine.morphology import terrain_geom

Floats = NDArray[np.float64]


def height_field(model: mujoco.MjModel) -> "HeightField | None":
    """The terrain of a model; None where its floor is level."""
    geom = terrain_geom(model)
    return HeightField(model, geom) if geom is not None else None


class HeightField:
    """The surface of a height field whose axes are the world's, as MuJoCo cuts it into triangles.

    The diagonal of each cell joins its corner of the smallest x and y to that of the largest. Outside the field
    the ground is that of its nearest edge. Each row of the arguments is computed on its own, with the same rounding
    wherever it stands.

    Args:
        model: The compiled model.
        geom: The height field's geom, of the world.
    """

    def __init__(self, model: mujoco.MjModel, geom: int) -> None:
        index = int(model.geom_dataid[geom])
        rows, columns = int(model.hfield_nrow[index]), int(model.hfield_ncol[index])
        first = int(model.hfield_adr[index])
        half_x, half_y, scale, _ = model.hfield_size[index]
        x, y, z = model.geom_pos[geom]
        self._heights: Floats = z + scale * model.hfield_data[first : first + rows * columns].astype(np.float64)
        self._shape = rows, columns
        self._columns = columns
        self._last = columns - 1, rows - 1
        self._origin = float(x - half_x), float(y - half_y)
        self._cell = float(2.0 * half_x / (columns - 1)), float(2.0 * half_y / (rows - 1))

    @property
    def limits(self) -> tuple[float, float]:
        """Lowest and highest of the ground [m]."""
        return float(self._heights.min()), float(self._heights.max())

    def height(self, x: Floats, y: Floats) -> Floats:
        """Height of the ground at places in the world, each of any one shape [m]."""
        return self.surface(x, y)[0]

    def above(self, points: Floats) -> Floats:
        """Height of points in the world, shape (..., 3), above the ground below them, shape (...) [m]."""
        return np.asarray(points[..., 2] - self.height(points[..., 0], points[..., 1]))

    def surface(self, x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
        """Height of the ground [m], and how steeply it rises along x and along y [m/m].

        Args:
            x: Places in the world, of any shape [m].
            y: The same.
        """
        u, column = self._in_cells(x, 0)
        v, row = self._in_cells(y, 1)
        corner = row * self._columns + column
        right = u >= v
        # of the triangle: the corner with the right angle, its neighbour along x, and that along y
        here = self._heights[np.where(right, corner + 1, corner + self._columns)]
        along_x = self._heights[np.where(right, corner, corner + self._columns + 1)]
        along_y = self._heights[np.where(right, corner + self._columns + 1, corner)]
        rise_x, rise_y = along_x - here, along_y - here
        height = here + np.where(right, 1.0 - u, u) * rise_x + np.where(right, v, 1.0 - v) * rise_y
        side = np.where(right, 1.0, -1.0)
        return height, -side * rise_x / self._cell[0], side * rise_y / self._cell[1]

    def roof(self, radius: float) -> Floats:
        """Height that no ground within a horizontal distance exceeds, for every cell, flat, by its number [m]."""
        heights = self._heights.reshape(self._shape)
        for axis in (0, 1):
            reach = int(np.ceil(radius / self._cell[1 - axis]))
            padded = np.pad(heights, [(reach, reach + 1) if at == axis else (0, 0) for at in (0, 1)], mode="edge")
            heights = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 2, axis=axis).max(axis=-1)
        return heights.ravel()

    def cell(self, x: Floats, y: Floats) -> NDArray[np.intp]:
        """Number of the cell that a place is in, of any shape."""
        return self._in_cells(y, 1)[1] * self._columns + self._in_cells(x, 0)[1]

    def _in_cells(self, place: Floats, axis: int) -> tuple[Floats, NDArray[np.intp]]:
        """Place within its cell, in [0, 1], and the cell's number."""
        cells = np.clip((place - self._origin[axis]) / self._cell[axis], 0.0, self._last[axis])
        number = np.minimum(np.nan_to_num(cells).astype(np.intp), self._last[axis] - 1)
        return cells - number, number
