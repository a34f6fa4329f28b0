"""Checkpoints and their evaluations."""

from pathlib import Path

from p2p.contracts.rollout import Evaluation, StandardReturns
from p2p.contracts.work import EvaluateRequest
from p2p.store import files, layout


class EvaluationRecord:
    """Directory with the rollouts of one checkpoint."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.features_path = path / layout.FEATURES
        """Features of every rollout."""

    def save_evaluation(self, evaluation: Evaluation) -> None:
        """Write `evaluation.json`, which marks the rollouts as complete."""
        files.write_model(self.path / layout.EVALUATION, evaluation)

    def read_evaluation(self) -> Evaluation | None:
        """The rollouts, or None while they are not complete."""
        return files.read_model(self.path / layout.EVALUATION, Evaluation)


class CheckpointRecord(EvaluationRecord):
    """The directory `checkpoints/<step>/` of a run: a policy with its normaliser, and its selection rollouts."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.step = int(path.name)
        self.policy_path = path / layout.POLICY
        """Weights and observation statistics as plain arrays: what is evaluated."""
        self.model_path = path / layout.SB3_MODEL
        """The same policy for `stable_baselines3.PPO.load`."""
        self.normalizer_path = path / layout.SB3_NORMALIZER
        """The same statistics for `VecNormalize.load`."""

    def save_returns(self, returns: StandardReturns) -> None:
        """Write `returns.json`."""
        files.write_model(self.path / layout.RETURNS, returns)

    def read_returns(self) -> StandardReturns | None:
        """Returns by Gymnasium's own reward; None where they were not measured."""
        return files.read_model(self.path / layout.RETURNS, StandardReturns)


class ReportRecord(EvaluationRecord):
    """Directory `iter_N/report/`: report rollouts, which selected nothing, and their videos."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.trajectories_dir = path / layout.TRAJECTORIES
        self.videos_dir = path / layout.VIDEOS
        self.learning_curve_path = path / layout.LEARNING_CURVE
        """Where its worker draws it, for the iteration."""

    def save_request(self, request: EvaluateRequest) -> None:
        """Write what the worker is to do."""
        files.write_model(self.path / layout.REQUEST, request)

    def read_request(self) -> EvaluateRequest | None:
        """What the worker is to do."""
        return files.read_model(self.path / layout.REQUEST, EvaluateRequest)

    def video(self, label: str) -> Path:
        """Video of the report rollout `label`."""
        return self.videos_dir / layout.report_video_name(label)

    def trajectory(self, step: int, label: str) -> Path:
        """File of the whole rollout `label`."""
        return self.trajectories_dir / layout.trajectory_name(step, label)
