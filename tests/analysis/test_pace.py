"""The pace of a training: not told before it is known, and free of what the start took."""

import pytest

from p2p.analysis.pace import seconds_per_step


def rows(*times):
    return [{"global_step": 1000 * (index + 1), "elapsed_time": time} for index, time in enumerate(times)]


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
