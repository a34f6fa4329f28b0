import json

import pytest

from p2p.cli import main
from p2p.lab.suites.honesty import simulate
from p2p.lab.suites.worlds import CHOSEN_ON, LIFTS, OTHERS


@pytest.mark.slow
@pytest.mark.parametrize("world", CHOSEN_ON[:2], ids=lambda world: world.name)
def test_equal_runs_rarely_raise_an_alarm_and_intervals_hold_the_truth(world):
    found = simulate(world, 60, 3, 200, seed=1)
    assert found.alarms <= 0.07 or not world.equal
    assert 0.93 <= found.covered <= 0.97
    assert found.estimate_covered >= 0.93


@pytest.mark.nightly
@pytest.mark.parametrize("world", OTHERS[2:7], ids=lambda world: world.name)
def test_so_they_do_by_rules_that_nothing_was_chosen_on(world):
    found = simulate(world, 60, 3, 600, seed=1)
    assert found.alarms <= 0.07
    assert 0.92 <= found.covered <= 0.98  # two standard errors of 600 suites around 94 to 96 %


@pytest.mark.slow
def test_more_cases_see_more():
    few, many = (simulate(LIFTS[2], cases, 3, 60, seed=2) for cases in (15, 60))
    assert few.alarms < 0.6 < 0.85 < many.alarms


def test_the_command_prints_three_tables_that_repeat(capsys):
    words = ["lab", "suites", "--design", "6x2", "--suites", "3", "--json"]
    found = []
    for _ in range(2):
        assert main(words) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert {row["world"] for row in found[0]["others"]} == {world.name for world in OTHERS}
    assert all(row["n_suites"] == 3 for rows in found[0].values() for row in rows)


def test_a_design_that_is_none_is_refused(capsys):
    assert main(["lab", "suites", "--design", "60"]) == 2
    assert "60x3" in capsys.readouterr().err
