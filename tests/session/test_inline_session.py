"""A whole session in one process: the inline backend."""

import importlib
import os
from pathlib import Path

import pytest
import recorded_session as recorded
from shared_sessions import BALANCE

from p2p.contracts.session import NewSession, SessionStatus
from p2p.service.sessions.driving import start_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

ONE_RUN = NewSession(
    prompt=BALANCE,
    env_id="InvertedPendulum-v5",
    n_report_rollouts=10,
    n_seeds=1,
    config={"total_timesteps": 2_048, "num_evals": 1, "n_eval_episodes": 3},
    max_iterations=1,
)


@pytest.mark.slow
def test_a_session_runs_in_this_process_and_leaves_what_any_other_leaves(tmp_path: Path) -> None:
    importlib.import_module("p2p.session.run_session")  # which the job runs: imported before, as in a notebook
    ws = Workspace(Settings(runs_dir=tmp_path / "runs", backend="inline"))
    session_id = create_session(ws, ONE_RUN).session_id
    view = start_session(ws, session_id)
    assert view.status in (SessionStatus.MAX_ITERATIONS, SessionStatus.PASSED), view.error
    record = ws.record(session_id)
    iteration = record.iteration(1)
    (run,) = iteration.runs()
    assert run.validate() == []
    for job in (record.driver_dir, iteration.check_dir, run.path, iteration.report.path):
        assert f'"pid": {os.getpid()},' in (job / "handle.json").read_text()
    left = {name for name in recorded.tree(record.path) if not name.endswith(".lock")}
    known = Path(__file__).parent / "recorded/session/tree.txt"
    of_iteration = {name for name in known.read_text().splitlines() if name.startswith("iter_1/check/")}
    assert of_iteration <= left
