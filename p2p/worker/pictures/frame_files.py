"""Single moments of a rollout as separate pictures, with time, event and numbers drawn in."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from PIL import Image, ImageDraw

from p2p.contracts.frame import FrameNote
from p2p.contracts.work import ViewCamera, ViewRequest
from p2p.worker.pictures.contact_sheet import save_sheet
from p2p.worker.pictures.frame_labels import label
from p2p.worker.pictures.key_frames import KeyFrames
from p2p.worker.pictures.key_pictures import INK, RED, ShownRollout, draw_moments, font

HIGHEST = 1080
"""Wider pictures than this allows are cut above and below [px]."""
BAND = 40
"""Height of the text under a picture [px]."""


def picture_size(view: ViewRequest) -> tuple[int, int]:
    """Width and height of single pictures and videos, both even [px]."""
    return view.width - view.width % 2, min(view.width * 3 // 8 * 2, HIGHEST)


def size_of(path: Path) -> tuple[int, int]:
    """Width and height of a picture file [px]."""
    with Image.open(path) as picture:
        return picture.size


def notes_of(rollout: ShownRollout, frames: KeyFrames) -> tuple[FrameNote, ...]:
    """Moments on a sheet, without pictures of their own."""
    times = [float(rollout.times[step]) for step in frames.steps]
    return tuple(
        FrameNote(index=number, t_s=round(time, 6), step=round(time / rollout.spec.dt), event=word)
        for number, (time, word) in enumerate(zip(times, frames.words, strict=True), start=1)
    )


def write_frames(
    place: Callable[[int], Path],
    rollout: ShownRollout,
    frames: KeyFrames,
    view: ViewRequest,
) -> dict[int, Path]:
    """Write some of the chosen moments as JPEGs, with their numbers on the sheet.

    Args:
        place: File of the moment with a number, from 1.
        rollout: What is shown.
        frames: The moments on the sheet.
        view: How many, how large, and by which camera.

    Returns:
        The files by number.

    Raises:
        StorageProblem: a file cannot be written.
    """
    chosen = pick(frames, view.frames)
    if not chosen:
        return {}
    width, height = picture_size(view)
    steps = [frames.steps[number] for number in chosen]
    pictures = draw_moments(rollout, steps, (width, height - BAND), ViewCamera(view.camera))
    written = {}
    for number, picture in zip(chosen, pictures, strict=True):
        index = number + 1
        written[index] = place(index)
        text = label(rollout, frames, number)
        page = Image.new("RGB", (picture.width, picture.height + BAND), "white")
        page.paste(picture, (0, 0))
        pen = ImageDraw.Draw(page)
        y = picture.height + 2
        size = 14 if picture.width >= 360 else 11
        pen.text((4, y), f"{index}   {text.moment}", font=font(size), fill=INK)
        pen.text((page.width - 4, y), text.event, font=font(size), fill=RED, anchor="ra")
        pen.text((4, y + 18), "   ".join(part for part in (text.angle, text.place) if part), font=font(size), fill=INK)
        save_sheet(written[index], page)
    return written


def pick(frames: KeyFrames, count: int) -> list[int]:
    """Indices of the moments to keep: those with an event first, then the middle of the widest gap."""
    numbers = range(len(frames.steps))
    if count >= len(frames.steps):
        return list(numbers)
    events = [number for number in numbers if frames.words[number]]
    order = {"apex": 0, "closest": 0, "pole falls": 0, "landing": 1, "take-off": 1, "end": 2}
    kept = sorted(events, key=lambda number: order.get(frames.words[number].rstrip(" 0123456789"), 3))[:count]
    while len(kept) < count:
        edges = [-1, *sorted(kept), len(frames.steps)]
        left, right = max(pairwise(edges), key=lambda gap: gap[1] - gap[0])
        kept.append((left + right) // 2)
    return sorted(kept)
