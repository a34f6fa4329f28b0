"""Pictures of an iteration for a judge, and further ones on request."""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.inference import ImagePart, VideoPart
from p2p.contracts.judgment import SentPicture
from p2p.contracts.work import ViewCamera

VIDEO = "video/mp4"


class CloserLook(Contract):
    """What is to be shown besides; what is left out stays as on the first picture."""

    start_s: float | None = Field(default=None, ge=0)
    """Begin of a part of the episode [s]. A short part is slow motion: its eight moments lie closer together."""
    end_s: float | None = Field(default=None, gt=0)
    """End of that part [s]."""
    camera: ViewCamera | None = None
    """Another camera: side, front and top stand still, tracking follows the robot."""
    rollout: Literal["p10", "median", "p90"] | None = None
    """Another of the recorded rollouts, by its rank among them."""
    compare_with: int | None = Field(default=None, ge=1)
    """An earlier iteration, shown below on the same time axis."""
    path_of: str | None = Field(default=None, min_length=1, max_length=80)
    """A body whose path is drawn over the pictures: for a foot's step, a swing, a straight line or a circle."""


@dataclass(frozen=True, slots=True)
class EvidencePicture:
    """One picture or video, with the file that holds its bytes."""

    data: bytes
    sent: SentPicture
    note: str = ""
    """How its moments were chosen."""

    def part(self, fps: float | None = None) -> ImagePart | VideoPart:
        """Message part of the picture; `fps` is for videos [1/s]."""
        text = base64.b64encode(self.data).decode()
        if self.sent.media_type == VIDEO:
            return VideoPart(data=text, fps=fps)
        return ImagePart(media_type=cast(Literal["image/jpeg", "image/png"], self.sent.media_type), data=text)


@dataclass(frozen=True, slots=True)
class EvidencePictures:
    """All pictures of one iteration.

    Args:
        sheet: The contact sheet.
        video: Of the same rollout; None without one.
        more: Makes another picture. What it raises is told to the judge.
    """

    sheet: EvidencePicture
    video: EvidencePicture | None
    more: Callable[[CloserLook], EvidencePicture]
