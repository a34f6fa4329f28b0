"""Minimum free disk and memory for a training: refuse early with the reason instead of failing half-way."""

from pathlib import Path

from p2p.contracts.errors import EnvironmentProblem, StorageProblem
from p2p.contracts.remedies import Remedy
from p2p.contracts.training import TrainConfig
from p2p.scheduler.limits import ALWAYS_MB
from p2p.scheduler.resources import disk_free_mb, memory_mb

BASE_MEMORY_MB = 250
"""Of a training with the simulator, before it has recorded anything; measured: 190 to 240 [MiB]."""
COPIES = 3
"""Of a recorded step at the same time: as collected, as features, as the minibatches read it."""
VIDEO_FLOOR = 2.0
"""Videos of finished sessions want this many times the free disk that a training does: they stop first."""


def require_disk(directory: Path, floor_gb: float) -> None:
    """Raise if free disk is below the minimum.

    Raises:
        StorageProblem: less than `floor_gb` GiB is free where `directory` lies, or will.
    """
    free = disk_free_mb(directory) / 1024
    if free < floor_gb:
        raise StorageProblem(
            f"{free:.2f} GiB are free on the disk of {directory}; a training needs at least {floor_gb:g} GiB. "
            f"Free some space ({Remedy.EMPTY_TRASH.of()}), choose another place ({Remedy.CHOOSE_RUNS_DIR.of()}), "
            "or lower P2P_MIN_FREE_DISK_GB."
        )


def has_disk_for_videos(directory: Path, floor_gb: float) -> bool:
    """Whether enough disk is free to keep videos beside checkpoints."""
    return disk_free_mb(directory) / 1024 >= VIDEO_FLOOR * floor_gb


def training_memory_mb(config: TrainConfig, obs_dim: int, action_dim: int) -> int:
    """Minimum memory of a training [MiB]: a constant and the recorded steps of one rollout."""
    numbers = config.n_envs * config.n_steps * (2 * obs_dim + action_dim + 16)
    return BASE_MEMORY_MB + COPIES * 8 * numbers // (1 << 20)


def require_memory(needed_mb: int, share: float = 1.0) -> None:
    """Raise if a training does not fit into memory.

    Args:
        needed_mb: What a training needs [MiB].
        share: Of the machine's memory that it may take before it is ended.

    Raises:
        EnvironmentProblem: that is more than is free now, than there will ever be, or than it may take.
    """
    total, free = memory_mb()
    if total is not None and needed_mb > total:
        raise EnvironmentProblem(
            f"A training of this size needs {needed_mb:,} MiB of memory; this machine has {total:,}. "
            "It can never run here: set fewer n_envs or n_steps."
        )
    if total is not None and needed_mb > max(ALWAYS_MB, share * total):
        raise EnvironmentProblem(
            f"A training of this size needs {needed_mb:,} MiB of memory; it may take {share:.0%} of this machine's "
            f"{total:,}. Set fewer n_envs or n_steps, or P2P_MAX_MEMORY_SHARE higher."
        )
    if free is not None and needed_mb > free:
        raise EnvironmentProblem(
            f"A training needs {needed_mb:,} MiB of memory; {free:,} of {total:,} are free. "
            f"End other programs or wait for other trainings ({Remedy.LIST.of()}), then go on: {Remedy.RESUME.of()}"
        )
