"""Recorded rollouts that wait for a person's score."""

from p2p.contracts.base import Contract
from p2p.contracts.recording import RolloutLabel


class LabelClip(Contract):
    """One rollout to be scored; what judges gave it is nowhere in it."""

    session_id: str
    prompt: str
    """What was asked for."""
    env_id: str
    iteration: int
    rollout: RolloutLabel
    video: str
    """Name of its video."""


class LabelQueue(Contract):
    """Rollouts that a person has not scored yet."""

    annotator: str
    clips: tuple[LabelClip, ...]
    """In an order that is the person's own: it tells nothing of the session, and is the same when asked again."""
    waiting: int
    """How many there are, of which `clips` are the first."""
