"""Pay of a reward for a known motion."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Paid:
    """One motion: its score by the criteria, and its pay by the reward."""

    name: str
    score: float
    """Of the criteria, in [0, 1]."""
    total: float
    """Mean reward per step."""
    terms: dict[str, float]
    """Mean per step."""
    idle: bool = False
    """Whether nothing moves in it."""
    even_pace: str | None = None
    """For a dash, the motion that goes the same way at an even pace."""
    fallen: bool = False
    """Whether the robot falls in it, or lies."""
    noise_on: str | None = None
    """The motion of which this is the same with random actions."""
    kept: float | None = None
    """Mean reward per step of the whole time where an unhealthy state ends the episode: from then on 0. None: it ends
    nothing, or the simulator cannot tell."""

    @property
    def plain(self) -> bool:
        """Whether it is ranked: neither an even-pace nor a noisy variant of another motion."""
        return self.even_pace is None and self.noise_on is None

    @property
    def earned(self) -> float:
        """Pay per step, the end of the episode included."""
        return self.total if self.kept is None else self.kept
