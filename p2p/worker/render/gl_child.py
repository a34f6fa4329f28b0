"""OpenGL rendering in its own process: a driver crash or hang harms no training.

`gl.py` starts this file as a script, with MUJOCO_GL set and the number of a pipe as argument. Requests come in on
standard input, pictures go out on the pipe. It imports nothing of p2p, so that it starts fast from anywhere.
"""

import os
import signal
import struct
import sys
from functools import cache
from typing import BinaryIO

import mujoco
import numpy as np
from numpy.typing import NDArray

HEADER = struct.Struct("<cQ")
"""Kind of a message, M (a model) or F (a frame), and the length of what follows [bytes]."""
FIELD_OF_VIEW = 45.0
"""Vertical angle of view [deg]."""
LARGEST = 1920
"""Longest side of a picture [px]."""
IDLE_S = 30
"""The process gives its memory back after this long without a request [s]."""
HORIZON = (0.87, 0.91, 0.95)
ZENITH = (0.53, 0.68, 0.86)
"""Colours of the sky, red, green and blue in [0, 1]."""
TILES = (0.70, 0.90)
"""Brightness of the dark and the light tiles of a checkered floor: easier on eyes and video codecs than black."""
SHADOW = 0.55
"""Brightness of a floor below a robot, as a share of what it is elsewhere."""
LIFT = 0.003
"""Shadows drawn by OpenGL lie this far above their floor [m]."""
THIN = LIFT / 3
"""Half their thickness [m]."""


class Painter:
    """A model ready to be drawn."""

    def __init__(self, binary: bytes) -> None:
        model = mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": binary})
        # Fast and even: no multisampling, soft light from the camera, pale tiles.
        model.vis.quality.offsamples = 0
        model.vis.global_.fovy = FIELD_OF_VIEW
        model.vis.global_.offwidth = model.vis.global_.offheight = LARGEST
        model.vis.rgba.haze = (*HORIZON, 1.0)
        model.vis.headlight.ambient = [0.5] * 3
        model.vis.headlight.diffuse = [0.45 if model.nlight else 0.6] * 3
        model.vis.headlight.specular = [0.1] * 3
        model.light_diffuse[:] = 0.35
        model.light_specular[:] = 0.1
        for geom in np.flatnonzero((model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE) & (model.geom_matid >= 0)):
            material = model.geom_matid[geom]
            model.mat_specular[material] = 0.0
            model.geom_rgba[geom] = model.mat_rgba[material] = 1.0
            for texture in model.mat_texid[material][model.mat_texid[material] >= 0]:
                start = model.tex_adr[texture]
                length = model.tex_height[texture] * model.tex_width[texture] * model.tex_nchannel[texture]
                tiles = model.tex_data[start : start + length]
                tiles[:] = 255 * (TILES[0] + (TILES[1] - TILES[0]) * (tiles > tiles.mean()))
        self._model = model
        self._data = mujoco.MjData(model)
        self._camera = mujoco.MjvCamera()
        self._scene = mujoco.MjvScene(model, maxgeom=10_000)
        for flag in ("SHADOW", "REFLECTION", "SKYBOX"):
            self._scene.flags[getattr(mujoco.mjtRndFlag, f"mjRND_{flag}")] = 0
        self._option = mujoco.MjvOption()
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)

    def draw(self, request: NDArray[np.float64]) -> bytes:
        """One picture, top row first: three bytes per pixel.

        Args:
            request: Width, height, look-at point, distance, azimuth, elevation, and the joint positions.
        """
        width = int(request[0])
        height = int(request[1])
        camera = self._camera
        camera.lookat[:] = request[2:5]
        camera.distance, camera.azimuth, camera.elevation = request[5:8]
        self._data.qpos[:] = request[8:]
        mujoco.mj_fwdPosition(self._model, self._data)
        everything = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(self._model, self._data, self._option, None, camera, everything, self._scene)
        self._lay_shadows()
        rect = mujoco.MjrRect(0, 0, width, height)
        picture = np.empty((height, width, 3), np.uint8)
        depth = np.empty((height, width), np.float32)
        mujoco.mjr_render(rect, self._scene, self._context)
        mujoco.mjr_readPixels(picture, depth, rect, self._context)
        empty = depth >= 1.0
        # one colour at a time: 0.3 ms, where picking pixels by a mask takes 6 ms
        for colour, of_row in enumerate(sky(camera.elevation, height)[::-1].T):
            np.copyto(picture[..., colour], of_row[:, None], where=empty)
        return picture[::-1].tobytes()

    def _lay_shadows(self) -> None:
        """Draw flat shadows on level floors: opaque, so that none shows through another."""
        for floor in level_floors(self._model):
            height = float(self._data.geom_xpos[floor, 2])
            ends, radii = shadows(self._model, floor, self._data.geom_xpos, self._data.geom_xmat)
            for (start, end), radius in zip(ends, radii, strict=True):
                along = end - start
                middle = (start + end) / 2
                length = float(np.hypot(*along))
                turn = np.eye(3)
                turn[:2, 0] = along / length if length > 0 else (1.0, 0.0)
                turn[:2, 1] = -turn[1, 0], turn[0, 0]
                self._lay(mujoco.mjtGeom.mjGEOM_BOX, (length / 2, radius, THIN), middle, height, turn)
                for place in (start, end):
                    self._lay(mujoco.mjtGeom.mjGEOM_CYLINDER, (radius, THIN, 0.0), place, height, turn)

    def _lay(
        self,
        kind: mujoco.mjtGeom,
        size: tuple[float, float, float],
        place: NDArray[np.float64],
        height: float,
        turn: NDArray[np.float64],
    ) -> None:
        scene = self._scene
        if scene.ngeom >= scene.maxgeom:
            return
        geom = scene.geoms[scene.ngeom]
        where = np.array([*place, height + LIFT])
        grey = SHADOW * sum(TILES) / 2
        colour = np.array([grey, grey, grey, 1.0], np.float32)
        mujoco.mjv_initGeom(geom, kind.value, np.array(size), where, turn.ravel(), colour)
        geom.specular = 0.0
        geom.shininess = 0.0
        geom.emission = 0.15
        scene.ngeom += 1


