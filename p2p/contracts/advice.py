"""What the course of a training means, and what to do next."""

from enum import StrEnum
from typing import Any

from p2p.contracts.base import Contract


class Lever(StrEnum):
    """What can be changed about a training."""

    MORE_STEPS = "more steps"
    LONGER_EPISODES = "longer episodes"
    START_STATES = "other start states"
    MORE_EXPLORATION = "wider noise"
    STEADIER_UPDATES = "steadier updates"
    ANOTHER_NETWORK = "another network"
    MORE_SEEDS = "more seeds"
    ANOTHER_REWARD = "another reward"


class Advice(Contract):
    """One thing to do next, from measurements."""

    lever: Lever
    finding: str
    """What was measured, with its numbers."""
    text: str
    """What to do, with its numbers."""
    config: dict[str, Any] = {}
    """Fields of the next training's configuration that do so; empty where none does."""

    @property
    def words(self) -> str:
        """Both in one line."""
        return f"{self.finding} {self.text}"


class CheckpointPoint(Contract):
    """A checkpoint on its selection rollouts."""

    step: int
    success_rate: float | None
    """In [0, 1]; None without criteria."""
    score: float | None
    """In [0, 1]; None without criteria."""


class TrainingCourse(Contract):
    """What is known of the trainings of a finished iteration, for `p2p.analysis.plateau.advise`."""

    total_timesteps: int
    """Steps that were planned for each."""
    episode_s: float
    """Length of a training episode [s]."""
    judged_s: float | None = None
    """Length of a judged episode [s]; None without criteria."""
    checkpoints: tuple[CheckpointPoint, ...] = ()
    """Of the best run, in the order of their steps."""
    dynamics: dict[str, float] = {}
    """Numbers of the best run's training, see `p2p.analysis.training_dynamics`."""
    silent_terms: tuple[str, ...] = ()
    """Terms of the reward that were 0 at every step of the best checkpoint's selection rollouts."""
    unreached: tuple[str, ...] = ()
    """Titles of required criteria that no selection rollout of any checkpoint met."""
    seed_success: tuple[float, ...] = ()
    """Best success rate on selection rollouts of each training seed of the best configuration."""
    net_arch: tuple[int, ...] = (64, 64)
    has_start_states: bool = False
    needed: float = 0.8
    """Share of rollouts that have to succeed."""
