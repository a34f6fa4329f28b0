"""Protocols of replaceable parts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from p2p.contracts.advice import Advice
from p2p.contracts.base import Contract
from p2p.contracts.env import EnvSpec
from p2p.contracts.intent import Intent, Understanding
from p2p.contracts.job import Capabilities, Capacity, JobSpec, JobStatus
from p2p.contracts.judgment import Judgment
from p2p.contracts.log_rows import LogRow
from p2p.contracts.reward import CandidatePlace, Revision, RewardDraft, RewardReport, TermStatistics
from p2p.contracts.training import TrainConfig
from p2p.contracts.training_plan import EarlyStop


class Attempt(Contract):
    """One finished iteration, for a reviser."""

    number: int
    source: str
    """Its reward function."""
    config_changes: dict[str, object]
    """What its author asked to train it with, on top of the environment's preset."""
    config: TrainConfig = TrainConfig()
    """What it was trained with."""
    pinned: tuple[str, ...] = ()
    """Fields of the configuration that the user fixed: changing them would change nothing."""
    judgment: Judgment
    terms: tuple[TermStatistics, ...]
    """Of the best run at its end."""
    dynamics: dict[str, float]
    """Numbers of the training itself: explained_variance, approx_kl, return_slope …"""
    advice: tuple[Advice, ...] = ()
    """What its course says to do next, the most promising first."""
    early_stop: EarlyStop | None = None
    """Why the best run ended before its last step; None where it did not."""
    based_on: int | None


class IntentElicitor(Protocol):
    """Turns a sentence into criteria."""

    def elicit(self, prompt: str, env: EnvSpec) -> Intent:
        """Criteria for `prompt`.

        Raises:
            UnknownPhrase: a part of the sentence is not understood; the message names it.
        """
        ...


class RewardAuthor(Protocol):
    """Writes a reward function for an intent."""

    def write(self, intent: Intent, env: EnvSpec) -> RewardDraft:
        """The first reward of a session."""
        ...


class Reviser(Protocol):
    """Revises rewards, given the attempts so far."""

    def revise(
        self, intent: Intent, env: EnvSpec, attempts: tuple[Attempt, ...], wishes: tuple[str, ...] = ()
    ) -> Revision:
        """Next reward and configuration, at most two changes away from one of `attempts`.

        Args:
            intent: What was asked.
            env: Where.
            attempts: All judged iterations, oldest first.
            wishes: What its person said on the way, oldest first; they change no criterion.
        """
        ...


class Author(IntentElicitor, RewardAuthor, Reviser, Protocol):
    """Author for all three writing roles."""


class AuthorLimits(Contract):
    """Limits of an author."""

    constraints: str
    """What a reward may do, and how far its training may be changed."""
    steps_left: int | None = None
    """Environment steps the session may still take; None without a cap."""
    reward_only: bool = False
    """Whether the hyperparameters are fixed."""
    n_runs: int = 1
    """Trainings of an iteration, without variants."""
    n_variants: int = 0
    """Variants of the hyperparameters that are trained beside these."""
    taken: tuple[str, ...] = ()
    """Names of configurations that a person chose."""


@runtime_checkable
class SentenceReader(Protocol):
    """Author that can explain its reading of a sentence, even a partial one."""

    def understand(self, prompt: str, env: EnvSpec, *, partly: bool = False) -> Understanding:
        """Criteria, the parts left over, and the assumptions.

        Raises:
            UnknownPhrase: a part is not understood and `partly` is false, or nothing of it is understood.
        """
        ...


@runtime_checkable
class Repairer(Protocol):
    """Author that can repair a reward which was refused, or failed in training."""

    def repair(self, intent: Intent, env: EnvSpec, draft: RewardDraft, report: RewardReport) -> RewardDraft:
        """Repair the reward, given its report."""
        ...


@runtime_checkable
class CandidateAuthor(Protocol):
    """Author that can write several different rewards for the same purpose."""

    def write_candidate(self, intent: Intent, env: EnvSpec, place: CandidatePlace) -> RewardDraft:
        """Write one of several rewards, unlike the others."""
        ...


class RunLog(Protocol):
    """Log of one run or session; made of a `LogTarget`, it reads what an earlier process wrote."""

    def marks(self, stream: str) -> Sequence[int]:
        """Marks of the rows of a stream that are written, oldest first."""
        ...

    def write(self, row: LogRow) -> None:
        """Append one row, whole or not at all."""
        ...

    def flush(self) -> None:
        """Have others see what is written."""
        ...

    def close(self) -> None:
        """Wait until everything is written."""
        ...

    def restart(self) -> None:
        """Drop all rows, where they can be taken back."""
        ...


class Backend(Protocol):
    """Runs jobs."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do, and what it cannot; known of the class."""
        ...

    def capacity(self, job_memory_mb: int) -> Capacity:
        """Number of jobs of so much memory [MiB] at a time."""
        ...

    def submit(self, spec: JobSpec, directory: Path) -> JobStatus:
        """Start `spec` in `directory`; called again for a live or completed job, changes nothing."""
        ...

    def status(self, directory: Path) -> JobStatus:
        """Status of the job, from its directory alone."""
        ...

    def cancel(self, directory: Path) -> JobStatus:
        """End the job and all its processes; wait until they are gone."""
        ...

    def logs(self, directory: Path, offset: int = 0) -> tuple[str, int]:
        """Log text from byte `offset` on, and the next offset."""
        ...
