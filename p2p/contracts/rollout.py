"""Evaluation episodes, and which seeds they may use."""

import hashlib
from enum import StrEnum

from p2p.contracts.base import Contract
from p2p.contracts.sandbox import SandboxLevel


class Purpose(StrEnum):
    """Why an episode is run. The seeds of the three purposes never meet."""

    TRAINING = "training"
    SELECTION = "selection"
    """Chooses the checkpoint."""
    REPORT = "report"
    """Is reported, and chooses nothing."""


SEED_BLOCK = 100_000_000
SESSION_BLOCKS = 1_000_000
"""Numbers of blocks that the report seeds of sessions are spread over."""


def first_seed(purpose: Purpose, seed: int) -> int:
    """First environment seed for `purpose` under training seed `seed`; each block holds 100,000 of them.

    Raises:
        ValueError: `seed` is outside [0, 1000), where blocks would meet.
    """
    if not 0 <= seed < 1000:
        raise ValueError(f"seed must lie in [0, 1000), got {seed}")
    return list(Purpose).index(purpose) * SEED_BLOCK + seed * 100_000


def report_seed_offset(session_id: str) -> int:
    """What a session adds to its first report seed: without it, all sessions of one training seed share their starts.

    A multiple of `SEED_BLOCK` below 1e14: such seeds lie above those of every other purpose, and are exact as doubles.
    """
    digest = hashlib.sha256(f"report {session_id}".encode()).digest()
    return SEED_BLOCK * (int.from_bytes(digest[:4]) % SESSION_BLOCKS)


class Rollout(Contract):
    """One evaluation episode, as recorded."""

    seed: int
    """Seed of the environment's reset."""
    episode_return: float
    """Sum of the trained reward; of Gymnasium's own reward where the reward was not run."""
    length: int
    """[steps]."""
    label: str | None = None
    """"p10", "median" or "p90" for the three that are kept whole; None for the others."""


class StandardReturns(Contract):
    """Returns by Gymnasium's own reward, in episodes that end by its own rules (`returns.json`)."""

    first_seed: int
    """Seed of the first episode's reset; the others follow."""
    returns: tuple[float, ...]


class Evaluation(Contract):
    """The rollouts of one checkpoint for one purpose."""

    run_id: str
    checkpoint: int
    """Step of the checkpoint."""
    purpose: Purpose
    dt: float
    """Control period [s]."""
    rollouts: tuple[Rollout, ...]
    sandbox: SandboxLevel | None = None
    """How the process that ran them was confined; None when it was not."""
