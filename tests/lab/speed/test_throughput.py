from pathlib import Path

import pytest

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.lab.contracts.measurement import SpeedMeasurement, ThroughputReport
from p2p.lab.records import MeasurementRecord
from p2p.lab.speed.throughput import CASES, REWARD, MeasurementPlan, ThroughputBenchmark, row
from p2p.lab.speed.throughput_table import COLUMNS, table
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.worker.reward_source.loader import LoadedReward


def jobs(*speeds, **fields):
    cost = {"ready_s": 0.5, "peak_memory_mb": 90, "method": "vectorised"} | fields
    return tuple(SpeedMeasurement(steps=speed * 2, seconds=2.0, **cost) for speed in speeds)


def repetition(ours, baseline, physics):
    return {
        "ours": jobs(*ours),
        "baseline": jobs(*baseline, ready_s=3.0, peak_memory_mb=360, method="loop"),
        "physics": jobs(*physics, method=None),
    }


REPETITIONS = [
    repetition((300, 300), (50, 50), (500, 500)),
    repetition((100, 100), (20, 20), (200, 200)),
    repetition((450, 450), (50, 50), (600, 600)),
]


def report() -> ThroughputReport:
    made = row(CASES[0], TrainConfig(), TrainConfig(n_envs=8, n_steps=128), REPETITIONS)
    return ThroughputReport(parallel=2, seconds=6.0, reward=REWARD, rows=(made,))


def test_ratios_and_shares_are_taken_within_a_repetition_and_over_all_that_ran_together():
    made = report().rows[0]
    assert (made.ours.median, made.ours.low, made.ours.high) == (600, 200, 900)
    assert (made.ratio.median, made.ratio.low, made.ratio.high) == (6, 5, 9)
    assert (made.physics_share.low, made.physics_share.median, made.physics_share.high) == (0.5, 0.6, 0.75)
    assert (made.peak_memory_mb, made.baseline_peak_memory_mb) == (90, 360)
    assert (made.ready_s, made.baseline_ready_s, made.method) == (0.5, 3.0, "vectorised")


def test_the_table_has_a_row_per_case_and_says_what_was_compared():
    lines = table(report()).splitlines()
    assert lines[2].count("|") == len(COLUMNS) + 1
    for shown in ("halfcheetah", "600 [200, 900]", "100 [40, 100]", "6.0 [5.0, 9.0]", "60% [50%, 75%]", "vectorised"):
        assert shown in lines[2]
    assert "halfcheetah: environments x steps of a rollout 16 x 64, baseline 8 x 128" in lines[-1]
    assert "batch_size 128, n_epochs 5, learning_rate 0.0007" in lines[-1]


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_the_memory_of_our_training_is_that_of_its_processes_together_where_a_reward_is_asked(tmp_path):
    plan = MeasurementPlan(parallel=1, seconds=0.5, changes={"n_envs": 8, "n_steps": 32, "batch_size": 32})
    bench = ThroughputBenchmark(Workspace(Settings(runs_dir=tmp_path / "runs")), tmp_path / "jobs", plan, print)
    for subject, hosted in (("ours", True), ("baseline", False)):
        (together,) = bench.measure(CASES[2], subject, 0)
        alone = MeasurementRecord(tmp_path / "jobs" / f"hopper_1_{subject}_1").read_result().peak_memory_mb
        assert (together.peak_memory_mb - alone > 15) == hosted


def test_the_reward_loads_and_reads_what_every_case_has():
    assert list(LoadedReward(REWARD).description.terms) == ["speed", "effort", "bounce", "bonus"]
    for case in CASES:
        assert "x_velocity" in {item.name for item in catalog.load(case.env_id).info}


@pytest.mark.parametrize(
    ("changes", "said"), [({"n_envs": 5, "n_steps": 33}, "divisible by the 8"), ({"batchsize": 3}, "batch_size")]
)
def test_settings_that_cannot_be_compared_are_refused_before_anything_is_measured(tmp_path, changes, said):
    bench = ThroughputBenchmark(
        Workspace(Settings(runs_dir=tmp_path / "runs")), tmp_path, MeasurementPlan(changes=changes), print
    )
    with pytest.raises(InvalidConfig, match=said):
        bench.run(CASES)
    assert not list(tmp_path.iterdir())
