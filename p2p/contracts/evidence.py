"""What a judge with eyes is given."""

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.intent import Criterion
from p2p.contracts.judgment import Judgment
from p2p.contracts.pictures import FrameNote


class FeatureNumbers(Contract):
    """One feature over one rollout, in its unit."""

    name: str
    unit: str
    first: float
    last: float
    minimum: float
    minimum_s: float
    """When it was reached [s]."""
    maximum: float
    maximum_s: float
    mean: float


class Evidence(Contract):
    """The report rollouts of an iteration, as numbers and pictures."""

    session_id: str
    iteration: int
    prompt: str
    """What was asked for."""
    code: Judgment
    """By code alone; of its rollouts only those that were kept whole: p10, median and p90."""
    criteria: tuple[Criterion, ...]
    unjudged: tuple[str, ...]
    """Keys of the criteria that only eyes can judge."""
    contact_sheet: str | None
    """Relative to the runs directory; None where no pictures could be made."""
    frames: tuple[FrameNote, ...]
    """The moments on the contact sheet; empty where nobody wrote them down."""
    picture_note: str
    """How the moments were chosen; empty without notes."""
    videos: dict[str, str]
    """Label -> path, relative to the runs directory."""
    shown: str = Field(default="median")
    """Label of the rollout on the contact sheet."""
    duration_s: float
    """Length of that rollout [s]."""
    numbers: tuple[FeatureNumbers, ...]
    """Of that rollout."""
    bodies: tuple[str, ...] = ()
    """Whose path can be drawn over pictures."""
    rubric: str
    """How to judge, and what not to trust eyes with."""
