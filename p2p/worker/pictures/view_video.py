"""A requested video: any camera, slow motion with simulated in-between states, two side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from p2p.contracts.frame_rate import frame_rate
from p2p.contracts.work import ViewCamera, ViewRequest
from p2p.worker.pictures.body_path import body_path, draw_path, path_spots
from p2p.worker.pictures.frame_files import picture_size
from p2p.worker.pictures.frame_labels import one_line
from p2p.worker.pictures.key_frames import KeyFrames
from p2p.worker.pictures.key_pictures import ShownRollout
from p2p.worker.pictures.overlay import captions, stamped
from p2p.worker.pictures.slow_motion import RecordedStates, refine
from p2p.worker.pictures.video import drawn_size, encode
from p2p.worker.render.camera import Floats, follow
from p2p.worker.render.frames import draw

MOST = 480
"""Frames of a video, at most: they take a quarter of a minute to draw."""
CHUNK = 32
"""Frames drawn at once: the two halves of a video share one renderer, which draws one rollout at a time."""
AROUND_S = 0.3
"""Shown before and after what happens [s]."""

Part = tuple[str, RecordedStates, ShownRollout, KeyFrames]
"""Title, recorded states of the whole rollout, the part shown, and its moments."""


@dataclass(frozen=True)
class Strip:
    """States for frames."""

    title: str
    shown: ShownRollout
    qpos: Floats
    """Shape (T, nq)."""
    times: Floats
    """Shape (T,) [s]."""
    period: float
    """From one row to the next [s]."""
    note: str


def write_view_video(path: Path, parts: Sequence[Part], view: ViewRequest) -> str:
    """Write one rollout, or two beside one another at the same times, with time and speed burnt in unless `plain`.

    Slow motion shows what happens in the rollout, unless a part was asked for.

    Args:
        path: The .mp4 file; it appears when it is complete.
        parts: The rollouts.
        view: Camera, slow motion, size, and the part.

    Returns:
        What it shows, in words.

    Raises:
        StorageProblem: the file cannot be written.
        EnvironmentProblem: the video encoder does not work on this machine.
    """
    begin, end = _span(parts, view)
    strips = [_strip(part, view.slow_motion, begin, end) for part in parts]
    every, fps = frame_rate(strips[0].period * view.slow_motion)
    wanted = max(-(-len(strip.times) // every) for strip in strips)
    longest = min(MOST, wanted)
    size = picture_size(view)
    drawn = drawn_size(size)
    films = [_frames(strip, every, longest, drawn, view) for strip in strips]
    joined = (np.concatenate(frames, axis=1) for frames in zip(*films, strict=True))
    count = len(strips)
    encode(path, joined, (count * drawn[0], drawn[1]), (count * size[0], size[1]), Fraction(fps))
    until = min(end, begin + longest * every * strips[0].period)
    speed = f", {view.slow_motion:g} times slower, {strips[0].note}" if view.slow_motion > 1 else ""
    cut = f", cut at {MOST} frames: ask for a later part to see the rest" if wanted > MOST else ""
    return f"video {begin:.2f}-{until:.2f} s{speed}{cut}"


def _span(parts: Sequence[Part], view: ViewRequest) -> tuple[float, float]:
    """Begin and end of the shown part [s]."""
    begin = min(float(shown.times[0]) for _, _, shown, _ in parts)
    end = max(float(shown.times[-1]) for _, _, shown, _ in parts)
    if view.slow_motion == 1 or view.start_s is not None or view.end_s is not None:
        return begin, end
    events = [
        float(shown.times[step])
        for _, _, shown, frames in parts
        for step, word in zip(frames.steps, frames.words, strict=True)
        if word not in ("", "start", "end")
    ]
    if not events:
        return begin, end
    return max(begin, min(events) - AROUND_S), min(end, max(events) + AROUND_S)


def _strip(part: Part, slow_motion: float, begin: float, end: float) -> Strip:
    title, states, shown, _ = part
    dt = shown.spec.dt
    skip = shown.spec.frame_skip
    qpos = states.qpos
    period = dt
    note = ""
    if slow_motion > 1 and skip > 1:
        motion = refine(shown.model, states, skip)
        qpos = motion.qpos
        period = dt / skip
        note = motion.note
    times: Floats = period * np.arange(1.0, len(qpos) + 1.0)
    inside = (times >= begin - 1e-9) & (times <= end + 1e-9)
    return Strip(title, shown, qpos[inside], times[inside], period, note)


def _frames(
    strip: Strip, every: int, count: int, size: tuple[int, int], view: ViewRequest
) -> Iterator[NDArray[np.uint8]]:
    """A number of frames; a rollout that ends earlier stays at its last."""
    rows = np.minimum(np.arange(count) * every, len(strip.times) - 1)
    model = strip.shown.model if view.plain else strip.shown.marked_model
    views = follow(strip.shown.model, strip.shown.spec, strip.qpos, ViewCamera(view.camera), strip.period)
    name = one_line(strip.title).partition(",")[0]
    path = body_path(model, strip.qpos, view.path_of) if view.path_of is not None else None
    slower = f"{view.slow_motion:g}x slower" if view.slow_motion > 1 else ""
    texts = captions(strip.shown, strip.times, slower)
    for first in range(0, count, CHUNK):
        some = rows[first : first + CHUNK]
        pages = [Image.fromarray(picture) for picture in draw(model, strip.qpos[some], views.at(some), size)]
        if path is not None:
            for page, row, spots in zip(pages, some, path_spots(path, views.at(some), size), strict=True):
                draw_path(page, spots, int(row))
        for row, page in zip(some, pages, strict=True):
            yield np.asarray(page) if view.plain else stamped(page, texts[row], name)
