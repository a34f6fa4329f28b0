import json
from pathlib import Path

import pytest
from made_up_suites import begun, end, suite_of
from typer.testing import CliRunner

from p2p.cli.app import app
from p2p.cli.benchmark import parse_seeds
from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import SessionStatus
from p2p.contracts.suite import Selection, Stage
from p2p.service.workspace import Workspace
from p2p.settings import Settings


def told(*words: str) -> str:
    done = CliRunner().invoke(app, ["benchmark", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def run(runs_dir: Path) -> Workspace:
    """A staged run of four cases: two passed, one could not begin, one behind no gate is open."""
    ws = Workspace(Settings(runs_dir=runs_dir))
    suite = suite_of(4, Stage(name="first", where=Selection(difficulty=("easy",)), gate=0.5), Stage(name="rest"))
    _, made = begun(ws, suite)
    end(ws, suite, made, "case-0", SessionStatus.PASSED)
    end(ws, suite, made, "case-1", SessionStatus.ERROR)
    end(ws, suite, made, "case-2", SessionStatus.PASSED)
    return ws


@pytest.mark.usefixtures("run")
def test_a_run_is_shown_with_its_stages_its_rates_and_why_sessions_failed() -> None:
    shown = told("show", "poles")
    assert "passed by themselves 2 of 3 (66 %); passed the exam 0 of 3 (0 %)" in shown
    assert "interrupted" in shown
    stages = {
        line.split()[0]: line.split()[1:] for line in shown.splitlines() if line.strip().startswith(("first", "rest"))
    }
    assert stages["first"][:3] == ["passed", "50", "%"]
    lines = {line.split()[0]: line.split() for line in shown.splitlines() if line.strip().startswith("case-")}
    assert lines["case-1"][1:4] == ["1", "not", "trained"]
    assert lines["case-1"][-1] == "why"
    assert lines["case-3"][1:3] == ["1", "open"]
    assert "It stands still. To go on: p2p benchmark resume poles" in shown
    assert "one session: p2p show poles-case-0-seed-1" in shown


@pytest.mark.usefixtures("run")
def test_a_run_as_json_holds_every_session() -> None:
    shown = json.loads(told("show", "poles", "--json"))
    assert [result["outcome"] for result in shown["results"]] == ["passed", "not_trained", "passed", "open"]
    (listed,) = json.loads(told("list", "--json"))["runs"]
    assert (listed["run"]["name"], listed["tally"]["passed"], listed["state"]) == ("poles", 2, "interrupted")
    assert "results" not in listed


@pytest.mark.usefixtures("run")
def test_runs_are_listed_with_both_rates() -> None:
    (line,) = [line for line in told("list").splitlines() if line.strip().startswith("poles")]
    assert line.split()[:9] == ["poles", "poles", "v1", "interrupted", "builtin", "3/4", "66", "%", "0"]


@pytest.mark.usefixtures("runs_dir")
def test_without_runs_the_way_to_the_first_is_told() -> None:
    assert "p2p benchmark run basic" in told("list")


@pytest.mark.parametrize(("text", "seeds"), [("", ()), ("1,2,3", (1, 2, 3)), ("1-3,2,7", (1, 2, 3, 7))])
def test_seeds_are_numbers_and_ranges(text: str, seeds: tuple[int, ...]) -> None:
    assert parse_seeds(text) == seeds


def test_what_is_no_seed_is_refused() -> None:
    with pytest.raises(InvalidInput, match="such as 1,2,3 or 1-3"):
        parse_seeds("1;2")
