"""The verb `train`: one run, from its configuration to its summary."""

import shutil
import sys
import time
from pathlib import Path

from p2p.analysis.guardrails import hacking_warning
from p2p.analysis.term_statistics import term_statistics
from p2p.analysis.training_dynamics import dynamics, dynamics_warnings
from p2p.contracts.errors import InvalidConfig, InvalidInput
from p2p.contracts.rollout import Purpose, first_seed
from p2p.contracts.training import RunSummary
from p2p.store.iterations import IterationRecord
from p2p.worker.callbacks import RECENT_EPISODES, TrainingCallback
from p2p.worker.ppo import LearnerEnv, make_learner
from p2p.worker.reward_loader import LoadedReward
from p2p.worker.selection import Run, Selection, evaluate_checkpoint
from p2p.worker.start_states import StartPlacer
from p2p.worker.vec_env import VecEnv

NEVER = sys.maxsize
"""Rollouts between two of stable-baselines3's own log lines, which would also forget the losses we read."""


def train(job_dir: Path) -> None:
    """Train the run in `job_dir` and write everything a finished run holds, the summary last.

    What an earlier, interrupted attempt left there is removed first.

    Raises:
        InvalidInput: the directory lacks a readable configuration or environment.
        InvalidReward: the reward does not load.
        InvalidConfig: the environment refuses the configuration.
        RewardFailed: the reward raised, or returned what is not a finite number; the metrics so far stay.
    """
    run = _open(IterationRecord(job_dir))
    _clear(run.record)
    run.record.save_reward_spec(run.reward.spec)
    env = _environment(run)
    model = make_learner(run.config, env)
    selections: list[Selection] = []
    begun = time.monotonic()
    callback = TrainingCallback(
        run.record, run.config, env, lambda step: selections.append(evaluate_checkpoint(run, model, step))
    )
    model.learn(run.config.total_timesteps, callback, log_interval=NEVER)
    seconds = time.monotonic() - begun
    run.record.save_summary(_summary(run, env, selections, seconds))


def _open(record: IterationRecord) -> Run:
    config, spec = record.read_config(), record.read_env_spec()
    if config is None or spec is None:
        missing = record.config_path if config is None else record.env_spec_path
        raise InvalidInput(f"{missing} is missing or not valid: the run cannot be trained.")
    return Run(record, config, spec, record.read_criteria(), LoadedReward.from_file(record.reward_fn_path))


def _clear(record: IterationRecord) -> None:
    """Remove what an interrupted attempt left."""
    record.scalars_path.unlink(missing_ok=True)
    for directory in (record.checkpoints_dir, record.trajectories_dir, record.videos_dir):
        shutil.rmtree(directory, ignore_errors=True)


def _environment(run: Run) -> LearnerEnv:
    config = run.config
    try:
        first = first_seed(Purpose.TRAINING, config.seed)
    except ValueError as error:
        raise InvalidConfig(f"{error}. Choose another seed.") from error
    env = VecEnv(config, run.spec, config.n_envs, run.reward, terminate=True)
    placer = StartPlacer(env, config.start_states, first) if config.start_states else None
    return LearnerEnv(env, first, placer)


def _summary(run: Run, env: LearnerEnv, selections: list[Selection], seconds: float) -> RunSummary:
    training, _ = run.record.parse_scalars()
    best = _best(selections)
    numbers = dynamics(training)
    steps = int(training[-1]["global_step"])
    recent = [episode.episode_return for episode in env.episodes[-RECENT_EPISODES:]]
    return RunSummary(
        total_timesteps=steps,
        training_time_s=seconds,
        final_episodic_return=sum(recent) / len(recent) if recent else None,
        total_episodes=env.n_episodes,
        steps_per_second=steps / seconds,
        best_checkpoint=best.step,
        best_selection_score=best.intent_score,
        best_selection_success=best.success_rate,
        best_selection_return=best.mean_return,
        terms=term_statistics(best.terms),
        dynamics=numbers,
        warnings=(*dynamics_warnings(numbers), *_hacking(selections)),
    )


def _best(selections: list[Selection]) -> Selection:
    return max(selections, key=lambda selection: selection.rank)


def _hacking(selections: list[Selection]) -> tuple[str, ...]:
    warning = hacking_warning([s.mean_return for s in selections], [s.intent_score for s in selections])
    return () if warning is None else (warning,)
