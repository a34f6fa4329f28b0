"""Probe of a reward: a training of some seconds that is not kept."""

import math
from pathlib import Path
from statistics import fmean

from p2p.analysis.intervals import mean_interval
from p2p.analysis.probe import probe_warnings, probed_criteria
from p2p.contracts.errors import TrainingFailed
from p2p.contracts.intent import Intent
from p2p.contracts.judgment import CriterionScore
from p2p.contracts.reward import RewardDraft, RewardIssue, RewardProbe, RewardReport
from p2p.contracts.session import NewSession
from p2p.contracts.training import TrainConfig
from p2p.registry import naming_extras
from p2p.service.jobs.worker_jobs import raise_failure, wait, worker_job
from p2p.service.training.environments import environment_of
from p2p.service.training.plan import draft_with_commands, first_config
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord, save_inputs
from p2p.training.speeds import STEPS_PER_SECOND

PROBE_S = 6.0
"""How long a probe trains at the pace of `p2p.training.speeds` [s]; steps are counted, never the clock."""
USUAL_PACE = 10_000
"""Steps per second of an environment whose pace was not measured."""
NUM_EVALS = 3
N_EVAL_EPISODES = 8
MAX_CPU_S = 120
MAX_WALL_S = 600
"""A probe that takes more is ended."""


def probed(
    ws: Workspace, directory: Path, session: NewSession, draft: RewardDraft, intent: Intent | None, report: RewardReport
) -> RewardReport:
    """Reward report with the results and warnings of a probe.

    Args:
        directory: Of the job, which its caller removes.
        session: With whose configuration.
        draft: The reward.
        intent: What was asked; None measures the return alone.
        report: Of its check. One that is not accepted is returned as it is.

    Raises:
        InvalidConfig: the configuration it asks for is wrong.
        TrainingFailed, EnvironmentProblem, JobLost: the training did not reach its end.
    """
    if not report.accepted:
        return report
    run = IterationRecord(directory)
    draft = draft_with_commands(draft, session, intent)
    save_inputs(run, draft.source, environment_of(ws, session, intent), probe_config(session, draft), intent)
    job = worker_job("probe_reward", memory_share=ws.settings.max_memory_share)
    try:
        ws.backend.submit(job.model_copy(update={"max_cpu_s": MAX_CPU_S, "max_wall_s": MAX_WALL_S}), run.path)
        wait([run.path], ws.backend)
        raise_failure(ws.backend.status(run.path), "The probe training")
    finally:
        ws.backend.cancel(run.path)  # also when its caller has interrupted it
    measured = [(one, found) for one in run.checkpoints() if (found := one.read_evaluation()) is not None]
    if len(measured) < 2:
        raise TrainingFailed(
            "The probe training recorded fewer than two evaluations, so it shows no learning. Try the reward again."
        )
    returns = [[rollout.episode_return for rollout in found.rollouts] for _, found in measured]
    scores: list[tuple[CriterionScore, ...]] = []
    if intent is not None:
        with naming_extras():
            from p2p.judges.code import CodeJudge  # noqa: PLC0415 - numpy, which the service starts without
        judge = CodeJudge()
        scores = [judge.measure_checkpoint(intent, checkpoint.path, 1.0).criteria for checkpoint, _ in measured]
    probe = RewardProbe(
        steps=tuple(checkpoint.step for checkpoint, _ in measured),
        returns=tuple(fmean(values) for values in returns),
        intervals=tuple(mean_interval(values) or (values[0], values[0]) for values in returns),
        criteria=probed_criteria(scores) if all(scores) else (),  # empty: not measurable, or only by eyes
    )
    warnings = tuple(RewardIssue(severity="warning", message=message) for message in probe_warnings(probe))
    return report.model_copy(update={"probe": probe, "issues": (*report.issues, *warnings)})


def probe_config(session: NewSession, draft: RewardDraft) -> TrainConfig:
    """Training configuration of a probe: the usual one with few steps.

    Raises:
        InvalidConfig: what the reward asks for cannot be trained.
    """
    whole = first_config(session, draft)
    rollout = whole.n_envs * whole.n_steps
    wanted = min(whole.total_timesteps, PROBE_S * STEPS_PER_SECOND.get(session.env_id, USUAL_PACE))
    steps = rollout * max(NUM_EVALS, math.ceil(wanted / rollout))
    return whole.model_copy(
        update={
            "total_timesteps": steps,
            "num_evals": NUM_EVALS,
            "n_eval_episodes": N_EVAL_EPISODES,
            "stop_at_score": None,
        }
    )
