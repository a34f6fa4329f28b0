from p2p.benchmark.throughput import BASELINE, CASES, HYPERPARAMETERS, REWARD, row
from p2p.benchmark.throughput_table import COLUMNS, table
from p2p.contracts.measurement import Measurement, ThroughputReport
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.worker.reward_loader import LoadedReward


def jobs(*speeds, **fields):
    cost = {"ready_s": 0.5, "peak_memory_mb": 90, "method": "vectorised"} | fields
    return tuple(Measurement(steps=speed * 2, seconds=2.0, **cost) for speed in speeds)


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
    made = row(CASES[0], TrainConfig(), REPETITIONS)
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
    assert "ours 16 x 128, baseline 8 x 256" in lines[-1]
    assert "batch_size 64, n_epochs 10, learning_rate 0.0003" in lines[-1]


def test_the_report_survives_its_own_json():
    assert ThroughputReport.model_validate_json(report().model_dump_json()) == report()


def test_rollouts_of_ours_and_of_the_baseline_have_as_many_rows():
    assert TrainConfig.model_validate(HYPERPARAMETERS)
    ours = TrainConfig.model_validate(HYPERPARAMETERS)
    assert ours.n_envs * ours.n_steps == BASELINE["n_envs"] * BASELINE["n_steps"]


def test_the_reward_loads_and_reads_what_every_case_has():
    assert [term.name for term in LoadedReward(REWARD).spec.terms] == ["speed", "effort", "bounce", "bonus"]
    for case in CASES:
        assert "x_velocity" in {item.name for item in catalog.load(case.env_id).info}
