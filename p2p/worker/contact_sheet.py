"""A rollout on one picture, for people and for models that judge by eye: key frames above, measurements below.

What each part is for was measured: frames chosen by events, since even ones jump over a flip; numbers in the frames,
since motion cannot be read from a moving camera; arrows, since front and back of a robot look alike; unwrapped angles,
since turns cannot be counted on pictures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import mujoco
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from p2p.contracts.env import EnvSpec
from p2p.store.files import replacing
from p2p.worker.key_frames import KeyFrames, choose_frames
from p2p.worker.morphology import FREE, index_of
from p2p.worker.render.camera import Floats, Views, follow, from_above
from p2p.worker.render.frames import draw
from p2p.worker.strip_plot import angle_of, draw_strip

SIZE = (800, 600)
TITLE, GRID, LABEL = 22, 380, 42
"""Heights of the title, of the two rows of frames together, and of the text under a frame [px]."""
INSET = 54
"""Side of the view from above [px]."""
MARGIN = 0.06
"""Kept free around the robot, as a share of the picture."""
FINER = 2
"""Pictures are drawn this much larger and then reduced, which smooths their outlines."""
QUALITY = 80
RED, BLUE, INK, PALE = (208, 32, 32), (32, 72, 200), (20, 20, 20), (110, 110, 110)
"""Of the forward arrow, the up arrow, and text."""


@dataclass(frozen=True)
class Sheet:
    """What is shown: a rollout reduced to its key frames."""

    features: Mapping[str, Floats]
    frames: KeyFrames
    pictures: list[Image.Image]
    """One per key frame, at final size, with arrows."""
    dt: float


def write_contact_sheet(
    path: Path, model: mujoco.MjModel, spec: EnvSpec, qpos: Floats, features: Mapping[str, Floats], title: str
) -> None:
    """Write a rollout as one JPEG of 800 x 600 pixels.

    Args:
        path: The .jpg file; it appears when it is complete.
        model: The simulated model.
        spec: The environment it belongs to.
        qpos: Joint positions after every control step, shape (T, nq).
        features: Name -> values after every control step, shape (T,).
        title: Written above.

    Raises:
        StorageProblem: the file cannot be written.
    """
    dt = float(features["time"][0])
    frames = choose_frames(features, dt, spec.rest_height)
    width, height = _cell(frames)
    pictures = _pictures(model, spec, qpos, frames, (width, height - LABEL))
    sheet = _compose(Sheet(features, frames, pictures, dt), title)
    with replacing(path) as temporary:
        sheet.save(temporary, quality=QUALITY, optimize=True)


def _cell(frames: KeyFrames) -> tuple[int, int]:
    """Width and height of one frame with its text, two rows of them filling the sheet [px]."""
    return SIZE[0] // (len(frames.steps) // 2 + len(frames.steps) % 2), GRID // 2


def _pictures(
    model: mujoco.MjModel, spec: EnvSpec, qpos: Floats, frames: KeyFrames, size: tuple[int, int]
) -> list[Image.Image]:
    steps = np.array(frames.steps)
    views, poses = follow(model, spec, qpos).at(steps), _poses(model, spec, qpos[steps])
    views = _closer(views, _extremes(model, qpos[steps]), size)
    shown = _draw(model, qpos[steps], views, poses, size)
    if not (model.jnt_type == FREE).any():
        return shown
    above = from_above(views, 0.8 * views.distance)
    above = replace(above, lookat=np.array([pose[0] for pose in poses]))
    for picture, inset in zip(shown, _draw(model, qpos[steps], above, poses, (INSET, INSET)), strict=True):
        corner = (size[0] - INSET - 1, size[1] - INSET - 1)
        picture.paste(inset, corner)
        pen = ImageDraw.Draw(picture)
        pen.rectangle((corner[0] - 1, corner[1] - 1, size[0] - 1, size[1] - 1), outline=PALE)
        pen.text((corner[0] + 2, corner[1]), "top", font=_font(10), fill=INK)
    return shown


def _draw(model: mujoco.MjModel, qpos: Floats, views: Views, poses: Floats, size: tuple[int, int]) -> list[Image.Image]:
    """Pictures of some frames, with arrows."""
    large = (size[0] * FINER, size[1] * FINER)
    pictures = []
    tips = poses[:, :1] + 0.13 * views.distance * poses[:, 1:]
    spots = views.project(np.concatenate([poses[:, :1], tips], axis=1), large)
    for frame, spot in zip(list(draw(model, qpos, views, large)), spots, strict=True):
        picture = Image.fromarray(frame)
        pen = ImageDraw.Draw(picture)
        letters = []
        for tip, colour, letter in zip(spot[1:], (RED, BLUE), "FU", strict=False):
            if np.isfinite(spot).all() and np.hypot(*(tip - spot[0])) > 6 * FINER:
                pen.line([tuple(spot[0]), tuple(tip)], fill=colour, width=2 * FINER)
                letters.append((tip + 0.18 * (tip - spot[0]), colour, letter))
        picture = picture.resize(size, Image.Resampling.LANCZOS)
        pen = ImageDraw.Draw(picture)
        for place, colour, letter in letters:
            x, y = place / FINER
            pen.text((x, y), letter, font=_font(11), fill=colour, anchor="mm", stroke_width=1, stroke_fill="white")
        pictures.append(picture)
    return pictures


def _poses(model: mujoco.MjModel, spec: EnvSpec, qpos: Floats) -> Floats:
    """Centre of the torso, its forward and its up direction, shape (T, 3, 3); arms and carts have no directions."""
    body, data, upright = spec.morphology, mujoco.MjData(model), np.empty(9)
    mujoco.mju_quat2Mat(upright, np.array(body.upright))
    torso, poses = index_of(model, "body", body.torso), np.empty((len(qpos), 3, 3))
    for row, pose in zip(qpos, poses, strict=True):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        turn = data.xmat[torso].reshape(3, 3) @ upright.reshape(3, 3).T
        pose[:] = data.xipos[torso], turn[:, 0], turn[:, 2]
    if body.pole or body.target:
        poses[:, 1:] = 0.0
    return poses


def _extremes(model: mujoco.MjModel, qpos: Floats) -> Floats:
    """Points around everything that moves, shape (T, points, 3) [m]."""
    data, moving = mujoco.MjData(model), np.flatnonzero(model.body_weldid[model.geom_bodyid])
    centres = np.empty((len(qpos), len(moving), 3))
    for row, centre in zip(qpos, centres, strict=True):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        centre[:] = data.geom_xpos[moving]
    reach = np.concatenate([np.eye(3), -np.eye(3)]) * model.geom_rbound[moving, None, None]
    return np.asarray((centres[:, :, None] + reach).reshape(len(qpos), -1, 3))


def _closer(views: Views, points: Floats, size: tuple[int, int]) -> Views:
    """The nearest camera that keeps all points in every picture, between 0.4 and 1.3 of its distance."""
    for share in np.arange(0.4, 1.3, 0.1):
        nearer = replace(views, distance=share * views.distance)
        spots = nearer.project(points, size) / np.array(size)
        if (np.abs(spots - 0.5) <= 0.5 - MARGIN).all():
            return nearer
    return replace(views, distance=1.3 * views.distance)


def _compose(sheet: Sheet, title: str) -> Image.Image:
    page = Image.new("RGB", SIZE, "white")
    pen = ImageDraw.Draw(page)
    pen.text((6, 3), title, font=_font(14), fill=INK)
    note = sheet.frames.note + ("; camera follows the robot" if "displacement" in sheet.features else "")
    pen.text((SIZE[0] - 6, 5), note, font=_font(11), fill=PALE, anchor="ra")
    width, height = _cell(sheet.frames)
    columns = SIZE[0] // width
    for number, picture in enumerate(sheet.pictures):
        x, y = number % columns * width, TITLE + number // columns * height
        page.paste(picture.crop((0, 0, width - 2, picture.height)), (x, y))
        pen.text((x + 4, y + 2), str(number + 1), font=_font(12), fill=INK, stroke_width=2, stroke_fill="white")
        _write_label(pen, (x + 3, y + picture.height + 1), width - 8, _label(sheet, number))
    strip = draw_strip(sheet.features, sheet.frames, sheet.dt, (SIZE[0], SIZE[1] - TITLE - GRID))
    page.paste(Image.fromarray(strip), (0, TITLE + GRID))
    return page


def _write_label(pen: ImageDraw.ImageDraw, corner: tuple[int, int], width: int, label: Sequence[str]) -> None:
    moment, word, angle, place = label
    x, y = corner
    pen.text((x, y), moment, font=_font(12), fill=INK)
    pen.text((x, y + 13), angle, font=_font(12), fill=INK)
    pen.text((x + width, y + 13), word, font=_font(12), fill=RED, anchor="ra")
    size = 12 if pen.textlength(place, font=_font(12)) <= width else 11
    pen.text((x, y + 26), place, font=_font(size), fill=INK)


def _label(sheet: Sheet, number: int) -> tuple[str, str, str, str]:
    """Time and step, event, angle, and place of one frame."""
    step, features = sheet.frames.steps[number], sheet.features
    angle, rotation = angle_of(features, sheet.frames.rotation), sheet.frames.rotation
    name = rotation.removesuffix("_turns") if rotation is not None else "pole"
    turned = f"{name}={round(angle[step]) + 0:+d}°" if angle is not None else ""
    digits = 1 if "position_x" in features and "position_y" in features else 2
    places = {"position_x": f"x={{:+.{digits}f}}", "position_y": f"y={{:+.{digits}f}}", "cart_position": "x={:+.2f}"}
    places |= {"height": "h={:.2f}", "pole_height": "h={:.2f}", "target_distance": "distance={:.3f}"}
    values = [text.format(features[name][step]) for name, text in places.items() if name in features]
    moment = f"t={(step + 1) * sheet.dt:.2f} s  step {step + 1}"
    return moment, sheet.frames.words[number], turned, " ".join(values) + " m"


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
