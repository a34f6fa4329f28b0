"""Sessions named, starred, thrown away and brought back."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from p2p.cli import main
from p2p.contracts.background import StartTraining
from p2p.contracts.errors import InvalidInput, P2PError, UnknownName
from p2p.contracts.job import JobSpec
from p2p.contracts.reward import RewardDraft, RewardReport
from p2p.contracts.session import MetadataChange, NewSession, SessionStatus
from p2p.service import Service
from p2p.settings import Settings

POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=1)


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(Settings(runs_dir=tmp_path))


@pytest.fixture
def session_id(service: Service) -> str:
    return service.create_session(POLE).session_id


def ids(service: Service) -> list[str]:
    return [view.session.session_id for view in service.list_sessions()]


def test_a_deleted_session_is_in_no_list_and_comes_back_whole(service: Service, session_id: str) -> None:
    other = service.create_session(POLE).session_id
    service.delete_session(session_id)
    assert ids(service) == [other]
    assert service.find_session("latest") == other
    for step in (service.view_session, service.start_session, service.start_training, service.delete_session):
        with pytest.raises(InvalidInput, match=f"lies in the trash.*p2p trash --restore {session_id}"):
            step(session_id)
    with pytest.raises(UnknownName):
        service.find_session(session_id)
    assert service.find_deleted(session_id[-8:]) == session_id
    assert service.restore_session(session_id).session.prompt == POLE.prompt
    assert ids(service) == [other, session_id]
    assert service.list_trash() == ()


def test_the_trash_shows_the_last_deleted_first(service: Service, session_id: str) -> None:
    others = [service.create_session(POLE).session_id for _ in range(2)]
    for name in (others[1], session_id, others[0]):
        service.delete_session(name)
    order = [view.session.session_id for view in service.list_trash()]
    stamps = [view.metadata.deleted_at for view in service.list_trash()]
    assert sorted(order) == sorted((others[1], session_id, others[0]))
    assert stamps == sorted(stamps, key=str, reverse=True)


def test_only_what_is_in_the_trash_is_removed_and_with_all_its_jobs(service: Service, session_id: str) -> None:
    slot = service.jobs.take_slot(1)
    assert slot is not None
    iteration = service.record(session_id).iteration(1)
    iteration.save_draft(RewardDraft(source="pass"))
    iteration.save_reward_report(RewardReport(spec=None))
    job = service.start_training(session_id, StartTraining(idempotency_key="once"))
    for refused in (service.delete_session, service.purge_session):
        with pytest.raises(InvalidInput):
            refused(session_id)
    with pytest.raises(InvalidInput, match=f"{job.job_id} is waiting. To end it first: p2p stop {session_id}"):
        service.delete_session(session_id)
    service.cancel_job(job.job_id)
    os.close(slot)
    with pytest.raises(InvalidInput, match=f"is not in the trash.*p2p delete {session_id}"):
        service.purge_session(session_id)
    service.delete_session(session_id)
    assert service.list_jobs() == ()
    assert service.empty_trash() == (session_id,)
    assert not (service.runs.path / session_id).exists()
    with pytest.raises(UnknownName):
        service.get_job(job.job_id)
    with pytest.raises(UnknownName):
        service.restore_session(session_id)
    assert service.empty_trash() == ()


def test_what_runs_is_not_deleted(service: Service, session_id: str) -> None:
    driver = service.record(session_id).driver_dir
    service.backend.submit(JobSpec(argv=("sleep", "60")), driver)
    with pytest.raises(InvalidInput, match="cannot be deleted: it is running"):
        service.delete_session(session_id)
    service.backend.cancel(driver)
    run = service.record(session_id).iteration(1).run("baseline", 10)
    service.backend.submit(JobSpec(argv=("sleep", "60")), run.path)  # its driver is gone, and it goes on
    with pytest.raises(InvalidInput, match="baseline_seed_10 still trains"):
        service.delete_session(session_id)
    service.backend.cancel(run.path)
    service.delete_session(session_id)


def test_an_alias_means_its_session_and_no_other(service: Service, session_id: str) -> None:
    other = service.create_session(POLE).session_id
    assert service.edit_session(session_id, MetadataChange(alias="runner")).metadata.alias == "runner"
    assert service.find_session("runner") == session_id
    assert service.session_called("runner") == session_id
    assert service.session_called(other) == other
    assert service.session_called("nobody") == "nobody"
    for taken in ("runner", session_id):
        with pytest.raises(InvalidInput, match=f"Another session is called {taken}: {session_id}"):
            service.edit_session(other, MetadataChange(alias=taken))
    for wrong in ("../up", "Two Words", "latest", "a" * 65):
        with pytest.raises(InvalidInput, match="is not an alias"):
            service.edit_session(other, MetadataChange(alias=wrong))
    service.edit_session(session_id, MetadataChange(alias=""))
    service.edit_session(other, MetadataChange(alias="runner"))
    assert service.find_session("runner") == other


def test_of_many_that_want_one_alias_one_gets_it(service: Service) -> None:
    names = [service.create_session(POLE).session_id for _ in range(4)]
    start = threading.Barrier(4)

    def call(name: str) -> bool:
        start.wait()
        try:
            service.edit_session(name, MetadataChange(alias="best"))
        except P2PError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(call, names)) == 1


def test_stars_and_tags_are_kept_through_one_another_and_filter_the_list(service: Service, session_id: str) -> None:
    other = service.create_session(POLE).session_id
    changes = [MetadataChange(starred=True), *(MetadataChange(add_tags=(f"tag {n}",)) for n in range(4))]
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda change: service.edit_session(session_id, change), changes))
    kept = service.view_session(session_id).metadata
    assert kept.starred
    assert sorted(kept.tags) == [f"tag {n}" for n in range(4)]
    service.edit_session(session_id, MetadataChange(remove_tags=("tag 0",)))
    assert [v.session.session_id for v in service.list_sessions(starred=True)] == [session_id]
    assert [v.session.session_id for v in service.list_sessions(tags=("tag 1", "tag 2"))] == [session_id]
    assert service.list_sessions(tags=("tag 0",)) == ()
    assert service.find_session("latest") == other
    with pytest.raises(InvalidInput, match="A tag has 1 … 40 characters"):
        service.edit_session(session_id, MetadataChange(add_tags=("",)))
    with pytest.raises(InvalidInput, match="at most 20 tags"):
        service.edit_session(session_id, MetadataChange(add_tags=tuple(map(str, range(30)))))


def test_the_commands_do_the_same(service: Service, session_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    runs = ["--runs-dir", str(service.runs.path)]

    def said(*words: str) -> str:
        code = main([*words, *runs])
        out = capsys.readouterr()
        assert code == 0, out
        return out.out

    assert said("tag", "latest", "--alias", "runner", "--star", "--tag", "paper") == f"{session_id}: ★ runner #paper\n"
    assert "★ runner #paper" in " ".join(said("list", "--starred", "--tag", "paper").split())
    assert "No session is marked so" in said("list", "--tag", "other")
    assert f"p2p trash --restore {session_id}" in said("delete", "runner")
    assert session_id in said("trash")
    assert "is back" in said("trash", "--restore", "runner")
    said("delete", "runner")
    assert said("trash", "--delete", "runner") == f"Removed {session_id}.\n"
    assert said("trash") == "The trash is empty.\n"
    assert main(["trash", "--empty", "--restore", "x", *runs]) == 2


def test_of_many_ends_one_wins_and_none_comes_after_it(service: Service, session_id: str) -> None:
    record = service.record(session_id)
    record.set_status(SessionStatus.RUNNING)
    outcomes = [SessionStatus.ERROR, SessionStatus.PASSED, SessionStatus.CANCELLED, SessionStatus.MAX_ITERATIONS]
    start = threading.Barrier(4)

    def end(outcome: SessionStatus) -> bool:
        start.wait()
        return Service(service.settings).record(session_id).end(outcome, str(outcome))

    with ThreadPoolExecutor(4) as pool:
        won = list(pool.map(end, outcomes))
    assert sum(won) == 1
    first = record.read_status()
    assert first is not None
    assert first.status is outcomes[won.index(True)]
    service.close(session_id, SessionStatus.ERROR, "too late")
    record.touch_heartbeat()
    assert record.read_status() == first
    assert not [event for event in record.events.read() if event.data.get("error") == "too late"]


def test_a_heartbeat_never_brings_back_what_has_ended(
    service: Service, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("p2p.store.sessions.HEARTBEAT_S", 0.0)
    record, stop = service.record(session_id), threading.Event()

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
