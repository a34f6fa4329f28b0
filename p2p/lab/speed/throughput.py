"""How many environment steps a second a training makes, against stable-baselines3 and against the physics alone."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidConfig, TrainingFailed
from p2p.contracts.training import TrainConfig
from p2p.lab.contracts.measurement import (
    MeasureRequest,
    SpeedMeasurement,
    Spread,
    Subject,
    ThroughputReport,
    ThroughputRow,
)
from p2p.lab.jobs import lab_job
from p2p.lab.records import MeasurementRecord
from p2p.scheduler.resources import cores
from p2p.service.jobs.worker_jobs import raise_failure, wait
from p2p.service.training.environments import describe_environment, find_environment
from p2p.service.training.plan import parse_config
from p2p.service.workspace import Workspace
from p2p.store.iterations import save_inputs
from p2p.training.presets import preset

REWARD = '''
import numpy as np


def reward_fn(obs, action, next_obs, info):
    """Run forward, evenly and with little effort.

    LaTeX: r = 2 \\tanh(v_x / 2) - 0.05 |a|^2 - 0.5 |z' - z| + 0.2 [v_x > 1]
    Terms:
        speed: forward velocity, saturating
        effort: squared actions
        bounce: change of height
        bonus: paid for running
    """
    velocity = info["x_velocity"]
    speed = 2.0 * np.tanh(velocity / 2.0)
    effort = -0.05 * np.sum(np.square(action))
    bounce = -0.5 * abs(next_obs[0] - obs[0])
    bonus = 0.2 if velocity > 1.0 else 0.0
    return speed + effort + bounce + bonus, {"speed": speed, "effort": effort, "bounce": bounce, "bonus": bonus}
'''
"""Of the kind a person writes: some ten operations of numpy and Python on what the step gives."""

SUBJECTS: tuple[Subject, ...] = ("ours", "baseline", "physics")
BASELINE_ENVS = 8
"""Environments of the baseline; its rollouts have as many rows as ours."""

SETTINGS: dict[str, object] = {"learning_rate_end": 1.0, "target_kl": None, "terminate_when_unhealthy": True}
"""Of every case: episodes as Gymnasium defines them, and no update that ends early, so that ours and the baseline do
the same work."""

STABLE_BASELINES3: dict[str, object] = {
    "n_steps": 128,
    "batch_size": 64,
    "n_epochs": 10,
    "learning_rate": 3e-4,
    "activation": "tanh",
    "log_std_init": 0.0,
}
"""Where the defaults of its PPO differ from p2p's: 2048 transitions of a rollout, learned from ten times."""

COMPARED = (
    *("batch_size", "n_epochs", "learning_rate", "gamma", "gae_lambda", "clip_range", "clip_range_vf", "target_kl"),
    *("ent_coef", "vf_coef", "max_grad_norm", "activation", "log_std_init", "normalize_obs", "normalize_reward"),
)
"""Hyperparameters that ours and the baseline share, besides the networks."""


class ThroughputCase(Contract):
    """One row of the table."""

    name: str
    env_id: str
    net_arch: tuple[int, ...] = (64, 64)
    settings: dict[str, object] = STABLE_BASELINES3
    """Of `TrainConfig`."""


CASES = (
    ThroughputCase(name="halfcheetah", env_id="HalfCheetah-v5"),
    ThroughputCase(name="halfcheetah-256", env_id="HalfCheetah-v5", net_arch=(256, 256)),
    ThroughputCase(name="hopper", env_id="Hopper-v5"),
    ThroughputCase(name="ant", env_id="Ant-v5"),
    ThroughputCase(name="humanoid", env_id="Humanoid-v5"),
    ThroughputCase(name="halfcheetah-p2p", env_id="HalfCheetah-v5", settings=preset("HalfCheetah-v5")),
    ThroughputCase(name="ant-p2p", env_id="Ant-v5", settings=preset("Ant-v5")),
    ThroughputCase(name="humanoid-p2p", env_id="Humanoid-v5", settings=preset("Humanoid-v5")),
)
"""At the defaults of stable-baselines3, and those that are called p2p as p2p trains: with the environment's preset."""


class MeasurementPlan(Contract):
    """How much is measured."""

    repetitions: int = 3
    parallel: int | None = None
    """Copies of a job at the same time, one thread each; None for as many as there are cores."""
    seconds: float = 6.0
    """Of each measurement, at least."""
    changes: dict[str, object] = Field(default_factory=dict)
    """Fields of the training configuration, for ours and the baseline."""


Jobs = tuple[SpeedMeasurement, ...]
"""What was measured at the same time."""


