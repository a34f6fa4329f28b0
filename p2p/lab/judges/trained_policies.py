"""Policies that are trained for the calibration, so that judges are measured on what learning makes too."""

from collections.abc import Callable, Sequence
from pathlib import Path

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import TrainingFailed
from p2p.lab.records import CalibrationRecord
from p2p.scheduler.resources import parallel_jobs
from p2p.service.jobs.worker_jobs import worker_job
from p2p.service.training.environments import describe_environment
from p2p.service.training.plan import parse_config
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.iterations import IterationRecord, save_inputs
from p2p.training.presets import preset
from p2p.training.trainer import Trainer

AIMS = {
    "forward": (1.0, "velocity_x"),
    "backward": (-1.0, "velocity_x"),
    "left": (1.0, "velocity_y"),
    "turning": (1.0, "yaw_rate"),
}
"""Name of an aim -> how a feature is rewarded; an aim whose feature a robot does not have is left out."""
REWARD = '''
def reward_fn(obs, action, next_obs, info):
    """Aim, posture and effort.

    LaTeX: r = r_{{aim}} + r_{{up}} - 0.1 e
    Terms:
        aim: what is to grow
        up: upright
        effort: squared actions
    """
    terms = {{"aim": {weight} * info["{feature}"], "up": {up}, "effort": -0.1 * info["control_effort"]}}
    return sum(terms.values()), terms
'''
SEED = 1


def train_for_clips(
    ws: Workspace, env_ids: Sequence[str], steps: int, tick: Callable[[str], None]
) -> dict[str, tuple[Path, ...]]:
    """Robot -> its trained runs, one for each aim; a run of the same length that is there is not trained again.

    Raises:
        TrainingFailed: a run did not reach its end.
    """
    runs = {}
    for env_id in env_ids:
        spec = describe_environment(ws, env_id)
        home = CalibrationRecord(ws.runs.path).policies(env_id)
        runs[env_id] = [
            _prepared(IterationRecord(home / f"{aim}_seed_{SEED}"), spec, aim, steps)
            for aim, (_, feature) in AIMS.items()
            if feature in spec.feature_names
        ]
    everything = [run for each in runs.values() for run in each]
    parallel = ws.settings.max_parallel or parallel_jobs()
    tick(f"training {len(everything)} policies of {steps:,} steps each")
    Trainer(ws.backend, worker_job("train"), parallel, lambda: None).train(everything)
    for run in everything:
        if run.read_summary() is None:
            status = run.read_status()
            raise TrainingFailed(f"{run.path} did not reach its end: {status.error if status else 'never begun'}")
    return {env_id: tuple(run.path for run in each) for env_id, each in runs.items()}


def _prepared(run: IterationRecord, spec: EnvSpec, aim: str, steps: int) -> IterationRecord:
    own = {"env_id": spec.env_id, "total_timesteps": steps, "seed": SEED, "num_evals": 3, "n_eval_episodes": 3}
    config = parse_config({**preset(spec.env_id, steps), **own, "iteration_id": run.iteration_id})
    if run.read_config() != config:
        files.discard(run.path)
        weight, feature = AIMS[aim]
        up = 'info["up"]' if "up" in spec.feature_names else "0.0"
        save_inputs(run, REWARD.format(weight=weight, feature=feature, up=up), spec, config)
    return run
