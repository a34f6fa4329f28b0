"""A saved policy with its normaliser, and the evaluation made of it."""

from pathlib import Path

from p2p.contracts.rollout import Evaluation
from p2p.store import files, layout


class CheckpointRecord:
    """The directory `checkpoints/<step>/` of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.step = int(path.name)
        self.policy_path = path / layout.POLICY
        """Weights and observation statistics as plain arrays: what is evaluated."""
        self.model_path = path / layout.SB3_MODEL
        """The same policy for `stable_baselines3.PPO.load`."""
        self.normalizer_path = path / layout.SB3_NORMALIZER
        """The same statistics for `VecNormalize.load`."""
        self.features_path = path / layout.FEATURES
        """Features of every selection rollout."""

    def save_evaluation(self, evaluation: Evaluation) -> None:
        """Write `evaluation.json`, which marks the checkpoint as complete."""
        files.write_model(self.path / layout.EVALUATION, evaluation)

    def read_evaluation(self) -> Evaluation | None:
        """The selection rollouts, or None while they are not complete."""
        return files.read_model(self.path / layout.EVALUATION, Evaluation)
