"""Two rollouts in one picture: moments in rows from equal cameras, plots on the same axes."""

from collections.abc import Sequence

from PIL import Image

from p2p.contracts.work import ViewCamera
from p2p.worker.pictures.contact_sheet import LABEL, TITLE, columns_of, paste_moments
from p2p.worker.pictures.frame_labels import legend, one_line, write_title
from p2p.worker.pictures.key_frames import KeyFrames
from p2p.worker.pictures.key_pictures import ShownRollout, camera_share, draw_moments
from p2p.worker.pictures.strip_plot import draw_two_strips

WIDTH = 800
PICTURE = 108
STRIP = 178
"""Of the page, and heights of a moment's picture and of the plots [px]."""


def compose_comparison(
    titles: Sequence[str],
    rollouts: Sequence[ShownRollout],
    frames: Sequence[KeyFrames],
    camera: ViewCamera = ViewCamera.TRACKING,
) -> Image.Image:
    """Compose the picture of two rollouts.

    Args:
        titles: Written above each; what stands before the first comma names it in the plots.
        rollouts: The rollouts.
        frames: The moments to show of each.
        camera: Where the camera stands.
    """
    block = TITLE + 2 * (PICTURE + LABEL)
    page = Image.new("RGB", (WIDTH, 2 * block + STRIP), "white")
    sizes = [(WIDTH // columns_of(each), PICTURE) for each in frames]
    shown = list(zip(rollouts, frames, sizes, strict=True))
    share = max(camera_share(rollout, each.steps, size, camera) for rollout, each, size in shown)
    for number, (rollout, each, size) in enumerate(shown):
        top = number * block
        write_title(page, top, one_line(titles[number]), f"{each.note}; {legend(rollout)}")
        pictures = draw_moments(rollout, each.steps, size, camera, share)
        paste_moments(page, top + TITLE, rollout, each, pictures)
    names = [one_line(title).partition(",")[0] for title in titles]
    features = [rollout.features for rollout in rollouts]
    strip = draw_two_strips(names, features, frames, rollouts[0].spec.dt, (WIDTH, STRIP))
    page.paste(Image.fromarray(strip), (0, 2 * block))
    return page
