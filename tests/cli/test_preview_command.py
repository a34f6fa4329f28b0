import json
from pathlib import Path

import pytest

from p2p.cli import main

pytestmark = pytest.mark.usefixtures("runs_dir")
Capture = pytest.CaptureFixture[str]


def test_criteria_says_what_a_sentence_is_judged_by_and_keeps_nothing(runs_dir: Path, capsys: Capture) -> None:
    assert main(["criteria", "walk faster than 1 m/s without jumping", "--env", "Ant-v5"]) == 0
    shown = capsys.readouterr().out
    assert "Moves forward at 1 m/s or more" in shown
    assert "Does not leave the floor" in shown
    assert "No direction is given to move: forward." in shown
    assert "motor effort" in shown.split("Not judged:")[1]
    assert not runs_dir.exists()


def test_a_dry_run_shows_all_that_would_be_trained_and_trains_nothing(runs_dir: Path, capsys: Capture) -> None:
    assert main(["run", "run forward slowly", "--dry-run", "--seeds", "3", "--timesteps", "40000"]) == 0
    shown = capsys.readouterr().out
    assert "Moves forward at 0.3 to 0.7 m/s" in shown
    assert "3 x 40,000 steps" in shown
    assert "class RunForward(RewardFunction):" in shown
    assert "learning_rate=" in shown
    assert "no model is asked" in shown
    assert "Nothing was trained" in shown
    assert not runs_dir.exists()


def test_a_dry_run_is_one_object_as_json(capsys: Capture) -> None:
    assert main(["run", "jump at most 2 times", "--env", "Hopper-v5", "--dry-run", "--json"]) == 0
    preview = json.loads(capsys.readouterr().out)
    assert "no_more_than_asked" in [criterion["key"] for criterion in preview["intent"]["criteria"]]
    assert preview["expected_s"] > 0
    assert preview["config"]["env_id"] == "Hopper-v5"


def test_a_dry_run_asks_no_model(capsys: Capture) -> None:
    assert main(["run", "dance", "--model", "anthropic:claude-opus-5-5", "--dry-run"]) == 0
    assert "it was not asked now" in capsys.readouterr().out


def test_a_word_that_begins_with_another_letter_is_not_offered(capsys: Capture) -> None:
    assert main(["criteria", "walk to the ball"]) == 2
    assert "Did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["criteria", "run foward"], ["run", "run foward", "--dry-run"], ["run", "run foward"]]
)
def test_an_unknown_word_exits_2_with_the_nearest_and_three_ways_on(
    words: list[str], runs_dir: Path, capsys: Capture
) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "Not understood: 'foward'" in said
    assert "Did you mean 'forward'?" in said
    assert "run forward" in said
    assert "--model PROVIDER:MODEL" in said
    assert "p2p train --reward" in said
    assert not runs_dir.exists()
