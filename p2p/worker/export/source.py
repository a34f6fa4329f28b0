"""A checkpoint to export, with everything recorded about it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput
from p2p.contracts.intent import Intent
from p2p.contracts.judgment import Judgment
from p2p.contracts.training import Evaluation, Rollout, TrainConfig
from p2p.rewards.definitions import commanded
from p2p.store.arrays import load_arrays
from p2p.store.iterations import IterationRecord
from p2p.store.policy import NumpyPolicy, load_policy
from p2p.worker.rollout.episodes import Arrays

PREFERRED = ("median", "p10", "p90")
"""Which rollout is replayed: the first of these whose trajectory was kept."""


@dataclass(frozen=True, slots=True)
class Source:
    """Checkpoint and the rollouts that measured it."""

    run: IterationRecord
    step: int
    policy: NumpyPolicy
    config: TrainConfig
    spec: EnvSpec
    intent: Intent | None
    judgment: Judgment | None
    """Of this very checkpoint; None where another was judged."""
    evaluation: Evaluation
    """Its report rollouts; its selection rollouts where it has no others."""
    trajectories: dict[str, Arrays]
    """Label -> whole rollout, of those of the evaluation that were kept whole; the first is replayed."""
    video: Path | None
    """Of the rollout that is replayed."""

    @property
    def label(self) -> str:
        """Label of the replayed rollout."""
        return next(iter(self.trajectories))

    @property
    def rollout(self) -> Rollout:
        """Replayed rollout."""
        return next(rollout for rollout in self.evaluation.rollouts if rollout.label == self.label)

    @property
    def observations(self) -> NDArray[np.float32]:
        """All that the policy was shown in the recorded rollouts, shape (B, input_dim)."""
        observations: NDArray[np.float32] = np.concatenate([shown_to(arrays) for arrays in self.trajectories.values()])
        return observations


def open_source(run_dir: Path, step: int) -> Source:
    """Read a checkpoint of a run.

    Raises:
        InvalidInput: it has no policy, or none of its rollouts was recorded.
    """
    run = IterationRecord(run_dir)
    config = run.read_config()
    spec = run.read_env_spec()
    policy = load_policy(run.checkpoint(step).policy_path)
    if config is None or spec is None:
        raise InvalidInput(f"{run_dir} holds no readable configuration and environment: it cannot be exported.")
    evaluation, trajectories, video = _reported(run, step) or _selected(run, step) or (None, {}, run_dir)
    if evaluation is None:
        raise InvalidInput(
            f"No rollout of checkpoint {step} of {run.iteration_id} was recorded: there is nothing to check the "
            "export against."
        )
    judgment = IterationRecord(run_dir.parent).read_judgment()
    judged = judgment is not None and (judgment.run_id, judgment.best_checkpoint) == (run.iteration_id, step)
    return Source(
        run=run,
        step=step,
        policy=policy,
        config=config,
        spec=commanded(spec, config.commands),
        intent=run.read_criteria(),
        judgment=judgment if judged else None,
        evaluation=evaluation,
        trajectories=trajectories,
        video=video if video.is_file() else None,
    )


def shown_to(arrays: Arrays) -> NDArray[np.float32]:
    """What the policy was shown in a recorded rollout, shape (T, input_dim)."""
    if "seen" in arrays:
        return arrays["seen"]
    shown: NDArray[np.float32] = arrays["obs"]
    return np.concatenate([shown, arrays["observed"]], axis=1) if "observed" in arrays else shown


Recorded = tuple[Evaluation, dict[str, Arrays], Path]
"""An evaluation, its trajectories by label, and where the video of the first of these would be."""


def _reported(run: IterationRecord, step: int) -> Recorded | None:
    """Report rollouts of the iteration, if they are of this checkpoint."""
    report = IterationRecord(run.path.parent).report
    evaluation = report.read_evaluation()
    if evaluation is None or (evaluation.run_id, evaluation.checkpoint) != (run.iteration_id, step):
        return None
    kept = _kept(evaluation, lambda label: report.trajectory(step, label))
    return (evaluation, kept, report.video(next(iter(kept)))) if kept else None


def _selected(run: IterationRecord, step: int) -> Recorded | None:
    """Selection rollouts of the checkpoint."""
    evaluation = run.checkpoint(step).read_evaluation()
    if evaluation is None:
        return None
    kept = _kept(evaluation, lambda label: run.trajectory(step, label))
    return (evaluation, kept, run.video(step, next(iter(kept)))) if kept else None


def _kept(evaluation: Evaluation, path: Callable[[str], Path]) -> dict[str, Arrays]:
    """Rollouts saved whole, the preferred one first."""
    labels = {rollout.label for rollout in evaluation.rollouts}
    found = {label: load_arrays(path(label)) for label in PREFERRED if label in labels}
    return {label: arrays for label, arrays in found.items() if arrays is not None}
