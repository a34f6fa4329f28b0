"""`p2p judge attack`: what fools the criteria of a sentence, told, filmed and written into a file."""

import json
from pathlib import Path

import pytest

from p2p.cli import main

pytestmark = pytest.mark.usefixtures("runs_dir")
Capture = pytest.CaptureFixture[str]


def test_a_sentence_and_its_robot_or_all_of_them_are_needed(capsys: Capture) -> None:
    assert main(["judge", "attack"]) == 2
    assert "--all" in capsys.readouterr().err
    assert main(["judge", "attack", "walk forward", "--all"]) == 2
    assert main(["judge", "attack", "--all", "--held-back"]) == 2
    assert main(["judge", "attack", "walk forward", "--env", "Reacher-v5"]) == 2
    assert main(["judge", "attack", "walk forward slowly", "--env", "HalfCheetah-v5"]) == 2
    assert "run forward as fast as you can" in capsys.readouterr().err


def test_one_sentence_is_attacked_and_the_table_written(tmp_path: Path, capsys: Capture) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- attacks -->\nold\n<!-- /attacks -->\nafter\n")
    options = ["--env", "Swimmer-v5", "--tries", "20", "--no-film", "--table", str(page), "--json"]
    code = main(["judge", "attack", "swim forward", *options])
    (found,) = json.loads(capsys.readouterr().out)["attacks"]
    assert found["tries"] == 20
    assert code == (3 if found["wrong_passes"] else 0)
    text = page.read_text()
    assert f"| Swimmer-v5 | swim forward | {found['passes']} of 20 | {found['wrong_passes']} |" in text
    assert "old" not in text
