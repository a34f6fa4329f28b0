"""Text in the frames of videos: time and speed to the left, a note to the right."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from p2p.worker.pictures.key_pictures import INK, ShownRollout, font

SPEEDS = ("forward_velocity", "speed", "velocity_x")
"""Features that tell how fast a robot goes; the first that it has is shown."""

SMALLEST = 8
"""Size of the smallest letters; what does not fit in them is cut [px]."""


def captions(rollout: ShownRollout, times: NDArray[np.float64], note: str = "") -> list[str]:
    """Time and speed at some times of a rollout: "t=1.20 s   +2.31 m/s".

    Args:
        rollout: What is shown; between its steps the speed is interpolated.
        times: Since the start of the episode, shape (T,) [s].
        note: Written after the time, as "4x slower".
    """
    name = next((name for name in SPEEDS if name in rollout.features), None)
    speeds = np.interp(times, rollout.times, rollout.features[name]) if name is not None else np.zeros(len(times))
    texts = []
    for time, speed in zip(times, speeds, strict=True):
        parts = [f"t={time:.2f} s", f"{speed:+.2f} m/s" if name is not None else "", note]
        texts.append("   ".join(part for part in parts if part))
    return texts


def stamped(frame: NDArray[np.uint8] | Image.Image, left: str, right: str) -> NDArray[np.uint8]:
    """A frame with text in its upper corners; shape (height, width, 3).

    The right one is as large as the width that the left one leaves allows.
    """
    page = Image.fromarray(frame) if isinstance(frame, np.ndarray) else frame
    pen = ImageDraw.Draw(page)
    size = max(10, round(page.width / 30))
    pen.text((4, 2), left, font=font(size), fill=INK, stroke_width=1, stroke_fill="white")
    free_width = page.width - 16 - pen.textlength(left, font=font(size))
    if (needed := pen.textlength(right, font=font(size))) > free_width:
        size = max(SMALLEST, int(size * free_width / needed))
    while right and pen.textlength(right, font=font(size)) > free_width:
        right = right[:-1]
    pen.text((page.width - 4, 2), right, font=font(size), fill=INK, anchor="ra", stroke_width=1, stroke_fill="white")
    return np.asarray(page)
