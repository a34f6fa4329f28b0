import json
import shutil

import pytest
from suite_runs import FEW_STEPS, LONG, SHORT, pole_runs

from p2p.cli import main
from p2p.service.jobs import worker_jobs

pytestmark = pytest.mark.slow


@pytest.fixture
def runs(tmp_path_factory, tmp_path):
    """A copy of the runs directory with both runs of the suite."""
    shutil.copytree(pole_runs(tmp_path_factory) / "runs", tmp_path / "runs")
    return tmp_path / "runs"


def compare(runs, capsys, *words):
    code = main(["benchmark", "compare", *words, "--runs-dir", str(runs), "--json"])
    return code, json.loads(capsys.readouterr().out)


def steps_of(runs, run):
    """Steps that a session of a run trained, as its checkpoints count them."""
    return sum(
        max(int(step.name) for step in training.glob("checkpoints/*") if step.name.isdigit())
        for training in (runs / f"{run}-balance-seed-1").glob("iter_*/*_seed_*")
    )


def test_two_runs_are_compared_from_one_command_to_the_plot(runs, capsys):
    code, found = compare(runs, capsys, SHORT, LONG)
    assert code == 0
    metrics = {one["metric"]: one for one in found["metrics"]}
    assert metrics["exam"]["differences"][0]["mean"] == 0.5
    assert metrics["itself"]["differences"][0]["mean"] == 1.0
    assert metrics["flattery"]["estimates"][1]["mean"] == 0.5
    assert steps_of(runs, SHORT) == FEW_STEPS["total_timesteps"]
    assert metrics["steps"]["differences"][0]["mean"] == steps_of(runs, LONG) - steps_of(runs, SHORT) > 10_000
    assert {group["name"] for group in found["groups"]} == {"balance", "pose", "easy", "hard"}
    assert "2 cases in common" in found["notes"][0]
    chart = runs / found["chart"]
    assert chart.read_bytes().startswith(b"\x89PNG")
    drawn = chart.stat().st_mtime_ns
    assert compare(runs, capsys, SHORT, LONG)[1] == found
    assert chart.stat().st_mtime_ns == drawn
    assert main(["benchmark", "compare", SHORT, LONG, "--runs-dir", str(runs)]) == 0
    text = capsys.readouterr().out
    assert f"{LONG} less {SHORT}" in text
    assert "●" in text
    assert "forest plot: " in text


def test_judges_are_compared_on_what_was_recorded_and_nothing_is_simulated(runs, capsys, monkeypatch):
    def refuse(*_):
        raise AssertionError("a job was started")

    monkeypatch.setattr(worker_jobs, "worker_job", refuse)
    found = [compare(runs, capsys, LONG, "--judges")[1] for _ in range(2)]
    assert found[0] == found[1]
    judges = {one["judge"]: one for one in found[0]["judges"]}
    assert set(judges) == {"own verdict", "measured", "exam criteria"}
    assert judges["own verdict"]["false_passes"] == 1
    assert judges["own verdict"]["agreement"]["mean"] == 0.5
    assert judges["exam criteria"]["agreement"]["mean"] == 1.0
    assert judges["exam criteria"]["kappa"] == 1.0
    assert judges["exam criteria"]["auroc"] == 1.0


def test_runs_of_another_digest_and_unknown_ones_are_refused(runs, capsys):
    suite = runs / "benchmark" / SHORT / "suite.json"
    told = json.loads(suite.read_text())
    told["n_exam_rollouts"] = 20
    suite.write_text(json.dumps(told))
    code, found = compare(runs, capsys, SHORT, LONG)
    assert code == 2
    assert "do not compare" in found["error"]["message"]
    assert compare(runs, capsys, LONG, "nobody")[0] == 2
    assert compare(runs, capsys, LONG)[0] == 2
    assert compare(runs, capsys, LONG, SHORT, "--judges")[0] == 2
