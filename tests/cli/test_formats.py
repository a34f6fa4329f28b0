from datetime import UTC, datetime

import pytest

from p2p.cli.formats import age, share, sparkline
from p2p.cli.live import meets
from p2p.contracts.intent import Comparison, needed, number
from p2p.contracts.numbers import duration


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(None, "m", "–"), (0.0, "m/s", "0 m/s"), (3.14159, "1", "3.14"), (-0.02, "", "-0.02"), (12345.6, "N", "12,346 N")],
)
def test_numbers_have_three_figures_and_their_unit(value: float | None, unit: str, shown: str) -> None:
    assert number(value, unit) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(None, "–"), (0.4, "0 s"), (59.6, "1 min 00 s"), (185, "3 min 05 s"), (7800, "2 h 10 min")]
)
def test_durations_are_in_words(seconds: float | None, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("comparison", "upper", "shown", "met"),
    [
        (Comparison.AT_LEAST, None, "≥ 2 m", [False, True, True]),
        (Comparison.AT_MOST, None, "≤ 2 m", [True, True, False]),
        (Comparison.BETWEEN, 3.0, "2 … 3 m", [False, True, True]),
    ],
)
def test_a_threshold_reads_as_it_is_compared(
    comparison: Comparison, upper: float | None, shown: str, met: list[bool]
) -> None:
    assert needed(comparison, 2.0, upper, "m") == shown
    assert [meets(value, comparison, 2.0, upper) for value in (1.0, 2.0, 3.0)] == met


def test_a_sparkline_shows_the_last_values_between_their_own_ends() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█"
    assert sparkline([9, 9, 0, 7], width=2) == "▁█"
    assert sparkline([5, 5]) == "▁▁"
    assert sparkline([float("nan"), 1, float("inf"), 2]) == "▁█"
    assert sparkline([]) == ""


def test_an_age_is_given_in_its_largest_unit() -> None:
    now = datetime(2026, 4, 3, 12, 0, tzinfo=UTC)
    assert age("2026-04-03T11:59:18.000+00:00", now) == "42 s"
    assert age("2026-04-03T09:30:00.000+00:00", now) == "2 h"
    assert age("2026-03-31T09:30:00.000+00:00", now) == "3 d"


def test_a_share_is_per_cent() -> None:
    assert [share(None), share(0.254)] == ["–", "25 %"]
