"""Floor contacts over time: a row per foot and one for the trunk, black during contact."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from p2p.worker.engine.morphology import index_of
from p2p.worker.pictures.key_frames import KeyFrames
from p2p.worker.pictures.key_pictures import INK, PALE, SMALLEST, ShownRollout, font
from p2p.worker.render.marking import limb_at

HEADER = 13
ROW = 9
"""Heights of the line with the moments' numbers, and of a row [px]."""
MOST_ROWS = 6
LEFT = 92
RIGHT = 790
"""Where the rows begin and end [px]."""
EMPTY = (238, 238, 238)


class ContactRow(NamedTuple):
    """Contacts of a foot, or of the trunk."""

    name: str
    colour: tuple[int, int, int]
    """In which its limb is drawn."""
    contact: NDArray[np.float64]
    """Shape (T,), 1 where it touches the floor."""


def contact_rows(rollout: ShownRollout) -> list[ContactRow]:
    """Rows of a rollout, in the order of its feet; none if nothing can leave the floor."""
    model = rollout.model
    feet = [foot for foot in rollout.spec.morphology.feet if f"contact_{foot}" in rollout.features]
    limbs = [limb_at(rollout.limbs, int(model.geom_bodyid[index_of(model, "geom", foot)])) for foot in feet]
    sides = [limb.side if limb is not None else "" for limb in limbs]
    rows = []
    for foot, limb in zip(feet, limbs, strict=True):
        contact = rollout.features[f"contact_{foot}"]
        red, green, blue = (round(255 * part) for part in limb.colour[:3]) if limb is not None else INK
        alone = limb is not None and sides.count(limb.side) == 1
        name = f"{limb.side} foot" if limb is not None and alone else foot.removesuffix("_geom")
        rows.append(ContactRow(name, (red, green, blue), contact))
    if (trunk := rollout.features.get("torso_contact")) is not None:
        rows = [*rows[: MOST_ROWS - 1], ContactRow("trunk", INK, trunk)]
    return rows


def strip_height(rows: Sequence[ContactRow]) -> int:
    """Height of the strip [px]; 0 without rows."""
    return HEADER + ROW * len(rows) + 2 if rows else 0


def paste_contacts(
    page: Image.Image, top: int, rows: Sequence[ContactRow], times: NDArray[np.float64], frames: KeyFrames
) -> None:
    """Draw the strip over the width of a page.

    Args:
        page: It is changed.
        top: Where it begins [px].
        rows: What is shown.
        times: Of the steps, shape (T,) [s].
        frames: The moments above; each has its line and number.
    """
    if not rows:
        return
    pen = ImageDraw.Draw(page)
    edges = np.linspace(LEFT, RIGHT, len(times) + 1)
    pen.text((6, top), "on the floor", font=font(SMALLEST), fill=PALE)
    # Numbers of the moments, without those that would overlap the one before.
    free = -np.inf
    for number, x in enumerate((edges[:-1] + edges[1:])[list(frames.steps)] / 2, start=1):
        if x >= free:
            pen.text((x, top), str(number), font=font(SMALLEST), fill=INK, anchor="ma")
            free = x + 15
    for index, row in enumerate(rows):
        y = top + HEADER + index * ROW
        pen.text((6, y + ROW // 2), row.name, font=font(SMALLEST), fill=row.colour, anchor="lm")
        pen.rectangle((LEFT, y + 1, RIGHT, y + ROW - 2), fill=EMPTY)
        # Each contact from its first step to the step after its last.
        change = np.diff(np.concatenate([[0], (row.contact > 0.5).astype(int), [0]]))
        for start, end in zip(np.flatnonzero(change > 0), np.flatnonzero(change < 0), strict=True):
            pen.rectangle((edges[start], y + 1, max(edges[start], edges[end] - 1), y + ROW - 2), fill=INK)
    for step in frames.steps:
        x = (edges[step] + edges[step + 1]) / 2
        pen.line((x, top + HEADER, x, top + HEADER + ROW * len(rows) - 1), fill=(208, 90, 32), width=1)
