"""Pictures of single moments of a rollout, with arrows for front and top, and a second view.

Front and back of a robot look alike, so its forward direction is a red arrow and its up direction a blue one, and a
robot's limbs are coloured by their sides. Turns about the vertical cannot be seen from the side, so whatever
moves freely is shown from a second camera too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from p2p.contracts.env import EnvSpec
from p2p.contracts.work import ViewCamera
from p2p.worker.engine.morphology import FREE, index_of
from p2p.worker.pictures.body_path import body_path, draw_path, path_spots
from p2p.worker.render.camera import Floats, Views, follow
from p2p.worker.render.frames import draw
from p2p.worker.render.marking import Limb, limbs_of, mark_limbs

Indices = NDArray[np.intp]

INSET = 0.42
"""Side of the second view, as a share of the picture's height."""
MARGIN = 0.06
"""Kept free around the robot, as a share of the picture."""
FINER = 2
FINEST = 1024
"""Pictures are drawn this much larger and then reduced, which smooths their outlines; up to so large a side [px]."""
RED = (208, 32, 32)
BLUE = (32, 72, 200)
INK = (20, 20, 20)
PALE = (110, 110, 110)
"""Of the forward arrow, the up arrow, text, and what is less important."""
SMALLEST = 11
"""Size of the smallest text [px]."""


@dataclass(frozen=True)
class ShownRollout:
    """A recorded rollout to show."""

    spec: EnvSpec
    model: mujoco.MjModel
    qpos: Floats
    """Joint positions after every control step, shape (T, nq)."""
    features: Mapping[str, Floats]
    """Name -> values after every control step, shape (T,)."""
    path_of: str | None = None
    """Body whose path is drawn over the pictures; None for none."""

    @property
    def times(self) -> Floats:
        """Time since the start of the episode, shape (T,) [s]."""
        return self.features["time"]

    @cached_property
    def marked_model(self) -> mujoco.MjModel:
        """Model with coloured limbs."""
        return mark_limbs(self.model, self.spec)

    @cached_property
    def limbs(self) -> tuple[Limb, ...]:
        """Coloured legs and arms."""
        return limbs_of(self.model, self.spec)

    @cached_property
    def path(self) -> Floats | None:
        """Position of that body after every control step, shape (T, 3) [m]."""
        return body_path(self.model, self.qpos, self.path_of) if self.path_of is not None else None

    @property
    def free(self) -> bool:
        """Whether something moves in all directions."""
        return bool((self.model.jnt_type == FREE).any())

    def part(self, begin: int, end: int) -> "ShownRollout":
        """Steps from `begin` on and before `end`."""
        cut = slice(begin, end)
        return replace(self, qpos=self.qpos[cut], features={name: v[cut] for name, v in self.features.items()})


def draw_moments(
    rollout: ShownRollout,
    steps: Sequence[int],
    size: tuple[int, int],
    camera: ViewCamera = ViewCamera.TRACKING,
    least_share: float = 0.0,
) -> list[Image.Image]:
    """Draw some steps from one camera at one distance, with arrows and, for a free robot, a second view.

    Args:
        rollout: What is shown.
        steps: Indices into it.
        size: Width and height of each picture [px].
        camera: Where the camera stands.
        least_share: Least distance of the camera, as `camera_share` gives it.
    """
    rows = np.array(steps)
    poses = _poses(rollout, rows)
    points = _extremes(rollout, rows)
    usual = follow(rollout.model, rollout.spec, rollout.qpos, camera).at(rows)
    views = _at_share(usual, max(_share(usual, points, size), least_share))
    pictures = _draw(rollout, rows, views, poses, size)
    if rollout.free:
        name, second = ("side", ViewCamera.SIDE) if camera is ViewCamera.TOP else ("top", ViewCamera.TOP)
        side = (round(INSET * size[1]),) * 2
        usual = follow(rollout.model, rollout.spec, rollout.qpos, second).at(rows)
        usual = replace(usual, lookat=poses[:, 0])
        insets = _draw(rollout, rows, _at_share(usual, _share(usual, points, side)), poses, side)
        for picture, inset in zip(pictures, insets, strict=True):
            corner = (picture.width - inset.width - 1, picture.height - inset.width - 1)
            picture.paste(inset, corner)
            pen = ImageDraw.Draw(picture)
            pen.rectangle((corner[0] - 1, corner[1] - 1, picture.width - 1, picture.height - 1), outline=PALE)
            pen.text((corner[0] + 2, corner[1]), name, font=font(SMALLEST), fill=INK)
    return pictures


