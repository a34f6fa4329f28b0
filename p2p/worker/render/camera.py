"""Camera that follows the robot smoothly."""

from dataclasses import dataclass, replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.work import ViewCamera
from p2p.worker.engine.height_field import height_field
from p2p.worker.engine.morphology import index_of
from p2p.worker.render.gl_child import FIELD_OF_VIEW

Floats = NDArray[np.float64]

HALF_VIEW = float(np.tan(np.deg2rad(FIELD_OF_VIEW / 2)))
"""Half of the picture's height at distance 1."""
SMOOTHING_S = 0.2
"""Width of the Gaussian that takes the robot's shaking out of the camera's path [s]."""
AIM_LOW = 0.75
"""The camera aims at this share of the height at rest, so that the floor is in the picture."""
AIM_RISE = 0.5
"""It rises by this share of what the robot rises, so that a jump is seen as one."""
FLOORS = [int(kind) for kind in (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)]
"""Kinds of geoms that a picture need not show whole."""
ANGLES = {ViewCamera.SIDE: (90.0, -6.0), ViewCamera.FRONT: (180.0, -6.0), ViewCamera.TOP: (90.0, -89.0)}
"""Direction of view about the vertical and above the horizon, of the cameras that are the same everywhere [deg]."""


@dataclass(frozen=True)
class Views:
    """One camera over T frames."""

    lookat: Floats
    """Points in the middle of the pictures, shape (T, 3) [m]."""
    distance: float
    """[m]."""
    azimuth: float
    """Direction of view about the vertical, 0 along +x, 90 along +y [deg]."""
    elevation: float
    """Negative looks down [deg]."""

    def __len__(self) -> int:
        return len(self.lookat)

    def at(self, frames: NDArray[np.intp] | slice) -> "Views":
        """The camera at selected frames."""
        return replace(self, lookat=self.lookat[frames])

    @property
    def axes(self) -> Floats:
        """Directions forward, right and up of the camera as rows, shape (3, 3)."""
        azimuth = np.deg2rad(self.azimuth)
        elevation = np.deg2rad(self.elevation)
        level = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        forward = np.cos(elevation) * level + np.array([0.0, 0.0, np.sin(elevation)])
        right = np.array([np.sin(azimuth), -np.cos(azimuth), 0.0])
        return np.stack([forward, right, np.cross(right, forward)])

    @property
    def eyes(self) -> Floats:
        """Camera positions, shape (T, 3) [m]."""
        return np.asarray(self.lookat - self.distance * self.axes[0])

    def project(self, points: Floats, size: tuple[int, int]) -> Floats:
        """Project world points into the pictures.

        Args:
            points: One or several points per frame, shape (T, ..., 3) [m].
            size: Width and height of the pictures [px].

        Returns:
            Columns and rows from the top left corner, shape (T, ..., 2) [px]; NaN for points behind the camera.
        """
        width, height = size
        eyes = self.eyes.reshape(-1, *[1] * (points.ndim - 2), 3)
        local = (points - eyes) @ self.axes.T
        depth = np.where(local[..., 0] > 1e-6, local[..., 0], np.nan)
        scale = height / 2 / HALF_VIEW
        return np.stack([width / 2 + scale * local[..., 1] / depth, height / 2 - scale * local[..., 2] / depth], -1)


def follow(
    model: mujoco.MjModel,
    spec: EnvSpec,
    qpos: Floats,
    camera: ViewCamera = ViewCamera.TRACKING,
    dt: float | None = None,
) -> Views:
    """A camera along a trajectory.

    Args:
        model: The simulated model.
        spec: The environment it belongs to.
        qpos: Joint positions at every control step, shape (T, nq).
        camera: Where it stands; "tracking" is the camera of `spec`.
        dt: Time from one row of `qpos` to the next [s]; None takes the control period.
    """
    azimuth, elevation = ANGLES.get(camera, (spec.camera.azimuth, spec.camera.elevation))
    placed = spec.camera.model_copy(update={"azimuth": azimuth, "elevation": elevation})
    if placed.tracks == "world":
        # Between the outermost geoms of the model's initial pose, floors aside.
        data = mujoco.MjData(model)
        shown = ~np.isin(model.geom_type, FLOORS)
        if spec.robot is not None:  # walls and tables aside too, in the pose in which it begins
            data.qpos[:] = qpos[0]
            shown &= model.geom_bodyid > 0
        mujoco.mj_kinematics(model, data)
        centres = data.geom_xpos[shown]
        middle = (centres.min(axis=0) + centres.max(axis=0)) / 2 if len(centres) else np.zeros(3)
        lookat = np.broadcast_to(middle, (len(qpos), 3))
    else:
        tracked = index_of(model, "body", placed.tracks)
        data = mujoco.MjData(model)
        path = np.empty((len(qpos), 3))
        for row, place in zip(qpos, path, strict=True):
            data.qpos[:] = row
            mujoco.mj_kinematics(model, data)
            place[:] = data.xpos[tracked]
        lookat = _smooth(path, SMOOTHING_S / (dt or spec.dt))
        if placed.elevation > -60.0:
            rest = spec.rest_height
            ground = height_field(model)
            below = np.zeros((len(path), 1)) if ground is None else ground.height(path[:, 0], path[:, 1])[:, None]
            level = _smooth(below, SMOOTHING_S / (dt or spec.dt))[:, 0]
            lookat[:, 2] = level + AIM_LOW * rest + AIM_RISE * (lookat[:, 2] - level - rest)
    return Views(lookat, placed.distance, placed.azimuth, placed.elevation)


def from_above(views: Views, distance: float) -> Views:
    """The cameras' places seen from above, +x to the right and +y upwards."""
    azimuth, elevation = ANGLES[ViewCamera.TOP]
    return replace(views, distance=distance, azimuth=azimuth, elevation=elevation)


def _smooth(path: Floats, width: float) -> Floats:
    reach = int(3 * width)
    if reach == 0 or len(path) < 2:
        return path.copy()
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    kernel /= kernel.sum()
    start, end = path[:1], path[-1:]
    before = 2 * start - path[1 : reach + 1][::-1]
    after = 2 * end - path[-reach - 1 : -1][::-1]
    padded = np.concatenate([before, path, after])
    padded = np.pad(padded, ((reach - len(before), reach - len(after)), (0, 0)), mode="edge")
    return np.stack([np.convolve(column, kernel, mode="valid") for column in padded.T], axis=1)
