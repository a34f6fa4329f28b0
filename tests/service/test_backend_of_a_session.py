"""A session goes on where it was trained, unless somebody says otherwise."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from turns import hold_turn

from p2p.cli import main
from p2p.contracts.background import StartTraining
from p2p.contracts.errors import EnvironmentProblem, InvalidInput, UnknownName
from p2p.contracts.job import JobSpec
from p2p.contracts.node import Node
from p2p.contracts.reward import RewardDraft, RewardReport
from p2p.contracts.session import NewSession, SessionStatus
from p2p.service.progress.listing import list_sessions
from p2p.service.sessions.background import cancel_job, start_loop, start_training
from p2p.service.sessions.driving import resume_session, stop_session
from p2p.service.sessions.keeping import interrupted_sessions, resume_interrupted
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import layout
from p2p.store.background import BackgroundRecord
from p2p.store.sessions import SessionRecord

POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=1, n_report_rollouts=10)
SLEEP = JobSpec(argv=("sleep", "60"))


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    """As another terminal opens it, where nothing is said about backends."""
    ws = Workspace(Settings(runs_dir=tmp_path / "runs", nodes_dir=tmp_path / "nodes"))
    yield ws
    for view in list_sessions(ws):
        stop_session(ws, view.session.session_id)


@pytest.fixture
def record(ws: Workspace) -> SessionRecord:
    """Of a session that was begun with --backend pool."""
    elsewhere = Workspace(ws.settings.model_copy(update={"backend": "pool"}))
    return ws.record(create_session(elsewhere, POLE).session_id)


def backend_told(job: Path) -> str:
    """Where a job was told to have its trainings run."""
    return json.loads((job / layout.JOB).read_bytes())["env"]["P2P_BACKEND"]


def test_a_session_is_resumed_where_it_was_trained(ws: Workspace, record: SessionRecord) -> None:
    resume_session(ws, record.session_id)
    assert backend_told(record.driver_dir) == "pool"
    assert record.read_session().backend == "pool"


def test_a_session_resumed_elsewhere_stays_there(
    ws: Workspace, record: SessionRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--runs-dir", str(ws.runs.path)]
    assert main(["show", record.session_id, *place]) == 0
    assert "trained on pool" in capsys.readouterr().out
    assert main(["resume", record.session_id, "--backend", "local", "--detach", *place]) == 0
    stop_session(ws, record.session_id)
    resume_session(ws, record.session_id)
    assert backend_told(record.driver_dir) == "local"


def test_resume_all_leaves_each_where_it_was_and_one_that_cannot_go_on_stops_no_other(
    ws: Workspace, record: SessionRecord
) -> None:
    broken = ws.record(create_session(ws, POLE).session_id)
    broken.save_session(broken.read_session().model_copy(update={"backend": "ssh:gone"}))
    for one in (record, broken):
        one.set_status(SessionStatus.RUNNING)
    with pytest.raises(UnknownName, match="gone"):
        resume_interrupted(ws)
    assert backend_told(record.driver_dir) == "pool"
    assert interrupted_sessions(ws) == (broken.session_id,)
    assert [view.session.session_id for view in resume_interrupted(ws, "local")] == [broken.session_id]
    assert backend_told(broken.driver_dir) == "local"


def test_one_that_runs_is_not_moved(ws: Workspace, record: SessionRecord) -> None:
    ws.backend.submit(SLEEP, record.driver_dir)
    with pytest.raises(InvalidInput, match="with its trainings on pool"):
        resume_session(ws, record.session_id, backend="local")
    assert record.read_session().backend == "pool"


def test_a_place_that_cannot_be_used_is_refused_and_not_kept(ws: Workspace, record: SessionRecord) -> None:
    ws.node_store.add(Node(name="attic", host="attic.invalid"))
    for name, error in (("cloud", UnknownName), ("ssh:cellar", UnknownName), ("ssh:attic", EnvironmentProblem)):
        with pytest.raises(error):
            resume_session(ws, record.session_id, backend=name)
    assert record.read_session().backend == "pool"


def test_a_session_of_before_is_trained_where_this_process_says(ws: Workspace, record: SessionRecord) -> None:
    record.save_session(record.read_session().model_copy(update={"backend": ""}))
    resume_session(ws, record.session_id)
    assert backend_told(record.driver_dir) == "local"
    assert record.read_session().backend == "local"


def test_jobs_of_a_caller_are_trained_where_the_session_was_and_a_choice_is_kept(
    ws: Workspace, record: SessionRecord
) -> None:
    slot = hold_turn(ws)  # no job begins to train
    iteration = record.iteration(1)
    iteration.save_draft(RewardDraft(source="pass"))
    iteration.save_reward_report(RewardReport(spec=None))
    for asked, wanted in ((None, "pool"), ("local", "local"), (None, "local")):
        job = start_training(ws, record.session_id, StartTraining(backend=asked))
        assert backend_told(ws.jobs.new(job.job_id).path) == wanted
        cancel_job(ws, job.job_id)
    record.save_session(record.read_session().model_copy(update={"backend": "pool"}))
    loop = start_loop(ws, record.session_id)
    assert BackgroundRecord(record.driver_dir).read_ticket() is not None
    assert backend_told(record.driver_dir) == "pool"
    cancel_job(ws, loop.job_id)
    os.close(slot)
