"""Clips: motions of a robot with known truth, by construction. Judge functions are tried on them."""

from enum import StrEnum

from pydantic import Field

from p2p.contracts.base import Contract

ROBOTS = ("HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5", "Humanoid-v5", "Swimmer-v5")
"""Those the set has clips of."""


class ClaimKind(StrEnum):
    """What a clip is for a sentence."""

    POSITIVE = "positive"
    """It shows what the sentence asks for."""
    NEGATIVE = "negative"
    """It shows something else."""
    NEAR_MISS = "near_miss"
    """It shows almost that: too slow, half of it, the wrong way, or not to the end."""
    EXPLOIT = "exploit"
    """It gets the numbers without doing it."""

    @property
    def holds(self) -> bool:
        """Whether the right verdict is "passed"."""
        return self is ClaimKind.POSITIVE


class Claim(Contract):
    """What one clip is for one sentence. It follows from how the clip was made."""

    sentence: str
    kind: ClaimKind


class Clip(Contract):
    """One motion of one robot, prescribed at every step, or done by a policy that was trained here."""

    clip_id: str
    env_id: str
    motion: str
    """What it shows, in words; clips of one motion differ in their parameters alone."""
    parameters: dict[str, float]
    """What it was made from: speeds [m/s], heights [m], turns, times [s] …"""
    seconds: float
    claims: tuple[Claim, ...]
    trained: bool = False
    """Whether a policy does it: then its parameters are measured, and only what is far from a limit is claimed."""
    mutation: str | None = None
    """What was changed of a clip that does what its sentences ask for; None of a clip that is as it was made."""

    def kind_for(self, sentence: str) -> ClaimKind | None:
        """Its kind for a sentence; None if unclear, and then no judge is asked."""
        return next((claim.kind for claim in self.claims if claim.sentence == sentence), None)


class ClipSet(Contract):
    """The clips of one robot (`clips.json`); their states and features lie beside it, in the same order."""

    env_id: str
    seed: int
    dt: float
    """Control period [s]."""
    clips: tuple[Clip, ...]

    def index_of(self, clip_id: str) -> int | None:
        """Place of a clip; None if absent."""
        return next((index for index, clip in enumerate(self.clips) if clip.clip_id == clip_id), None)


class KnownMotionsRequest(Contract):
    """Make the clips of one robot (`request.json`)."""

    env_id: str
    seed: int = Field(default=0, ge=0)
    variations: int = Field(default=4, ge=1, le=100)
    """Clips of each motion."""
