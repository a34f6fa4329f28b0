"""Sessions named, starred, thrown away and brought back."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from turns import hold_turn

from p2p.cli import main
from p2p.contracts.background import StartTraining
from p2p.contracts.errors import Busy, InvalidInput, P2PError, UnknownName
from p2p.contracts.job import JobSpec
from p2p.contracts.remedies import Remedy
from p2p.contracts.reward import RewardDraft, RewardReport
from p2p.contracts.session import MetadataChange, NewSession, SessionStatus
from p2p.service.judging.closing import close
from p2p.service.progress.job_views import get_job, list_jobs
from p2p.service.progress.listing import find_session, list_sessions
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.background import cancel_job, start_training
from p2p.service.sessions.driving import start_session
from p2p.service.sessions.keeping import (
    delete_session,
    edit_session,
    empty_trash,
    find_deleted,
    list_trash,
    purge_session,
    restore_session,
    session_called,
)
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace

POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=1)


@pytest.fixture
def session_id(ws: Workspace) -> str:
    return create_session(ws, POLE).session_id


def ids(ws: Workspace) -> list[str]:
    return [view.session.session_id for view in list_sessions(ws)]


def test_a_deleted_session_is_in_no_list_and_comes_back_whole(ws: Workspace, session_id: str) -> None:
    other = create_session(ws, POLE).session_id
    delete_session(ws, session_id)
    assert ids(ws) == [other]
    assert find_session(ws, "latest") == other
    for step in (
        partial(view_session, ws),
        partial(start_session, ws),
        partial(start_training, ws),
        partial(delete_session, ws),
    ):
        with pytest.raises(InvalidInput, match=f"is in the trash.*{Remedy.RESTORE.of(session=session_id)}"):
            step(session_id)
    with pytest.raises(UnknownName):
        find_session(ws, session_id)
    assert find_deleted(ws, session_id[-8:]) == session_id
    assert restore_session(ws, session_id).session.prompt == POLE.prompt
    assert ids(ws) == [other, session_id]
    assert list_trash(ws) == ()


def test_the_trash_shows_the_last_deleted_first(ws: Workspace, session_id: str) -> None:
    others = [create_session(ws, POLE).session_id for _ in range(2)]
    for name in (others[1], session_id, others[0]):
        delete_session(ws, name)
    order = [view.session.session_id for view in list_trash(ws)]
    stamps = [view.metadata.deleted_at for view in list_trash(ws)]
    assert sorted(order) == sorted((others[1], session_id, others[0]))
    assert stamps == sorted(stamps, key=str, reverse=True)


def test_only_what_is_in_the_trash_is_removed_and_with_all_its_jobs(ws: Workspace, session_id: str) -> None:
    slot = hold_turn(ws)
    iteration = ws.record(session_id).iteration(1)
    iteration.save_draft(RewardDraft(source="pass"))
    iteration.save_reward_report(RewardReport(spec=None))
    job = start_training(ws, session_id, StartTraining(idempotency_key="once"))
    for refused in (partial(delete_session, ws), partial(purge_session, ws)):
        with pytest.raises(InvalidInput):
            refused(session_id)
    with pytest.raises(InvalidInput, match=f"{job.job_id} is waiting. .*: {Remedy.STOP.of(session=session_id)}"):
        delete_session(ws, session_id)
    cancel_job(ws, job.job_id)
    os.close(slot)
    with pytest.raises(InvalidInput, match=f"is not in the trash.*{Remedy.DELETE.of(session=session_id)}"):
        purge_session(ws, session_id)
    delete_session(ws, session_id)
    assert list_jobs(ws) == ()
    assert empty_trash(ws) == (session_id,)
    assert not (ws.runs.path / session_id).exists()
    with pytest.raises(UnknownName):
        get_job(ws, job.job_id)
    with pytest.raises(UnknownName):
        restore_session(ws, session_id)
    assert empty_trash(ws) == ()


def test_what_runs_is_not_deleted(ws: Workspace, session_id: str) -> None:
    driver = ws.record(session_id).driver_dir
    ws.backend.submit(JobSpec(argv=("sleep", "60")), driver)
    with pytest.raises(Busy, match="cannot be deleted: it is running"):
        delete_session(ws, session_id)
    ws.backend.cancel(driver)
    run = ws.record(session_id).iteration(1).run("baseline", 10)
    ws.backend.submit(JobSpec(argv=("sleep", "60")), run.path)  # its driver is gone, and it goes on
    with pytest.raises(Busy, match="baseline_seed_10 still trains"):
        delete_session(ws, session_id)
    ws.backend.cancel(run.path)
    delete_session(ws, session_id)


def test_an_alias_means_its_session_and_no_other(ws: Workspace, session_id: str) -> None:
    other = create_session(ws, POLE).session_id
    assert edit_session(ws, session_id, MetadataChange(alias="runner")).metadata.alias == "runner"
    assert find_session(ws, "runner") == session_id
    assert session_called(ws, "runner") == session_id
    assert session_called(ws, other) == other
    assert session_called(ws, "nobody") == "nobody"
    for taken in ("runner", session_id):
        with pytest.raises(InvalidInput, match=f"Another session is called {taken}: {session_id}"):
            edit_session(ws, other, MetadataChange(alias=taken))
    for wrong in ("../up", "Two Words", "latest", "a" * 65):
        with pytest.raises(InvalidInput, match="is not an alias"):
            edit_session(ws, other, MetadataChange(alias=wrong))
    edit_session(ws, session_id, MetadataChange(alias=""))
    edit_session(ws, other, MetadataChange(alias="runner"))
    assert find_session(ws, "runner") == other


def test_of_many_that_want_one_alias_one_gets_it(ws: Workspace) -> None:
    names = [create_session(ws, POLE).session_id for _ in range(4)]
    start = threading.Barrier(4)

    def call(name: str) -> bool:
        start.wait()
        try:
            edit_session(ws, name, MetadataChange(alias="best"))
        except P2PError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(call, names)) == 1


def test_stars_and_tags_are_kept_through_one_another_and_filter_the_list(ws: Workspace, session_id: str) -> None:
    other = create_session(ws, POLE).session_id
    changes = [MetadataChange(starred=True), *(MetadataChange(add_tags=(f"tag {n}",)) for n in range(4))]
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda change: edit_session(ws, session_id, change), changes))
    kept = view_session(ws, session_id).metadata
    assert kept.starred
    assert sorted(kept.tags) == [f"tag {n}" for n in range(4)]
    edit_session(ws, session_id, MetadataChange(remove_tags=("tag 0",)))
    assert [v.session.session_id for v in list_sessions(ws, starred=True)] == [session_id]
    assert [v.session.session_id for v in list_sessions(ws, tags=("tag 1", "tag 2"))] == [session_id]
    assert list_sessions(ws, tags=("tag 0",)) == ()
    assert find_session(ws, "latest") == other
    with pytest.raises(InvalidInput, match="A tag has 1 … 40 characters"):
        edit_session(ws, session_id, MetadataChange(add_tags=("",)))
    with pytest.raises(InvalidInput, match="at most 20 tags"):
        edit_session(ws, session_id, MetadataChange(add_tags=tuple(map(str, range(30)))))


def test_the_commands_do_the_same(ws: Workspace, session_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    runs = ["--runs-dir", str(ws.runs.path)]

    def said(*words: str) -> str:
        code = main([*words, *runs])
        out = capsys.readouterr()
        assert code == 0, out
        return out.out

    assert said("tag", "latest", "--alias", "runner", "--star", "--tag", "paper") == f"{session_id}: ★ runner #paper\n"
    assert "★ runner #paper" in " ".join(said("list", "--starred", "--tag", "paper").split())
    assert "No session has these marks" in said("list", "--tag", "other")
    assert f"p2p trash --restore {session_id}" in said("delete", "runner")
    assert session_id in said("trash")
    assert "is restored" in said("trash", "--restore", "runner")
    said("delete", "runner")
    assert said("trash", "--delete", "runner") == f"Removed {session_id}.\n"
    assert said("trash") == "The trash is empty.\n"
    assert main(["trash", "--empty", "--restore", "x", *runs]) == 2


def test_of_many_ends_one_wins_and_none_comes_after_it(ws: Workspace, session_id: str) -> None:
    record = ws.record(session_id)
    record.set_status(SessionStatus.RUNNING)
    outcomes = [SessionStatus.ERROR, SessionStatus.PASSED, SessionStatus.CANCELLED, SessionStatus.MAX_ITERATIONS]
    start = threading.Barrier(4)

    def end(outcome: SessionStatus) -> bool:
        start.wait()
        return Workspace(ws.settings).record(session_id).end(outcome, str(outcome))

    with ThreadPoolExecutor(4) as pool:
        won = list(pool.map(end, outcomes))
    assert sum(won) == 1
    first = record.read_status()
    assert first is not None
    assert first.status is outcomes[won.index(True)]
    close(ws, session_id, SessionStatus.ERROR, "too late")
    record.touch_heartbeat()
    assert record.read_status() == first
    assert not [event for event in record.events.read() if event.data.get("error") == "too late"]


def test_a_heartbeat_never_brings_back_what_has_ended(
    ws: Workspace, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("p2p.store.sessions.HEARTBEAT_S", 0.0)
    record, stop = ws.record(session_id), threading.Event()

    def beat() -> None:
        while not stop.is_set():
            record.touch_heartbeat()

    with ThreadPoolExecutor(2) as pool:
        beats = [pool.submit(beat) for _ in range(2)]
        for _ in range(20):
            record.set_status(SessionStatus.RUNNING)
            assert record.end(SessionStatus.PASSED, "kept")
        stop.set()
    assert [beat.exception() for beat in beats] == [None, None]
    ended = record.read_status()
    assert ended is not None
    assert (ended.status, ended.error) == (SessionStatus.PASSED, "kept")
