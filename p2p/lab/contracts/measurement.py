"""How fast something runs: what a worker is asked to measure, what it found, and the table made of it."""

from statistics import median
from typing import Literal

from pydantic import Field

from p2p.contracts.base import Contract
from p2p.contracts.reward_rules import Method
from p2p.contracts.training import TrainConfig

Subject = Literal["ours", "confinement", "baseline", "physics"]
"""What is measured: a training of p2p; one whose reward runs in its own process and in the trainer's, in turns;
stable-baselines3's PPO in Gymnasium's environments, the reward in a wrapper that is called at every step; MuJoCo alone.
"""


class MeasureRequest(Contract):
    """Measure the speed of a subject (`request.json`); the job's directory holds the run it is measured on."""

    subject: Subject
    seconds: float = Field(gt=0)
    """The measurement ends with the first rollout that is over after so many."""
    beside: tuple[str, ...] = ()
    """Directories of the jobs measured at the same time: none begins before all are warm."""


class ArithmeticRate(Contract):
    """How fast the updates of a training compute, and what one core can do, on one thread [GFLOP/s]."""

    update_gflops: float
    """Of whole updates: the operations of their matrix products, over all of their time."""
    sgemm_gflops: float
    """Of a bare matrix product of the size that a minibatch has, timed in turns with the updates."""

    @property
    def share(self) -> float:
        """The one over the other."""
        return self.update_gflops / self.sgemm_gflops


class SpeedMeasurement(Contract):
    """What was found (`result.json`)."""

    steps: int
    """Environment steps in the measured time."""
    seconds: float
    """The measured time: rollouts, rewards and updates; without imports and warm-up."""
    ready_s: float
    """From the start of the process to the first environment step."""
    peak_memory_mb: int
    """Largest resident memory, imports and warm-up included [MiB]: of the measured process where it writes this itself;
    in a report of all processes of its job together, the reward's among them (`JobStatus.peak_memory_mb`)."""
    method: Method | None = None
    """How the reward was evaluated; None where there was none."""
    hosted_rollout_s: float | None = None
    """Median of a rollout and its update with the reward in its own process [s]; None unless the cost of that is
    measured."""
    in_process_rollout_s: float | None = None
    """The same with the reward in the trainer's own process [s]."""

    arithmetic: ArithmeticRate | None = None
    """Measured after the training, on a core of its own; None for other subjects."""

    @property
    def steps_per_second(self) -> float:
        """Environment steps per second."""
        return self.steps / self.seconds


class Spread(Contract):
    """A figure over the repetitions."""

    median: float
    low: float
    """The smallest."""
    high: float
    """The largest."""

    @classmethod
    def of(cls, values: tuple[float, ...]) -> "Spread":
        """The spread of one value per repetition."""
        return cls(median=median(values), low=min(values), high=max(values))


class ThroughputRow(Contract):
    """One case of the throughput benchmark. Steps per second are those of all jobs at the same time together."""

    case: str
    config: TrainConfig
    """Of our trainings."""
    baseline_n_envs: int
    baseline_n_steps: int
    ours: Spread
    """[steps/s]."""
    baseline: Spread
    """[steps/s]."""
    ratio: Spread
    """Ours over the baseline of the same repetition."""
    physics: Spread
    """[steps/s]."""
    physics_share: Spread
    """Ours over the physics of the same repetition, in [0, 1]."""
    update_gflops: Spread | None = None
    """Of our updates, each core by itself [GFLOP/s]; None where none was measured."""
    sgemm_share: Spread | None = None
    """That over a bare matrix product's of the same job, in [0, 1]."""
    ready_s: float
    """Largest of our trainings: from the start of a process to its first environment step."""
    peak_memory_mb: int
    """Largest of our trainings, the trainer and the process of its reward together [MiB]."""
    baseline_ready_s: float
    baseline_peak_memory_mb: int
    method: Method | None
    """How our trainings evaluated the reward."""
    repetitions: tuple[dict[Subject, tuple[SpeedMeasurement, ...]], ...]
    """All that was measured: one value per job."""


class ThroughputReport(Contract):
    """The throughput benchmark."""

    parallel: int
    """Jobs at the same time, one thread each."""
    seconds: float
    """Of each measurement, at least."""
    reward: str
    """Source of the reward that both learn."""
    rows: tuple[ThroughputRow, ...]


class ConfinementRow(Contract):
    """What it costs in one case that the reward runs in a process of its own."""

    case: str
    method: Method | None
    """How the reward was evaluated."""
    hosted_ms: Spread
    """Median of a rollout and its update with the reward in its own process, over jobs and repetitions [ms]."""
    in_process_ms: Spread
    """The same with the reward in the trainer's own process [ms]."""
    cost: Spread
    """Share of the trainer's speed that is lost, within each job; negative where nothing was."""


class ConfinementReport(Contract):
    """The benchmark of the reward's own process."""

    parallel: int
    """Jobs at the same time, one thread each."""
    seconds: float
    """Of each measurement, at least."""
    repetitions: int
    rows: tuple[ConfinementRow, ...]


class StartRow(Contract):
    """What one start costs."""

    what: str
    against: str
    """What it is held against."""
    seconds: Spread
    """Processor time until it ends, or has answered [s]."""
    ratio: Spread
    """Over that of the same repetition of what it is held against."""


class StartReport(Contract):
    """The benchmark of starting."""

    repetitions: int
    rows: tuple[StartRow, ...]


class TimeLeft(Contract):
    """First estimate of the time left of a run or a session, and the truth."""

    env_id: str
    what: str
    """Id of the run; `session` for all of them with their verdict."""
    told_after_s: float
    """From the start of the session to the estimate [s]."""
    told_s: float
    true_s: float
    """From the estimate to the end [s]."""
    load_then: float
    """Load average of the machine at the estimate."""
    load_after: float
    """Mean of the load average from then to the end."""

    @property
    def ratio(self) -> float:
        """Estimate divided by the truth."""
        return self.told_s / self.true_s
