"""The learning benchmarks, with real trainings."""

import json
from pathlib import Path

import pytest

from p2p.cli import main

pytestmark = pytest.mark.slow
POLE = ("--env", "InvertedPendulum-v5", "--timesteps", "4096")
Capture = pytest.CaptureFixture[str]


def test_learn_writes_its_table_and_trains_nothing_twice(tmp_path: Path, capsys: Capture) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("<!-- learn -->\n<!-- /learn -->\n")
    words = ["bench", "learn", *POLE, "--seed", "10", "--seed", "11", "--runs-dir", str(tmp_path / "runs")]

    assert main([*words, "--readme", str(readme)]) == 0
    first = capsys.readouterr()
    assert "InvertedPendulum-v5 4096 seed 11: done" in first.err + first.out
    assert "| InvertedPendulum-v5 | 4,096 | 10, 11 |" in readme.read_text()
    policies = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("policy.npz")}
    assert len(policies) == 2

    assert main([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [len(run["returns"]) for run in rows["InvertedPendulum-v5 4096"]] == [20, 20]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("policy.npz")} == policies


@pytest.mark.nightly
def test_parity_trains_both_learners_side_by_side(tmp_path: Path, capsys: Capture) -> None:
    assert main(["bench", "parity", *POLE, "--seed", "1", "--runs-dir", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "| InvertedPendulum-v5 | fast |" in shown
    assert "| InvertedPendulum-v5 | sb3 |" in shown


def test_a_candidate_that_is_not_known_is_refused_before_anything_is_trained(tmp_path: Path, capsys: Capture) -> None:
    assert main(["bench", "search", "--candidate", "smoth", "--runs-dir", str(tmp_path)]) == 2
    assert "smooth" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
