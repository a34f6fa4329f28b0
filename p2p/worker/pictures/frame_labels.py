"""Text on pictures of a rollout: time, event, angle and place of a moment, legend of colours."""

from typing import NamedTuple

from PIL import Image, ImageDraw

from p2p.worker.pictures.key_frames import KeyFrames
from p2p.worker.pictures.key_pictures import INK, PALE, SMALLEST, ShownRollout, font
from p2p.worker.pictures.strip_plot import angle_of
from p2p.worker.render.marking import limbs_in_words


class FrameLabel(NamedTuple):
    """Text under, or in, the picture of a moment."""

    moment: str
    event: str
    angle: str
    place: str


def label(rollout: ShownRollout, frames: KeyFrames, number: int) -> FrameLabel:
    """Text of a chosen moment, by index from 0."""
    step = frames.steps[number]
    features = rollout.features
    angle = angle_of(features, frames.rotation)
    turned = [f"{angle.name}={round(angle.degrees[step]) + 0:+d}°"] if angle is not None else []
    turned += [f"up={features['up'][step]:+.2f}"] if "up" in features else []
    digits = 1 if "position_x" in features and "position_y" in features else 2
    places = {"position_x": f"x={{:+.{digits}f}}", "position_y": f"y={{:+.{digits}f}}", "cart_position": "x={:+.2f}"}
    places |= {"height": "h={:.2f}", "pole_height": "h={:.2f}", "target_distance": "distance={:.3f}"}
    values = [text.format(features[name][step]) for name, text in places.items() if name in features]
    time = rollout.times[step]
    moment = f"t={time:.2f} s  step {round(time / rollout.spec.dt)}"
    return FrameLabel(moment, frames.words[number], " ".join(turned), " ".join(values) + " m" if values else "")


def legend(rollout: ShownRollout) -> str:
    """Legend of all pictures of a rollout."""
    parts = ["camera follows" if "displacement" in rollout.features else "camera stands still"]
    if rollout.limbs:
        parts.append(limbs_in_words(rollout.limbs))
    if rollout.path_of is not None:
        parts.append(f"path of {rollout.path_of} purple")
    return ", ".join(parts)


def one_line(text: str) -> str:
    """Text for one line of a picture: without line breaks and unprintable characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def write_title(page: Image.Image, top: int, title: str, note: str) -> None:
    """Write a title to the left and a note to the right; if they would meet, the title has half of the width."""
    pen = ImageDraw.Draw(page)
    free_width = page.width - 24 - pen.textlength(note, font=font(SMALLEST))
    title = shortened(pen, title, max(free_width, page.width / 2 - 12), 14)
    pen.text((6, top + 3), title, font=font(14), fill=INK)
    note = shortened(pen, note, page.width - 24 - pen.textlength(title, font=font(14)), SMALLEST)
    pen.text((page.width - 6, top + 5), note, font=font(SMALLEST), fill=PALE, anchor="ra")


def shortened(pen: ImageDraw.ImageDraw, text: str, free_width: float, size: int) -> str:
    """Beginning of a text of a font size that fits into the width [px]."""
    if pen.textlength(text, font=font(size)) <= free_width:
        return text
    while text and pen.textlength(text + " …", font=font(size)) > free_width:
        text = text[:-1]
    return text.rstrip() + " …"


def write_label(pen: ImageDraw.ImageDraw, corner: tuple[int, int], width: int, text: FrameLabel) -> None:
    """Write the text of a moment under its picture, in three lines; the event is in the picture."""
    x, y = corner
    for line, words in enumerate((text.moment, text.angle, text.place)):
        rotation, _, rest = words.partition(" ")
        if pen.textlength(words, font=font(12)) <= width:
            pen.text((x, y + 13 * line), words, font=font(12), fill=INK)
        elif "=" not in rotation and pen.textlength(words, font=font(SMALLEST)) > width:
            pen.text((x, y + 13 * line), rest, font=font(SMALLEST), fill=INK)  # the plot names the rotation
        else:
            pen.text((x, y + 13 * line), words, font=font(SMALLEST), fill=INK)
