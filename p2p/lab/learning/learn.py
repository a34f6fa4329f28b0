"""What PPO reaches with the presets by Gymnasium's own reward: environments x seeds, each run a job of its own."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from p2p.analysis.intervals import mean_interval
from p2p.contracts.errors import TrainingFailed
from p2p.contracts.training import RunSummary, TrainConfig
from p2p.lab.jobs import lab_job
from p2p.scheduler.resources import parallel_jobs
from p2p.service.jobs.worker_jobs import last_line
from p2p.service.training.environments import describe_environment
from p2p.service.training.plan import parse_config
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord, save_inputs
from p2p.training.presets import preset
from p2p.training.trainer import Trainer
from p2p.training.tuning import TASK_FIELDS

OWN_REWARD = '''
def reward_fn(obs, action, next_obs, info):
    """Gymnasium's own reward.

    LaTeX: r = r_{env}
    Terms:
        env: the environment's own reward
    """
    return info["env_reward"], {"env": info["env_reward"]}
'''
QUARTERS = 4
PUBLISHED = {
    "HalfCheetah-v5": 5819.0,
    "Hopper-v5": 2609.0,
    "Walker2d-v5": 3589.0,
    "Ant-v5": 3258.0,
    "Swimmer-v5": 282.0,
    "Humanoid-v5": 787.0,
    "Reacher-v5": -4.1,
    "InvertedPendulum-v5": 1000.0,
    "InvertedDoublePendulum-v5": 9231.0,
}
"""Best published PPO returns at 1 M steps (v3 or v4 of the environments; stable-baselines3 zoo, Tianshou, CleanRL)."""


@dataclass(frozen=True, slots=True)
class Learned:
    """One run that has ended."""

    config: TrainConfig
    returns: tuple[float, ...]
    """Of the last policy, one per episode."""
    summary: RunSummary
    curve: tuple[float, ...]
    """Training return after each quarter of the steps; NaN before an episode has ended."""


class LearnBenchmark:
    """Trains by Gymnasium's own reward. A run that is already there is not trained again.

    Args:
        ws: Where jobs run.
        root: Directory of the runs.
    """

    def __init__(self, ws: Workspace, root: Path) -> None:
        self._ws = ws
        self._root = root

    def run(self, configs: Iterable[tuple[str, TrainConfig]], tick: Callable[[str], None]) -> dict[str, list[Learned]]:
        """Train all of them, as many at a time as there are cores.

        Args:
            configs: Name of a row of the table, and the configuration of one of its runs.
            tick: Told about every run that ends.

        Returns:
            Row -> its runs, in the order given.

        Raises:
            TrainingFailed: a run did not reach its end.
        """
        runs = [(name, config, self._prepare(name, config)) for name, config in configs]
        waiting = {run.path: f"{name} seed {config.seed}" for name, config, run in runs}

        def report() -> None:
            for path in [path for path in waiting if IterationRecord(path).read_summary() is not None]:
                tick(waiting.pop(path))

        parallel = self._ws.settings.max_parallel or parallel_jobs()
        Trainer(self._ws.backend, lab_job("learn"), parallel, report).train([run for _, _, run in runs])
        report()
        rows: dict[str, list[Learned]] = {}
        for name, config, run in runs:
            rows.setdefault(name, []).append(_learned(config, run))
        return rows

    def _prepare(self, name: str, config: TrainConfig) -> IterationRecord:
        run = IterationRecord(self._root / name.replace(": ", "_").replace(" ", "_") / f"seed_{config.seed}")
        if run.read_config() is None:
            save_inputs(run, OWN_REWARD, describe_environment(self._ws, config.env_id), config)
        return run


def standard_config(
    ws: Workspace, env_id: str, steps: int, seed: int, changes: Mapping[str, object], bare: bool = False
) -> TrainConfig:
    """A configuration for episodes as Gymnasium defines them, or shorter where the preset says so.

    Args:
        ws: What knows the environment.
        env_id: Which one.
        steps: Length of the training.
        seed: Of the training.
        changes: Fields that differ from the preset.
        bare: Whether to take nothing from the preset but what an episode is.

    Raises:
        InvalidConfig: a change is misspelt or out of range.
    """
    known = preset(env_id, steps)
    spec = describe_environment(ws, env_id)
    base = {name: value for name, value in known.items() if name in TASK_FIELDS} if bare else known
    trained = parse_config({**known, "env_id": env_id}).episode_steps(spec.dt) if "episode_s" in known else math.inf
    episodes = {"max_episode_steps": min(spec.max_episode_steps, trained), "terminate_when_unhealthy": True}
    own = {"env_id": env_id, "total_timesteps": steps, "seed": seed, "num_evals": 1, "n_eval_episodes": 3}
    return parse_config({**base, **episodes, **changes, **own})


def _learned(config: TrainConfig, run: IterationRecord) -> Learned:
    summary = run.read_summary()
    checkpoints = run.checkpoints()
    returns = checkpoints[-1].read_returns() if checkpoints else None
    if summary is None or returns is None:
        status = run.read_status()
        raise TrainingFailed(f"{run.path} did not reach its end: {last_line(status.error if status else None)}")
    rows, _ = run.parse_scalars()
    quarters = (rows[(len(rows) * (i + 1)) // QUARTERS - 1] for i in range(QUARTERS))
    curve = tuple(math.nan if row["episodic_return"] is None else row["episodic_return"] for row in quarters)
    return Learned(config, returns.returns, summary, curve)


def table(rows: Mapping[str, Sequence[Learned]]) -> str:
    """Returns with their 95 % interval over the seeds, in Markdown."""
    head = "| environment | steps | seeds | return [95 %] | published | a run takes | steps/s |\n" + "|---" * 7 + "|"
    lines = [head]
    for name, runs in rows.items():
        means = [fmean(run.returns) for run in runs]
        config = runs[0].config
        interval = mean_interval(means)
        published = PUBLISHED.get(config.env_id) if config.total_timesteps >= 1_000_000 else None
        cells = [
            name.removesuffix(f" {config.total_timesteps}"),
            f"{config.total_timesteps:,}",
            ", ".join(str(run.config.seed) for run in runs),
            number(fmean(means)) + (f" [{number(interval[0])}, {number(interval[1])}]" if interval else ""),
            "–" if published is None else number(published),
            f"{median(run.summary.training_time_s for run in runs):.0f} s",
            f"{median(run.summary.steps_per_second for run in runs):,.0f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def number(value: float) -> str:
    """A return, with as many figures as matter."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}"
