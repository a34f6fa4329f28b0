"""A run of two sentences as real sessions, stopped and gone on with; and why a session did not pass."""

import pytest
from shared_sessions import BALANCE

from p2p.contracts.session import NewSession
from p2p.contracts.suite import Budget, Case, NewSuiteRun, Outcome, RunState, Suite
from p2p.contracts.training import RunSummary
from p2p.lab.behaviours.night import run_watched
from p2p.lab.behaviours.results import learning, report
from p2p.lab.behaviours.tables import markdown
from p2p.lab.contracts.behaviours import Learning
from p2p.service.workspace import Workspace
from p2p.settings import Settings

POLES = Suite(
    name="poles",
    seeds=(1,),
    budget=Budget(max_iterations=1, total_timesteps=2_048),
    cases=(
        Case(name="balance", env_id="InvertedPendulum-v5", prompt=BALANCE, category="balance"),
        Case(name="longer", env_id="InvertedPendulum-v5", prompt="balance the pole for 4 seconds", category="balance"),
    ),
)
ASKED = NewSuiteRun(
    name="poles",
    system=NewSession(n_seeds=1, n_report_rollouts=10, max_iterations=1, config={"num_evals": 1, "n_eval_episodes": 3}),
)


@pytest.mark.nightly
def test_a_run_that_is_stopped_goes_on_and_tells_why_not(tmp_path):
    ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
    said: list[str] = []
    stopped = run_watched(ws, POLES, ASKED, lambda one: said.append(one.session_id), hours=1e-6)
    assert stopped.state is not RunState.RUNNING
    begun = report(ws, "poles")
    assert begun.total.share.of < 2
    done = run_watched(ws, POLES, ASKED, lambda one: said.append(one.session_id))
    assert done.state is RunState.ENDED
    assert len(said) == len(set(said)) == 2, "each is told once"
    found = report(ws, "poles")
    assert (found.total.sentences, found.total.share.of) == (2, 2)
    for one in found.results:
        (session,) = one.sessions
        assert session.outcome in (Outcome.PASSED, Outcome.NOT_PASSED), session.detail
        if not session.passed:
            assert session.missed is not None
            assert session.missed.met_share < 0.8
            assert session.cause is not None
    assert found.results[0].sentence in markdown(found)
    assert report(ws, "poles", skills=("jump",)).results == ()


@pytest.mark.parametrize(
    ("dynamics", "expected"),
    [
        ({"plateau": 1.0}, Learning.PLATEAU),
        ({"plateau": 0.0, "return_slope": 2.0}, Learning.RISING),
        ({"plateau": 0.0, "return_slope": -2.0}, Learning.FALLING),
        ({}, Learning.UNKNOWN),
    ],
)
def test_how_the_return_moved_is_read_from_the_trainings_numbers(dynamics, expected):
    summary = RunSummary(
        total_timesteps=1,
        training_time_s=1.0,
        final_episodic_return=None,
        total_episodes=1,
        steps_per_second=1.0,
        best_checkpoint=None,
        best_selection_score=None,
        best_selection_success=None,
        best_selection_return=0.0,
        dynamics=dynamics,
    )
    assert learning(summary) is expected
