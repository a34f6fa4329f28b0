"""Curves of an iteration's trainings, as charts ask for them."""

import json
import math
from pathlib import Path

import pytest

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.session import NewSession
from p2p.contracts.training import TrainConfig
from p2p.service.progress.training_curves import curves
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.iterations import IterationRecord

ROWS = 300


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(Settings(runs_dir=tmp_path))


@pytest.fixture
def session_id(ws: Workspace) -> str:
    name = create_session(ws, NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")).session_id
    for seed in (10, 11):
        run = ws.runs.session(name).iteration(1).run("baseline", seed)
        config = TrainConfig(env_id="InvertedPendulum-v5", total_timesteps=100_000, seed=seed)
        run.save_config(config.model_copy(update={"iteration_id": run.iteration_id}))
        for n in range(1, ROWS + 1):
            train(run, n)
    return name


def train(run: IterationRecord, n: int) -> None:
    run.scalars_path.parent.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, object]] = [{"global_step": 64 * n, "episodic_return": run.seed * math.sin(n / 9), "sps": 1e3}]
    if n % 100 == 0:
        rows.append(
            {
                "type": "eval",
                "global_step": 64 * n,
                "mean_return": 3.0,
                "intent_score": 0.5,
                "success_rate": math.nan,
                "criteria": {"up": 0.25, "odd": None},
                "criteria_met": {"up": 1.0},
                "all_returns": [1.0],
            }
        )
    with run.scalars_path.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def test_every_run_has_its_curves_and_every_evaluation(ws: Workspace, session_id: str) -> None:
    found = curves(ws, session_id, 1)
    assert [(run.run_id, run.config_id, run.seed) for run in found.runs] == [
        ("baseline_seed_10", "baseline", 10),
        ("baseline_seed_11", "baseline", 11),
    ]
    for run in found.runs:
        assert (run.step, run.rows, run.total_timesteps) == (64 * ROWS, ROWS, 100_000)
        assert run.names == ("episodic_return", "sps")
        curve = next(one for one in run.curves if one.name == "episodic_return")
        assert curve.run_id == run.run_id
        assert curve.steps == tuple(64 * n for n in range(1, ROWS + 1))
        assert curve.values == pytest.approx([run.seed * math.sin(n / 9) for n in range(1, ROWS + 1)], rel=1e-5)
        assert [one.step for one in run.evaluations] == [6400, 12800, 19200]
        assert run.evaluations[0].criteria == {"up": 0.25, "odd": None}
        assert run.evaluations[0].criteria_met == {"up": 1.0}
        assert run.evaluations[0].success_rate is None
    assert json.loads(found.model_dump_json())  # no NaN in it, which is no JSON


def test_thinned_curves_keep_both_ends_and_all_evaluations(ws: Workspace, session_id: str) -> None:
    run = curves(ws, session_id, 1, run_id="baseline_seed_11", names=["episodic_return", "unknown"], points=20).runs[0]
    assert [one.name for one in run.curves] == ["episodic_return"]
    assert len(run.curves[0].steps) == 20
    assert (run.curves[0].steps[0], run.curves[0].steps[-1]) == (64, 64 * ROWS)
    assert len(run.evaluations) == 3


def test_a_live_chart_asks_for_what_came_since(ws: Workspace, session_id: str) -> None:
    run = ws.runs.session(session_id).iteration(1).run("baseline", 10)
    before = curves(ws, session_id, 1, run_id=run.iteration_id).runs[0]
    assert curves(ws, session_id, 1, run_id=run.iteration_id, since=before.step).runs[0].curves == ()
    for n in range(ROWS + 1, ROWS + 101):
        train(run, n)
    after = curves(ws, session_id, 1, run_id=run.iteration_id, since=before.step).runs[0]
    assert after.rows == ROWS + 100
    assert {curve.steps for curve in after.curves} == {tuple(64 * n for n in range(ROWS + 1, ROWS + 101))}
    assert [one.step for one in after.evaluations] == [64 * 400]


def test_what_is_not_there_is_named(ws: Workspace, session_id: str) -> None:
    with pytest.raises(UnknownName, match="run"):
        curves(ws, session_id, 1, run_id="baseline_seed_12")
    with pytest.raises(UnknownName, match="iteration"):
        curves(ws, session_id, 2)
    with pytest.raises(UnknownName, match="session"):
        curves(ws, "nobody", 1)
    for points in (1, 5001):
        with pytest.raises(InvalidInput, match="points"):
            curves(ws, session_id, 1, points=points)
