from p2p.contracts.suite import RunState
from p2p.lab.speed.suite_listing import measure_listing, table
from p2p.service.suites.results import view_suite_run
from p2p.service.workspace import Workspace


def test_a_run_of_made_up_sessions_is_looked_at_and_left_stopped(ws: Workspace) -> None:
    report = measure_listing(ws, n_cases=10, seeds=2)
    assert report.n_sessions == 20
    assert "| a run of 20 sessions | |" in table(report)
    view = view_suite_run(ws, "listing")
    assert (view.state, view.tally.sessions, view.tally.ended) == (RunState.INTERRUPTED, 20, 19)
