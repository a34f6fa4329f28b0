"""Pictures made on request of what was recorded: a rollout looked at, a training plotted."""

from enum import StrEnum

from p2p.contracts.base import Contract


class FrameNote(Contract):
    """One moment of a rollout that was chosen to be shown."""

    index: int
    """From 1, as the number on the contact sheet."""
    t_s: float
    """Time since the start of the episode [s]."""
    step: int
    """Control step, from 1."""
    event: str
    """"start", "take-off", "apex", "landing", "end" …; empty for a moment between two events."""
    path: str | None = None
    """The moment as a picture of its own, relative to the runs directory; None where only the sheet shows it."""


class PictureFile(Contract):
    """A picture or a video."""

    path: str
    """Relative to the runs directory."""
    size_bytes: int
    width: int
    """[px]."""
    height: int
    """[px]."""
    mime_type: str


class RolloutPictures(Contract):
    """What was made of one request."""

    session_id: str
    iteration: int
    compared_with: int | None
    label: str
    """"p10", "median" or "p90"."""
    sheet: PictureFile
    frames: tuple[FrameNote, ...]
    """The moments on the sheet; those of the second iteration of a comparison follow the first's."""
    frame_files: tuple[PictureFile, ...]
    """The moments that are pictures of their own, in the order of `frames`."""
    video: PictureFile | None
    note: str
    """How the moments were chosen, and how slow motion was made."""


class MetricsPlot(StrEnum):
    """What of a training is plotted."""

    CURVE = "curve"
    """Return and success of every run over steps."""
    TERMS = "terms"
    """Mean of each reward term over steps."""
    DYNAMICS = "dynamics"
    """approx_kl, clip_fraction, explained_variance and std over steps."""
    COMPARE = "compare"
    """Return and success of two iterations."""


class MetricsPicture(Contract):
    """A plot of a training."""

    session_id: str
    iteration: int
    view: MetricsPlot
    with_iteration: int | None
    picture: PictureFile