def camera_share(rollout: ShownRollout, steps: Sequence[int], size: tuple[int, int], camera: ViewCamera) -> float:
    """Nearest camera with the robot in every picture, as a share of its usual distance in [0.4, 1.3]."""
    rows = np.array(steps)
    usual = follow(rollout.model, rollout.spec, rollout.qpos, camera).at(rows)
    return _share(usual, _extremes(rollout, rows), size)


def _share(usual: Views, points: Floats, size: tuple[int, int]) -> float:
    for share in np.arange(0.4, 1.3, 0.1):
        spots = _at_share(usual, float(share)).project(points, size) / np.array(size)
        if (np.abs(spots - 0.5) <= 0.5 - MARGIN).all():
            return float(share)
    return 1.3


def _at_share(usual: Views, share: float) -> Views:
    return replace(usual, distance=share * usual.distance)


@cache  # reading it takes longer than writing a line with it
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font of all pictures."""
    return ImageFont.load_default(size)


def _draw(
    rollout: ShownRollout, rows: Indices, views: Views, poses: Floats, size: tuple[int, int]
) -> list[Image.Image]:
    """Draw pictures with arrows."""
    finer = max(1.0, min(FINER, FINEST / max(size)))
    large = (round(size[0] * finer), round(size[1] * finer))
    tips = poses[:, :1] + 0.13 * views.distance * poses[:, 1:]
    spots = views.project(np.concatenate([poses[:, :1], tips], axis=1), large)
    frames = [Image.fromarray(frame) for frame in draw(rollout.marked_model, rollout.qpos[rows], views, large)]
    if rollout.path is not None:
        for frame, row, path in zip(frames, rows, path_spots(rollout.path, views, large), strict=True):
            draw_path(frame, path, int(row))
    return [_with_arrows(frame, spot, finer, size) for frame, spot in zip(frames, spots, strict=True)]


def _with_arrows(picture: Image.Image, spot: Floats, finer: float, size: tuple[int, int]) -> Image.Image:
    """Draw arrows large and letters after the reduction, so that both are sharp."""
    pen = ImageDraw.Draw(picture)
    letters = []
    for tip, colour, letter in zip(spot[1:], (RED, BLUE), "FU", strict=False):
        if np.isfinite(spot).all() and np.hypot(*(tip - spot[0])) > 6 * finer:
            pen.line([tuple(spot[0]), tuple(tip)], fill=colour, width=round(2 * finer))
            letters.append((tip + 0.18 * (tip - spot[0]), colour, letter))
    picture = picture.resize(size, Image.Resampling.LANCZOS)
    pen = ImageDraw.Draw(picture)
    for place, colour, letter in letters:
        x, y = place / finer
        pen.text((x, y), letter, font=font(SMALLEST), fill=colour, anchor="mm", stroke_width=1, stroke_fill="white")
    return picture


def _poses(rollout: ShownRollout, rows: Indices) -> Floats:
    """Torso centre, forward and up direction, shape (T, 3, 3); arms and carts have no directions."""
    model = rollout.model
    body = rollout.spec.morphology
    upright = np.empty(9)
    data = mujoco.MjData(model)
    mujoco.mju_quat2Mat(upright, np.array(body.upright))
    torso = index_of(model, "body", body.torso)
    poses = np.empty((len(rows), 3, 3))
    for row, pose in zip(rollout.qpos[rows], poses, strict=True):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        turn = data.xmat[torso].reshape(3, 3) @ upright.reshape(3, 3).T
        pose[:] = data.xipos[torso], turn[:, 0], turn[:, 2]
    if body.pole or body.target:
        poses[:, 1:] = 0.0
    return poses


def _extremes(rollout: ShownRollout, rows: Indices) -> Floats:
    """Points around everything that moves, shape (T, points, 3) [m]."""
    model = rollout.model
    data = mujoco.MjData(model)
    moving = np.flatnonzero(model.body_weldid[model.geom_bodyid])
    centres = np.empty((len(rows), len(moving), 3))
    for row, centre in zip(rollout.qpos[rows], centres, strict=True):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        centre[:] = data.geom_xpos[moving]
    reach = np.concatenate([np.eye(3), -np.eye(3)]) * model.geom_rbound[moving, None, None]
    return np.asarray((centres[:, :, None] + reach).reshape(len(rows), -1, 3))
