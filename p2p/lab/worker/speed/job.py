"""The verb `measure`: the speed of one subject, measured in a process of its own."""

from collections.abc import Callable
from pathlib import Path

from p2p import registry
from p2p.contracts.errors import InvalidInput
from p2p.lab.contracts.measurement import SpeedMeasurement
from p2p.lab.records import MeasurementRecord
from p2p.lab.worker.speed.stopwatch import Stopwatch, stopwatch
from p2p.worker.reward.hosted import HostedReward
from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.training.run import Run

SUBJECTS = {
    "ours": "p2p.lab.worker.speed.ours:train",
    "confinement": "p2p.lab.worker.speed.confinement:train",
    "baseline": "p2p.lab.worker.speed.baseline:train",
    "physics": "p2p.lab.worker.speed.physics:step",
}
"""Subject -> what goes on until the stopwatch says it is enough, imported on use: only the baseline needs torch."""
HOSTED = ("ours", "confinement", "physics")
"""Subjects that train as p2p does, with the reward in a process of its own; the baseline is not charged with one."""


def measure(job_dir: Path) -> None:
    """Measure what the request asks for, into `result.json`.

    Raises:
        InvalidInput: the directory lacks a readable request, configuration or environment.
        InvalidReward, InvalidConfig, RewardFailed: as in a training.
        MissingExtra: the baseline needs stable-baselines3.
        EnvironmentProblem: a measurement beside this one did not begin.
    """
    record = MeasurementRecord(job_dir)
    request = record.read_request()
    if request is None:
        raise InvalidInput(f"{job_dir} holds no readable request: expected what to measure.")
    subject: Callable[[Run, Stopwatch], SpeedMeasurement] = registry.load("subject", SUBJECTS, request.subject)
    load = HostedReward.from_file if request.subject in HOSTED else LoadedReward.from_file
    record.save_result(subject(Run.open(record.run, load), stopwatch(record, request)))
