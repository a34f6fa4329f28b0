"""The pace of a training: not told before it is known, and free of what the start took."""

import pytest

from p2p.analysis.pace import EVALUATION_FACTOR, measured_pace


def rows(*times):
    return [{"global_step": 1000 * (index + 1), "elapsed_time": time} for index, time in enumerate(times)]


def seconds_per_step(timed):
    pace = measured_pace(timed)
    return pace.step_s if pace is not None else None


def test_nothing_is_told_of_the_first_updates():
    assert seconds_per_step([]) is None
    assert seconds_per_step(rows(5.0)) is None
    assert seconds_per_step(rows(*(0.1 * n for n in range(1, 31)))) is None, "they took less than 3 s"
    assert seconds_per_step(rows(*range(1, 6))) is None, "they are too few"


def test_long_updates_are_enough():
    assert seconds_per_step(rows(12.0)) == pytest.approx(0.012)
    assert seconds_per_step(rows(12.0, 24.0)) == pytest.approx(0.012)


def test_what_the_start_took_is_no_part_of_the_pace():
    late = rows(*(20.0 + n for n in range(1, 13)))
    assert seconds_per_step(late) == pytest.approx(0.001)
    assert late[-1]["elapsed_time"] / late[-1]["global_step"] > 0.002, "as it was told before"


def test_a_machine_that_has_become_slower_is_followed():
    times = [*(0.5 * n for n in range(1, 11)), *(5.0 + 2.0 * n for n in range(1, 21))]
    assert seconds_per_step(rows(*times)) == pytest.approx(0.002)


def test_rows_without_a_time_are_left_out():
    assert seconds_per_step([{"global_step": 1000}, *rows(12.0, 24.0)]) == pytest.approx(0.012)


def delayed(every, by, count):
    """Rows of updates that take 1 s, after each `every` of which an evaluation takes `by` seconds."""
    times = [n + by * (n // every) for n in range(count)]
    return [row | {"rollout_time": 0.6} for row in rows(*(1.0 + time for time in times))]


def test_an_evaluation_to_come_costs_what_those_before_took():
    pace = measured_pace(delayed(4, 3.0, 12), evaluated=[4000, 8000])
    assert pace.step_s == pytest.approx(0.001)
    assert pace.evaluation_s == pytest.approx(3.0)
    assert pace.evaluation_time(500) == pytest.approx(3.0)


def test_before_the_first_evaluation_its_steps_are_counted_at_the_price_of_collecting_them():
    pace = measured_pace(delayed(100, 0.0, 12))
    assert pace.evaluation_s is None
    assert pace.evaluation_time(500) == pytest.approx(EVALUATION_FACTOR * 500 * 0.0006)
    assert measured_pace(rows(12.0, 24.0)).evaluation_time(500) == 0.0, "nothing is known of it"
