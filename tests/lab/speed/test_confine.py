import pytest

from p2p.lab.contracts.measurement import ConfinementReport, SpeedMeasurement
from p2p.lab.speed.confinement import row, table


def job(hosted, inside):
    cost = {"ready_s": 0.5, "peak_memory_mb": 90, "method": "vectorised"}
    return SpeedMeasurement(steps=10, seconds=1.0, hosted_rollout_s=hosted, in_process_rollout_s=inside, **cost)


def test_the_cost_is_the_share_of_speed_that_a_job_loses():
    made = row("ant", [(job(0.1, 0.09), job(0.1, 0.1)), (job(0.2, 0.1), job(0.1, 0.11))])
    assert (made.cost.low, made.cost.median, made.cost.high) == pytest.approx((-0.1, 0.05, 0.5))
    assert (made.hosted_ms.median, made.in_process_ms.median) == pytest.approx((100.0, 100.0))
    report = ConfinementReport(parallel=2, seconds=4.0, repetitions=2, rows=(made,))
    line = table(report).splitlines()[2]
    for shown in ("ant", "vectorised", "100.0 ms [100.0, 200.0]", "100.0 ms [90.0, 110.0]", "5.0% [-10.0%, 50.0%]"):
        assert f"| {shown} |" in line