class ThroughputBenchmark:
    """Measures case after case, and then all of them again, so that a slow spell of the machine hits all alike.

    Args:
        ws: Where jobs run.
        root: Directory of the jobs.
        plan: How much is measured.
        tick: Told about every measurement that ends.
    """

    def __init__(self, ws: Workspace, root: Path, plan: MeasurementPlan, tick: Callable[[str], None]) -> None:
        self._ws = ws
        self._root = root
        self._plan = plan
        self._tick = tick
        self.parallel = plan.parallel or cores()
        """Jobs at the same time."""

    def run(self, cases: Sequence[ThroughputCase]) -> ThroughputReport:
        """Measure all subjects of all cases, as often as planned.

        Raises:
            InvalidConfig: a setting is misspelt, or does not suit the baseline.
            MissingExtra: the baseline is not installed.
            TrainingFailed: a measurement did not reach its end.
        """
        configs = {case.name: (self._config(case), self._baseline(case)) for case in cases}
        found: dict[str, list[dict[Subject, Jobs]]] = {case.name: [] for case in cases}
        for number in range(self._plan.repetitions):
            for case in cases:
                measured = {subject: self.measure(case, subject, number) for subject in SUBJECTS}
                found[case.name].append(measured)
        return ThroughputReport(
            parallel=self.parallel,
            seconds=self._plan.seconds,
            reward=REWARD,
            rows=tuple(row(case, *configs[case.name], found[case.name]) for case in cases),
        )

    def case_of(self, file: str) -> ThroughputCase:
        """The case of a robot from a model file, at the defaults of stable-baselines3.

        Raises:
            InvalidInput: the file is not taken.
        """
        env_id = find_environment(self._ws, file).env_id
        return ThroughputCase(name=env_id, env_id=env_id)

    def measure(self, case: ThroughputCase, subject: Subject, repetition: int) -> Jobs:
        """Measure one subject of a case, on all cores that the plan gives.

        Raises:
            InvalidConfig, MissingExtra, TrainingFailed: as in `run`.
        """
        name = f"{case.name}_{repetition + 1}_{subject}"
        records = [MeasurementRecord(self._root / f"{name}_{copy + 1}") for copy in range(self.parallel)]
        for copy, record in enumerate(records):
            config = self._baseline(case) if subject == "baseline" else self._config(case)
            spec = describe_environment(self._ws, case.env_id)
            save_inputs(record.run, REWARD, spec, config.model_copy(update={"seed": (copy + 1)}))
            beside = tuple(f"../{other.path.name}" for other in records if other is not record)
            record.save_request(MeasureRequest(subject=subject, seconds=self._plan.seconds, beside=beside))
        for record in records:
            self._ws.backend.submit(lab_job("measure"), record.path)
        wait([record.path for record in records], self._ws.backend)
        measured = tuple(self._result(record) for record in records)
        self._tick(f"{case.name}, repetition {repetition + 1}, {subject}: {speed(measured):,.0f} steps/s")
        return measured

    def _config(self, case: ThroughputCase) -> TrainConfig:
        steps = describe_environment(self._ws, case.env_id).max_episode_steps
        own = {"env_id": case.env_id, "net_arch": case.net_arch, "max_episode_steps": steps}
        return parse_config({**case.settings, **SETTINGS, **own, **self._plan.changes})

    def _baseline(self, case: ThroughputCase) -> TrainConfig:
        ours = self._config(case)
        steps, rest = divmod(ours.n_envs * ours.n_steps, BASELINE_ENVS)
        if rest:
            raise InvalidConfig(
                f"n_envs x n_steps must be divisible by the {BASELINE_ENVS} environments of the baseline, "
                f"got {ours.n_envs} x {ours.n_steps}."
            )
        return ours.model_copy(update={"n_envs": BASELINE_ENVS, "n_steps": steps})

    def _result(self, record: MeasurementRecord) -> SpeedMeasurement:
        status = self._ws.backend.status(record.path)
        raise_failure(status, f"the measurement in {record.path}")
        measurement = record.read_result()
        if measurement is None:
            raise TrainingFailed(f"{record.path} was not measured, though its job ended well.")
        together = status.peak_memory_mb or measurement.peak_memory_mb
        return measurement.model_copy(update={"peak_memory_mb": together})


def row(
    case: ThroughputCase, config: TrainConfig, baseline: TrainConfig, repetitions: Sequence[Mapping[Subject, Jobs]]
) -> ThroughputRow:
    """The figures of a case."""
    speeds = {subject: tuple(speed(repetition[subject]) for repetition in repetitions) for subject in SUBJECTS}
    jobs = {subject: [job for repetition in repetitions for job in repetition[subject]] for subject in SUBJECTS}
    ratios = tuple(ours / theirs for ours, theirs in zip(speeds["ours"], speeds["baseline"], strict=True))
    rates = [job.arithmetic for job in jobs["ours"] if job.arithmetic is not None]
    shares = tuple(ours / most for ours, most in zip(speeds["ours"], speeds["physics"], strict=True))
    return ThroughputRow(
        case=case.name,
        config=config,
        baseline_n_envs=baseline.n_envs,
        baseline_n_steps=baseline.n_steps,
        ours=Spread.of(speeds["ours"]),
        baseline=Spread.of(speeds["baseline"]),
        ratio=Spread.of(ratios),
        physics=Spread.of(speeds["physics"]),
        physics_share=Spread.of(shares),
        update_gflops=Spread.of(tuple(rate.update_gflops for rate in rates)) if rates else None,
        sgemm_share=Spread.of(tuple(rate.share for rate in rates)) if rates else None,
        ready_s=max(job.ready_s for job in jobs["ours"]),
        peak_memory_mb=max(job.peak_memory_mb for job in jobs["ours"]),
        baseline_ready_s=max(job.ready_s for job in jobs["baseline"]),
        baseline_peak_memory_mb=max(job.peak_memory_mb for job in jobs["baseline"]),
        method=jobs["ours"][-1].method,
        repetitions=tuple(dict(repetition) for repetition in repetitions),
    )


def speed(jobs: Jobs) -> float:
    """Steps per second of all together."""
    return sum(job.steps_per_second for job in jobs)
