"""Expected time until a run is trained, and until its iteration is judged."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from p2p.analysis.pace import Pace, measured_pace
from p2p.contracts.training import TrainConfig
from p2p.store.iterations import IterationRecord

Rows = Sequence[Mapping[str, Any]]

PICTURES_PER_CHECK = 4.1
"""Time in which the report job starts and makes its pictures, in terms of the check of the reward, a job of the same
machine: 4.0 of HalfCheetah-v5, 4.35 of Hopper-v5, 4.1 of InvertedPendulum-v5 (`p2p lab eta`)."""


def training_time_left(run: IterationRecord, training: Rows, evaluations: Rows) -> float | None:
    """Expected time until a run is trained and its checkpoints are evaluated [s].

    Args:
        run: The run.
        training: Its training rows.
        evaluations: Its evaluation rows.

    Returns:
        None before its pace is known.
    """
    config = run.read_config()
    pace = _pace(training, evaluations)
    if pace is None or config is None:
        return None
    points = [config.total_timesteps * (number + 1) / config.num_evals for number in range(config.num_evals)]
    rollout = config.n_envs * config.n_steps
    to_come = {rollout * math.ceil(point / rollout) for point in points} - _evaluated(evaluations)
    plan = IterationRecord(run.path.parent).read_plan()
    if plan is not None and plan.threads > 1:  # evaluated beside the training, which waits for the last one alone
        to_come = {max(to_come, default=0)} - {0}
    steps = max(0, config.total_timesteps - int(training[-1]["global_step"]))
    return steps * pace.step_s + len(to_come) * pace.evaluation_time(evaluation_steps(run, config))


def judging_time(run: IterationRecord, n_report_rollouts: int, check_s: float) -> float:
    """Expected time from the end of an iteration's training to its verdict [s].

    The report rollouts are priced like those of an evaluation, everything else like the check of the reward.

    Args:
        run: One of its runs.
        n_report_rollouts: How many rollouts are judged.
        check_s: How long the check took [s].
    """
    config = run.read_config()
    training, evaluations = run.parse_scalars()
    pace = _pace(training, evaluations)
    if pace is None or config is None:
        return PICTURES_PER_CHECK * check_s
    rollout_s = pace.evaluation_time(evaluation_steps(run, config)) / config.n_eval_episodes
    return n_report_rollouts * rollout_s + PICTURES_PER_CHECK * check_s


def evaluation_steps(run: IterationRecord, config: TrainConfig) -> int:
    """Environment steps of all episodes of one evaluation."""
    spec = run.read_env_spec()
    return config.n_eval_episodes * config.episode_steps(spec.dt) if spec is not None else 0


def _pace(training: Rows, evaluations: Rows) -> Pace | None:
    return measured_pace(training, _evaluated(evaluations))


def _evaluated(evaluations: Rows) -> set[int]:
    return {int(row["global_step"]) for row in evaluations if "global_step" in row}
