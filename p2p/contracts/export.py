"""A policy handed out: in which formats, and the proof that each acts as the policy that was judged."""

from enum import StrEnum
from pathlib import Path

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.rollout import Purpose


class ExportFormat(StrEnum):
    """What others load."""

    SB3 = "sb3"
    """A zip for `stable_baselines3.PPO.load` and a pickle for `VecNormalize.load`."""
    ONNX = "onnx"
    """One graph, observation -> action."""
    TORCHSCRIPT = "torchscript"
    """One module, observation -> action."""


class NewExport(Contract):
    """Which policy is handed out, and how."""

    formats: tuple[ExportFormat, ...] = Field(min_length=1)
    iteration: int | None = None
    """None takes the best one so far."""
    run_id: str | None = None
    """None takes the best run of the iteration."""
    checkpoint: int | None = None
    """Step of the checkpoint; None takes the best one of the run."""
    output: Path | None = None
    """Folder to write; None makes one in the session's directory."""
    overwrite: bool = False
    """Replaces the files of an earlier export; other files in the folder stay."""
    license: str = Field(default="mit", pattern=r"^[A-Za-z0-9][A-Za-z0-9.+-]*$")
    """Named in the model card, as the Hugging Face Hub spells it."""


class ReturnStatistics(Contract):
    """Returns of several rollouts."""

    n: int
    mean: float
    std: float
    """Of the rollouts (n - 1 in its denominator); 0 for a single one."""
    low: float | None
    """Lower end of the mean's 95 % interval; None for a single rollout."""
    high: float | None


class RecordedEpisode(Contract):
    """A rollout that was recorded before the export, and is replayed by every format."""

    env_id: str
    env_kwargs: dict[str, bool | int | float | str]
    """All that `gymnasium.make` is given."""
    seed: int
    """Of the environment's reset."""
    steps: int
    purpose: Purpose
    label: str
    """"p10", "median" or "p90" of the rollouts of its purpose."""
    trained_return: float
    """By the reward it was trained on, as it was recorded."""
    gymnasium_return: float
    """By Gymnasium's own reward, for the recorded actions."""


class FormatCheck(Contract):
    """How one format did: against the policy on recorded observations, and on the recorded episode."""

    format: str
    """An `ExportFormat`; "sb3-predict" for stable-baselines3's own arithmetic, "numpy" for `policy.npz` itself."""
    files: tuple[str, ...]
    n_observations: int
    """Recorded observations it was compared on."""
    max_difference: float
    """Largest difference of an action from that of `policy.npz`, as a share of the action's range."""
    trained_return: float
    """Of its own episode from the recorded start."""
    gymnasium_return: float


class ExportReport(Contract):
    """What was handed out and what it was measured to do (`export.json`)."""

    run_id: str
    checkpoint: int
    episode: RecordedEpisode
    checks: tuple[FormatCheck, ...]
    trained_returns: ReturnStatistics
    """Of the recorded rollouts of the episode's purpose, by the trained reward."""
    gymnasium_returns: ReturnStatistics
    """Of the same episodes, by Gymnasium's own reward."""
    versions: dict[str, str]
    """Of the packages that made it."""


class Export(Contract):
    """An export as a door shows it."""

    session_id: str
    iteration: int
    directory: str
    files: tuple[str, ...]
    """Paths of all files."""
    report: ExportReport
