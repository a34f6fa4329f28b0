"""The loop over iterations whose steps are saved already: what is done is not done again, and how it ends."""

from collections.abc import Callable
from pathlib import Path

import pytest
from finished_iterations import FinishedJobs, judgment, leave_training

from p2p.contracts.errors import BudgetExceeded, InvalidReward, P2PError, TrainingFailed
from p2p.contracts.inference import AuthenticationFailed, ModelTimeout, RateLimited
from p2p.contracts.reward import Change, Revision, RewardDraft
from p2p.contracts.session import EventName, NewSession, SessionStatus
from p2p.service import steps
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.session.run_session import drive
from p2p.settings import Settings
from p2p.store.sessions import SessionRecord

STEPS = 10_000
REQUEST = NewSession(
    prompt="keep the pole balanced",
    env_id="InvertedPendulum-v5",
    max_iterations=3,
    config={"total_timesteps": STEPS},
)
HEAVIER = Revision(
    based_on=1,
    diagnosis="It leans.",
    lesson="Leaning must cost more.",
    changes=(Change(kind="reward", name="lean", old=-1.0, new=-2.0, reason="up for 40 % of the time"),),
    source="x = 2",
)


@pytest.fixture
def begun(tmp_path: Path) -> Callable[..., tuple[Workspace, SessionRecord]]:
    """A session, and its iterations as far as they were judged: the score of each, and whether it passed."""

    def begin(*scores: float, passed: bool = False) -> tuple[Workspace, SessionRecord]:
        ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
        record = ws.record(create_session(ws, REQUEST).session_id)
        ws.backend = ws.training_backend = FinishedJobs()
        for number, score in enumerate(scores, 1):
            run_id = leave_training(record, number, RewardDraft(source=f"x = {number}"))
            last = number == len(scores)
            record.iteration(number).save_judgment(judgment(run_id, score, STEPS, passed=passed and last))
            if not last:
                record.iteration(number).save_revision(HEAVIER)
        return ws, record

    return begin


def ended(ws: Workspace, record: SessionRecord) -> SessionStatus:
    drive(ws, record.session_id)
    status = record.read_status()
    assert status is not None
    return status.status


def test_what_passes_at_first_is_not_revised(begun: Callable[..., tuple[Workspace, SessionRecord]]) -> None:
    ws, record = begun(0.9, passed=True)
    assert ended(ws, record) is SessionStatus.PASSED
    history = record.read_history()
    assert history is not None
    assert (history.status, len(history.iterations), history.best_score) == (SessionStatus.PASSED, 1, 0.9)
    assert record.iteration(1).read_revision() is None
    assert [number.number for number in record.iteration_records()] == [1]


def test_what_passes_after_a_revision_keeps_what_was_changed(
    begun: Callable[..., tuple[Workspace, SessionRecord]],
) -> None:
    ws, record = begun(0.4, 0.9, passed=True)
    assert ended(ws, record) is SessionStatus.PASSED
    history, lineage = record.read_history(), record.read_lineage()
    assert history is not None
    assert history.iterations[1].based_on == 1
    assert history.iterations[1].changes == ("reward lean: -1.0 → -2.0 (up for 40 % of the time)",)
    assert [lesson.text for lesson in lineage.lessons] == ["Leaning must cost more."]
    first, second = lineage.iterations.values()
    assert (first.parent, second.parent, second.lesson) == (None, 1, "Leaning must cost more.")


def test_the_best_iteration_stays_the_best_when_later_ones_score_less(
    begun: Callable[..., tuple[Workspace, SessionRecord]],
) -> None:
    ws, record = begun(0.4, 0.7, 0.3)
    assert ended(ws, record) is SessionStatus.MAX_ITERATIONS
    history = record.read_history()
    assert history is not None
    assert (history.best_iteration, history.best_score, len(history.iterations)) == (2, 0.7, 3)
    assert [entry.star for entry in record.read_lineage().iterations.values()] == [True, True, False]
    assert view_session(ws, record.session_id).best_iteration == 2


def test_what_was_done_before_a_crash_is_not_done_again(
    begun: Callable[..., tuple[Workspace, SessionRecord]], monkeypatch: pytest.MonkeyPatch
) -> None:
    ws, record = begun(0.4)
    before = {path: path.stat().st_mtime_ns for path in record.iteration(1).path.rglob("*") if path.is_file()}
    written: list[int] = []

    def write(_: Workspace, _session_id: str, number: int) -> None:
        written.append(number)
        if number == 2:
            raise TrainingFailed("as far as this")

    monkeypatch.setattr(steps, "write_reward", write)
    assert ended(ws, record) is SessionStatus.ERROR
    assert written == [1, 2]
    revision = record.iteration(1).read_revision()
    assert revision is not None
    assert revision.based_on == 1
    assert {path: path.stat().st_mtime_ns for path in before} == before
    names = [event.event for event in record.events.read()]
    assert names.count(EventName.REVISE_END) == 1
    assert EventName.TRAIN_START not in names


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidReward("it does not load"), SessionStatus.INVALID_CODE),
        (BudgetExceeded("calls"), SessionStatus.BUDGET),
        (RateLimited("too many"), SessionStatus.RATE_LIMITED),
        (AuthenticationFailed("the key"), SessionStatus.AUTH_ERROR),
        (ModelTimeout("too late"), SessionStatus.ERROR),
        (TrainingFailed("all runs"), SessionStatus.ERROR),
        (ZeroDivisionError("a defect"), SessionStatus.ERROR),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_an_error_ends_it_by_name_and_the_history_has_both(
    begun: Callable[..., tuple[Workspace, SessionRecord]],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: SessionStatus,
) -> None:
    ws, record = begun(0.4)

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(steps, "revise", fail)
    code = drive(ws, record.session_id)
    assert code == (error.exit_code if isinstance(error, P2PError) else 1)
    history, kept = record.read_history(), record.read_status()
    assert history is not None
    assert kept is not None
    assert (history.status, kept.status) == (status, status)
    assert history.error == kept.error == str(error)
    assert [entry.intent_score for entry in history.iterations] == [0.4]
