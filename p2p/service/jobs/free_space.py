"""Minimum free disk and memory of a training on this machine."""

from collections.abc import Iterable

from p2p.contracts.env import EnvSpec
from p2p.contracts.training import TrainConfig
from p2p.scheduler.backends.by_directory import runs_here
from p2p.scheduler.free_resources import has_disk_for_videos, require_disk, require_memory, training_memory_mb
from p2p.service.workspace import Workspace


def require_free_disk(ws: Workspace) -> None:
    """Refuse to write checkpoints when the disk is nearly full.

    Raises:
        StorageProblem: less is free than `P2P_MIN_FREE_DISK_GB`.
    """
    require_disk(ws.runs.path, ws.settings.min_free_disk_gb)


def require_free_memory(
    ws: Workspace, configs: Iterable[TrainConfig], spec: EnvSpec, backend: str | None = None
) -> int:
    """Refuse trainings that do not fit into this machine's memory; trainings on nodes are not checked.

    Args:
        configs: Of the trainings.
        spec: Their environment.
        backend: Where they run; None for where this process has its trainings run.

    Returns:
        What the largest of them needs [MiB].

    Raises:
        EnvironmentProblem: one needs more than is free.
    """
    needed = max((training_memory_mb(config, spec.obs_dim, spec.action_dim) for config in configs), default=0)
    if runs_here(backend or ws.settings.backend):
        require_memory(needed, ws.settings.max_memory_share)
    return needed


def keeps_videos(ws: Workspace) -> bool:
    """Whether there is room for videos beside the checkpoints."""
    return has_disk_for_videos(ws.runs.path, ws.settings.min_free_disk_gb)
