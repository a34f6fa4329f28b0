"""Path of a body, drawn over pictures: solid for the past, thin for the future."""

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from p2p.contracts.errors import UnknownName
from p2p.worker.engine.morphology import name_of
from p2p.worker.render.camera import Floats, Views

PAST = (196, 0, 160)
NEXT = (226, 140, 212)
"""Colours of what is behind and ahead of the moment."""
WIDTH = 2.4
"""Of the line behind the moment, in a picture of 480 pixels [px]."""
THINNEST = 3.0
"""In small pictures, which are drawn twice as large as they are shown [px]."""
FARTHEST = 20_000.0
"""From the picture's corner; a point beyond is as good as behind the camera [px]."""


def body_path(model: mujoco.MjModel, qpos: Floats, body: str) -> Floats:
    """Position of a body's centre of mass at every step, shape (T, 3) [m].

    Args:
        model: The simulated model.
        qpos: Joint positions, shape (T, nq).
        body: Its name, as the environment's facts have it.

    Raises:
        UnknownName: there is no such body.
    """
    names = [name_of(model, "body", index) for index in range(1, model.nbody)]
    if body not in names:
        raise UnknownName("body", body, names)
    data = mujoco.MjData(model)
    path = np.empty((len(qpos), 3))
    for row, place in zip(qpos, path, strict=True):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        place[:] = data.xipos[names.index(body) + 1]
    return path


def path_spots(path: Floats, views: Views, size: tuple[int, int]) -> Floats:
    """Whole path in the image of each of T cameras.

    Args:
        path: Shape (P, 3) [m].
        views: T cameras.
        size: Width and height of the pictures [px].

    Returns:
        Columns and rows, shape (T, P, 2) [px]; NaN where nothing can be drawn.
    """
    spots = views.project(np.broadcast_to(path, (len(views), *path.shape)), size)
    return np.asarray(np.where(np.abs(spots).max(axis=-1, keepdims=True) < FARTHEST, spots, np.nan))


def draw_path(picture: Image.Image, spots: NDArray[np.float64], now: int) -> None:
    """Draw a path into a picture.

    Args:
        picture: It is changed.
        spots: Columns and rows of all its points, shape (P, 2) [px].
        now: Index of the point at which the body is.
    """
    pen = ImageDraw.Draw(picture)
    width = max(THINNEST, WIDTH * picture.width / 480)
    _line(pen, spots[now:], NEXT, max(1, round(width / 2)))
    _line(pen, spots[: now + 1], PAST, round(width))
    if np.isfinite(spots[now]).all():
        x, y = spots[now]
        radius = 1.6 * width
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=PAST, outline="white")


def _line(pen: ImageDraw.ImageDraw, spots: NDArray[np.float64], colour: tuple[int, int, int], width: int) -> None:
    """Pieces of the path between points that cannot be drawn."""
    breaks = np.flatnonzero(~np.isfinite(spots).all(axis=1))
    for piece in np.split(spots, breaks):
        points = [(float(x), float(y)) for x, y in piece if np.isfinite(x)]
        if len(points) > 1:
            pen.line(points, fill=colour, width=width, joint="curve")
