"""Checkpoints of a run, measured on selection rollouts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from p2p.analysis.clear_verdict import clearly_passes, may_pass_with_more
from p2p.analysis.scoring import Scores
from p2p.contracts.training import Evaluation, Purpose, first_seed
from p2p.store.arrays import save_arrays, save_features
from p2p.store.policy import NumpyPolicy, load_policy
from p2p.worker.engine.environment import compiled_model
from p2p.worker.reward.inputs import asked_by
from p2p.worker.rollout.episodes import (
    RecordedRollout,
    judged_config,
    judged_order,
    labelled,
    run_episodes,
    scores_of,
    trajectory,
)
from p2p.worker.training.run import Run


@dataclass(frozen=True, slots=True)
class Selection:
    """A checkpoint and its selection rollouts."""

    step: int
    mean_return: float
    intent_score: float | None
    """In [0, 1]; None without criteria."""
    success_rate: float | None
    """Share of rollouts that met every required criterion; None without criteria."""
    terms: Mapping[str, NDArray[np.float64]]
    """Name -> its value at every step of every rollout."""
    row: Mapping[str, Any]
    """Its row of metrics."""

    @property
    def clear(self) -> bool:
        """Whether it passes clearly; False for a training without early stopping."""
        return bool(self.row.get("clear"))

    @property
    def rank(self) -> tuple[float, float, float]:
        """Sort key of checkpoints: the larger the better."""
        return self.success_rate or 0.0, self.intent_score or 0.0, self.mean_return


def evaluate_checkpoint(run: Run, step: int) -> Selection:
    """Run and write the selection rollouts of the policy saved at `step`, without its metrics row.

    Raises:
        RewardFailed: the reward raised, or returned what is not a finite number.
    """
    policy = load_policy(run.record.checkpoint(step).policy_path)
    rollouts = _rollouts(run, policy, range(run.config.n_eval_episodes))
    scores = scores_of(run.intent, rollouts, run.spec) if run.intent is not None else None
    labels = labelled(judged_order(rollouts, scores))
    checkpoint = run.record.checkpoint(step)
    save_features(checkpoint.features_path, [rollout.features for rollout in rollouts])
    model = compiled_model(run.spec, run.config.env_kwargs, run.config.terrain)
    for index, label in labels.items():
        save_arrays(run.record.trajectory(step, label), trajectory(rollouts[index], run.spec, model))
    checkpoint.save_evaluation(
        Evaluation(
            run_id=run.record.iteration_id,
            checkpoint=step,
            purpose=Purpose.SELECTION,
            dt=run.spec.dt,
            rollouts=tuple(rollout.summary(labels.get(index)) for index, rollout in enumerate(rollouts)),
        )
    )
    row = _row(step, rollouts, labels, scores)
    if run.config.stop_at_score is not None and run.intent is not None and scores is not None:
        needed = run.config.stop_at_score
        row["clear"] = clearly_passes(run.intent, scores, needed)
        if not row["clear"] and may_pass_with_more(run.intent, scores):
            more = _rollouts(run, policy, range(len(rollouts), 2 * len(rollouts)))
            row["clear"] = clearly_passes(run.intent, scores_of(run.intent, [*rollouts, *more], run.spec), needed)
    return Selection(
        step=step,
        mean_return=float(np.mean([rollout.episode_return for rollout in rollouts])),
        intent_score=scores.intent_score if scores else None,
        success_rate=scores.success_rate if scores else None,
        terms={name: np.concatenate([r.terms[name] for r in rollouts]) for name in rollouts[0].terms},
        row=row,
    )


def _rollouts(run: Run, policy: NumpyPolicy, numbers: range) -> list[RecordedRollout]:
    """Selection rollouts of a policy, by their numbers within a checkpoint."""
    first = first_seed(Purpose.SELECTION, run.config.seed)
    config = judged_config(run.config, run.intent)
    seeds = [first + number for number in numbers]
    return run_episodes(config, run.spec, policy, seeds, run.reward, asked_by(run.intent, run.spec))


def _row(
    step: int, rollouts: Sequence[RecordedRollout], labels: Mapping[int, str], scores: Scores | None
) -> dict[str, Any]:
    """The evaluation's row of metrics; `reward_terms` are means per step of the median rollout."""
    returns = np.array([rollout.episode_return for rollout in rollouts])
    median = next(rollouts[index] for index, label in labels.items() if label == "median")
    row: dict[str, Any] = {
        "type": "eval",
        "global_step": step,
        "total_reward": float(returns.max()),
        "mean_return": float(returns.mean()),
        "std_return": float(returns.std()),
        "min_return": float(returns.min()),
        "max_return": float(returns.max()),
        "median_return": float(np.median(returns)),
        "p10_return": float(np.percentile(returns, 10)),
        "p90_return": float(np.percentile(returns, 90)),
        "all_returns": returns.tolist(),
        "episode_length": float(np.mean([rollout.length for rollout in rollouts])),
        "reward_terms": {name: float(values.mean()) for name, values in median.terms.items()},
    }
    if scores is not None:
        row["criteria"] = {criterion.key: criterion.value for criterion in scores.criteria}
        row["criteria_met"] = {criterion.key: criterion.met_share for criterion in scores.criteria}
        row["intent_score"] = scores.intent_score
        row["success_rate"] = scores.success_rate
    return row
