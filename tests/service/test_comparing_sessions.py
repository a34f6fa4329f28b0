"""Two sessions held side by side, by the service, the command line and the Python API."""

import json
from pathlib import Path

import pytest
from made_up_sessions import FIRST, RECORDED, SECOND, better, copy_of, otherwise

import p2p
from p2p.cli import main
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.session import NewSession
from p2p.service.progress.comparing import compare_sessions
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    found = tmp_path / "runs"
    copy_of(RECORDED, found, FIRST)
    other = copy_of(RECORDED, found, SECOND)
    better(other)
    otherwise(other)
    return found


@pytest.fixture
def ws(runs: Path) -> Workspace:
    return Workspace(Settings(runs_dir=runs))


def test_the_best_iterations_are_compared_with_what_differs(ws: Workspace) -> None:
    found = compare_sessions(ws, FIRST, SECOND)
    assert found.first.best is not None
    assert found.second.best is not None
    assert (found.first.best.iteration, found.second.best.success_rate) == (2, 0.5)
    assert (found.comparable, found.better) == (True, SECOND)
    assert compare_sessions(ws, SECOND, FIRST).better == SECOND
    assert found.criteria[0].values == (0.2032, 0.9)
    assert found.criteria[0].met_shares == (0.0, 0.5)
    assert [(one.name, one.values[1]) for one in found.hyperparameters] == [("learning_rate", 0.001)]
    assert "+# another one" in found.reward_diff


def test_scores_by_other_criteria_make_none_the_better_one(ws: Workspace, runs: Path) -> None:
    path = runs / SECOND / "iter_2/judgment.json"
    judgment = json.loads(path.read_text())
    judgment["criteria"][0]["threshold"] = 0.5
    path.write_text(json.dumps(judgment))
    found = compare_sessions(ws, FIRST, SECOND)
    assert (found.comparable, found.better) == (False, None)
    assert found.criteria[0].values == (0.2032, 0.9), "what was measured is told all the same"


def test_a_session_without_a_verdict_is_held_beside_one_with_it(ws: Workspace) -> None:
    fresh = create_session(ws, NewSession(prompt="hop forward", env_id="Hopper-v5")).session_id
    found = compare_sessions(ws, fresh, SECOND)
    assert found.first.best is None
    assert (found.comparable, found.better) == (False, None)
    assert all(one.values[0] is None for one in found.criteria)
    with pytest.raises(InvalidInput, match="Two different sessions"):
        compare_sessions(ws, FIRST, FIRST)
    with pytest.raises(UnknownName):
        compare_sessions(ws, FIRST, "session_20990101_000000_00000000")


def test_the_command_and_the_python_api_say_the_same(
    ws: Workspace, runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    expected = compare_sessions(ws, FIRST, SECOND)
    where = ["--runs-dir", str(runs)]
    assert main(["diff", FIRST, SECOND, "--json", *where]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(expected.model_dump_json())
    first, second = (p2p.load_session(name, runs_dir=runs) for name in (FIRST, SECOND))
    assert first.compare(second) == expected
    assert main(["diff", FIRST, SECOND, *where]) == 0
    said = capsys.readouterr().out
    assert f"Better: {SECOND}." in said
    assert "50% [20% to 80%]" in said or "50% [20%, 80%]" in said
    assert main(["diff", FIRST, "1", "2", "--json", *where]) == 0
    between = json.loads(capsys.readouterr().out)
    assert between == json.loads(first.compare_iterations(1, 2).model_dump_json())
    assert main(["diff", FIRST, "1", "2", *where]) == 0
    assert "iteration 2" in capsys.readouterr().out
    assert main(["diff", FIRST, SECOND, "2", *where]) == 2
    assert "no number of an iteration" in capsys.readouterr().err