def level_floors(model: mujoco.MjModel) -> list[int]:
    """Planes that do not move and face upwards."""
    planes = np.flatnonzero(
        (model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE) & (model.body_weldid[model.geom_bodyid] == 0)
    )
    return [
        int(geom) for geom in planes if abs(model.geom_quat[geom, 1:3]).max() < 1e-6 and model.geom_bodyid[geom] == 0
    ]


def shadows(
    model: mujoco.MjModel, floor: int, places: NDArray[np.float64], turns: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What the shapes that move shade of a level floor, lit from right above.

    A shape counts as the capsule along its longest side, so that every shadow is a line of some width.

    Args:
        model: The simulated model.
        floor: The plane.
        places: Centres of all geoms, shape (ngeom, 3) [m].
        turns: Their rotation matrices, row by row, shape (ngeom, 9).

    Returns:
        Both ends of each line, shape (n, 2, 2), and half its width, shape (n,), both in the world [m].
    """
    shown = (model.geom_group < 3) & (model.geom_rgba[:, 3] > 0) & (model.body_weldid[model.geom_bodyid] != 0)
    shown &= (model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE) & (places[:, 2] > places[floor, 2])
    for axis, half in enumerate(model.geom_size[floor, :2]):
        if half > 0:
            shown &= np.abs(places[:, axis] - places[floor, axis]) <= half
    geoms = np.flatnonzero(shown)
    rotations = turns.reshape(-1, 3, 3)[geoms]
    centre = model.geom_aabb[geoms, :3]
    sides = model.geom_aabb[geoms, 3:]
    longest = sides.argmax(axis=1)
    radii = np.median(sides, axis=1)
    axes = np.take_along_axis(rotations, longest[:, None, None], axis=2)[:, :, 0]
    half = axes * (sides.max(axis=1) - radii)[:, None]
    middle = places[geoms] + np.einsum("nij,nj->ni", rotations, centre)
    return np.stack([middle - half, middle + half], axis=1)[..., :2], radii


@cache
def sky(elevation: float, height: int) -> NDArray[np.uint8]:
    """Colour of the sky in each row of a picture, from the top, shape (height, 3).

    Args:
        elevation: Of the camera [deg].
        height: Of the picture [px].
    """
    row = (np.arange(height) + 0.5) / height * 2 - 1
    angle = np.deg2rad(elevation) - np.arctan(row * np.tan(np.deg2rad(FIELD_OF_VIEW / 2)))
    share = np.clip(np.sin(angle), 0.0, 0.6)[:, None] / 0.6
    return np.asarray(255 * (np.array(HORIZON) * (1 - share) + np.array(ZENITH) * share), dtype=np.uint8)


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until their end: a model with nothing, a frame with its picture."""
    painter: Painter | None = None
    while True:
        signal.alarm(IDLE_S)
        header = requests.read(HEADER.size)
        if len(header) < HEADER.size:
            return
        kind, length = HEADER.unpack(header)
        payload = requests.read(length)
        signal.alarm(0)
        if kind == b"M":
            painter = Painter(payload)
        elif painter is not None:
            replies.write(painter.draw(np.frombuffer(payload)))
            replies.flush()


if __name__ == "__main__":
    gl = mujoco.GLContext(LARGEST, LARGEST)
    gl.make_current()
    with os.fdopen(int(sys.argv[1]), "wb") as pipe:
        serve(sys.stdin.buffer, pipe)
    os._exit(0)  # some drivers crash while they are unloaded
