"""Checkpoints and their evaluations."""

from pathlib import Path

from p2p.contracts.training import Evaluation, StandardReturns
from p2p.contracts.work import EvaluateRequest
from p2p.store import layout
from p2p.store.records import json_file


class EvaluationRecord:
    """Directory with the rollouts of one checkpoint."""

    read_evaluation, save_evaluation = json_file(layout.EVALUATION, Evaluation)
    """Written last: it marks the rollouts as complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.features_path = path / layout.FEATURES
        """Features of every rollout."""


class CheckpointRecord(EvaluationRecord):
    """Directory `checkpoints/<step>/` of a run: a policy with its normaliser and its selection rollouts."""

    read_returns, save_returns = json_file("returns.json", StandardReturns)
    """Returns under Gymnasium's own reward; absent if not measured."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.step = int(path.name)
        self.policy_path = path / layout.POLICY
        """Weights and observation statistics as plain arrays: what is evaluated."""
        self.optimizer_path = path / layout.OPTIMIZER
        """State of the optimiser; absent in checkpoints of earlier versions."""
        self.model_path = path / layout.SB3_MODEL
        """The same policy for `stable_baselines3.PPO.load`."""
        self.normalizer_path = path / layout.SB3_NORMALIZER
        """The same statistics for `VecNormalize.load`."""


class ReportRecord(EvaluationRecord):
    """Directory `iter_N/report/`: report rollouts, which selected nothing, and their videos."""

    read_request, save_request = json_file(layout.REQUEST, EvaluateRequest)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.trajectories_dir = path / layout.TRAJECTORIES
        self.videos_dir = path / layout.VIDEOS
        self.learning_curve_path = path / layout.LEARNING_CURVE
        """Where its worker draws it, for the iteration."""

    def forget_evaluation(self) -> None:
        """Remove the mark that the rollouts are complete, before others are recorded."""
        (self.path / layout.EVALUATION).unlink(missing_ok=True)

    def video(self, label: str) -> Path:
        """Video of the report rollout `label`."""
        return self.videos_dir / layout.report_video_name(label)

    def trajectory(self, step: int, label: str) -> Path:
        """File of the complete rollout `label`."""
        return self.trajectories_dir / layout.trajectory_name(step, label)
