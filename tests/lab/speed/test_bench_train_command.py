import json

import pytest

from p2p.cli import main

Capture = pytest.CaptureFixture[str]


def test_help_has_examples_and_the_shared_options(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["bench", "--help"]) == 0
    assert "train" in capsys.readouterr().out
    assert main(["bench", "train", "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("p2p bench train") >= 3
    for option in ("--case", "--repetitions", "--seconds", "--parallel", "--json"):
        assert option in shown


def test_an_unknown_case_exits_2_and_names_those_there_are(capsys: Capture) -> None:
    assert main(["bench", "train", "--case", "halfchetah"]) == 2
    assert "Did you mean 'halfcheetah'?" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("parallel", [1, 2])
def test_a_case_is_measured_in_jobs_and_comes_out_as_one_json_object(parallel: int, capsys: Capture) -> None:
    words = ["bench", "train", "--case", "hopper", "--repetitions", "1", "--seconds", "0.3"]
    assert main([*words, "--parallel", str(parallel), "--json"]) == 0
    captured = capsys.readouterr()
    report = json.loads(captured.out)
    assert "hopper, repetition 1, physics" in captured.err
    (row,) = report["rows"]
    measured = row["repetitions"][0]
    assert {subject: len(jobs) for subject, jobs in measured.items()} == dict.fromkeys(
        ("ours", "baseline", "physics"), parallel
    )
    assert row["ratio"]["median"] == pytest.approx(row["ours"]["median"] / row["baseline"]["median"])


@pytest.mark.slow
def test_what_confinement_costs_is_measured_in_one_training(capsys: Capture) -> None:
    words = ["bench", "confine", "--case", "hopper", "--repetitions", "1", "--seconds", "0.3", "--parallel", "1"]
    assert main([*words, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["hosted_ms"]["median"] > 0
    assert row["in_process_ms"]["median"] > 0
    assert row["method"] == "vectorised"
