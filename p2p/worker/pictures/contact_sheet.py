"""Contact sheet of a rollout, for people and vision models: key frames above, measurements below.

What each part is for was measured: frames chosen by events, since even ones jump over a flip; numbers in the frames,
since motion cannot be read from a moving camera; arrows and coloured limbs, since front and back, left and right of a
robot look alike; unwrapped angles, since turns cannot be counted on pictures; contacts, since moments miss the steps.
"""

from collections.abc import Mapping
from pathlib import Path

import mujoco
from PIL import Image, ImageDraw

from p2p.contracts.env import EnvSpec
from p2p.contracts.work import ViewCamera
from p2p.store.files import replacing
from p2p.worker.pictures.contact_strip import contact_rows, paste_contacts, strip_height
from p2p.worker.pictures.frame_labels import label, legend, one_line, write_label, write_title
from p2p.worker.pictures.key_frames import KeyFrames, choose_frames
from p2p.worker.pictures.key_pictures import INK, RED, ShownRollout, draw_moments, font
from p2p.worker.pictures.strip_plot import draw_strip
from p2p.worker.render.camera import Floats

SIZE = (800, 600)
TITLE = 22
GRID = 380
LABEL = 42
"""Heights of the title, of the two rows of frames together, and of the text under a frame [px]."""
QUALITIES = (80, 70)
"""Of the JPEG; the second where the first makes it large."""
LARGE = 110_000
"""From this size on a sheet is written again, smaller [bytes]."""


def write_contact_sheet(
    path: Path, model: mujoco.MjModel, spec: EnvSpec, qpos: Floats, features: Mapping[str, Floats], title: str
) -> KeyFrames:
    """Write a rollout as one JPEG of 800 x 600 pixels.

    Args:
        path: The .jpg file; it appears when it is complete.
        model: The simulated model.
        spec: The environment it belongs to.
        qpos: Joint positions after every control step, shape (T, nq).
        features: Name -> values after every control step, shape (T,).
        title: Written above.

    Returns:
        The moments it shows.

    Raises:
        StorageProblem: the file cannot be written.
    """
    rollout = ShownRollout(spec, model, qpos, features)
    frames = choose_frames(features, spec.dt, spec.rest_height)
    save_sheet(path, compose_sheet(rollout, frames, title))
    return frames


def compose_sheet(
    rollout: ShownRollout, frames: KeyFrames, title: str, camera: ViewCamera = ViewCamera.TRACKING
) -> Image.Image:
    """Compose the contact sheet: title, two rows of moments, plots, contacts over time."""
    page = Image.new("RGB", SIZE, "white")
    write_title(page, 0, one_line(title), f"{frames.note}; {legend(rollout)}")
    columns = columns_of(frames)
    size = (SIZE[0] // columns, GRID // 2 - LABEL)
    paste_moments(page, TITLE, rollout, frames, draw_moments(rollout, frames.steps, size, camera))
    rows = contact_rows(rollout)
    bottom = SIZE[1] - strip_height(rows)
    strip = draw_strip(rollout.features, frames, rollout.spec.dt, (SIZE[0], bottom - TITLE - GRID))
    page.paste(Image.fromarray(strip), (0, TITLE + GRID))
    paste_contacts(page, bottom, rows, rollout.times, frames)
    return page


def columns_of(frames: KeyFrames) -> int:
    """Number of moments in each of the two rows."""
    return len(frames.steps) // 2 + len(frames.steps) % 2


def paste_moments(
    page: Image.Image, top: int, rollout: ShownRollout, frames: KeyFrames, pictures: list[Image.Image]
) -> None:
    """Put numbered moments on a page in two rows, from `top` [px] downwards, each with its text under it.

    What happens stands in the picture, beside the number: under it there is no room beside the numbers.
    """
    pen = ImageDraw.Draw(page)
    columns = columns_of(frames)
    width = page.width // columns
    for number, picture in enumerate(pictures):
        x = number % columns * width
        y = top + number // columns * (picture.height + LABEL)
        page.paste(picture.crop((0, 0, width - 2, picture.height)), (x, y))
        pen.text((x + 4, y + 2), str(number + 1), font=font(12), fill=INK, stroke_width=2, stroke_fill="white")
        event = frames.words[number]
        pen.text((x + 22, y + 2), event, font=font(12), fill=RED, stroke_width=2, stroke_fill="white")
        write_label(pen, (x + 3, y + picture.height + 1), width - 8, label(rollout, frames, number))


def save_sheet(path: Path, page: Image.Image) -> None:
    """Write a picture as JPEG, atomically."""
    with replacing(path) as temporary:
        for quality in QUALITIES:
            page.save(temporary, format="JPEG", quality=quality, optimize=True)
            if temporary.stat().st_size <= LARGE:
                break
