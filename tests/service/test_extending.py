"""Sessions that go on from the best reward of an earlier one."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from finished_iterations import judgment, leave_training
from typer.testing import CliRunner

from p2p.cli.app import app
from p2p.contracts.background import StartTraining, TrainingRequest
from p2p.contracts.errors import InvalidInput, StorageProblem
from p2p.contracts.intent import Criterion
from p2p.contracts.judgment import JudgeCode
from p2p.contracts.remedies import Remedy
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import ExtendSession, NewSession, SessionStatus
from p2p.service.judging.closing import outcome
from p2p.service.progress.lineage import record_iteration
from p2p.service.progress.listing import list_sessions
from p2p.service.progress.session_view import view_session
from p2p.service.sessions import driving
from p2p.service.sessions.driving import resume_session, start_session
from p2p.service.sessions.extending import continue_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.sessions.steering import steer
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import files, layout
from p2p.store.sessions import SessionRecord

STEPS = 10_000
POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=1, max_iterations=2)
MODEL = "anthropic:claude-opus-5-5"
SOFTER = ExtendSession(wish=" land  softer ")
SILENT = ("{python}", "-c", "import time; time.sleep(600)")


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    monkeypatch.setattr(driving, "DRIVER", SILENT)
    ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
    yield ws
    for job in ws.runs.path.rglob(layout.JOB):
        ws.backend.cancel(job.parent)


def judged(ws: Workspace, *scores: float, passed: bool = True, **fields: Any) -> SessionRecord:
    """A session with iterations of these scores; the last has passed, or the session was stopped."""
    record = ws.record(create_session(ws, POLE.model_copy(update=fields)).session_id)
    for number, score in enumerate(scores, 1):
        last = number == len(scores)
        draft = RewardDraft(
            source=f"x = {number}", config_changes={"total_timesteps": STEPS, "gamma": 0.9 + number / 100}
        )
        run_id = leave_training(record, number, draft)
        record.iteration(number).save_judgment(judgment(run_id, score, STEPS, passed=passed and last))
    record_iteration(record, len(scores))
    record.set_status(SessionStatus.PASSED if passed else SessionStatus.CANCELLED)
    return record


def stricter(record: SessionRecord, by: float = 0.5) -> Criterion:
    """The first criterion, closer to what cannot be beaten."""
    intent = record.read_criteria()
    assert intent is not None
    first = intent.criteria[0]
    assert first.predicate is not None
    sign = -1 if first.predicate.comparison == "at_most" else 1
    threshold = first.predicate.threshold + sign * by * abs(first.predicate.threshold)
    return first.model_copy(update={"predicate": first.predicate.model_copy(update={"threshold": threshold})})


def test_a_passed_session_goes_on_from_its_best_reward_by_stricter_criteria(ws: Workspace) -> None:
    old = judged(ws, 0.9, 0.5, passed=False)
    before = {path: path.read_bytes() for path in old.path.rglob("*") if path.is_file()}
    tight = stricter(old)
    made = continue_session(ws, old.session_id, ExtendSession(criteria=(tight,)), driven=True)
    new, present = ws.record(made.session_id), old.read_criteria()
    assert present is not None
    assert made.extends is not None
    assert (made.extends.session_id, made.extends.iteration) == (old.session_id, 1)
    draft, criteria = new.iteration(1).read_draft(), new.read_criteria()
    assert draft is not None
    assert (draft.source, draft.config_changes) == ("x = 1", {"total_timesteps": STEPS, "gamma": 0.91})
    assert criteria is not None
    assert criteria.criteria == (tight, *present.criteria[1:])
    (change,) = new.read_tightenings()
    assert (change.before, change.after, change.after_iteration) == (present, criteria, 0)
    assert new.read_lineage().extends == view_session(ws, new.session_id).session.extends == made.extends
    assert {path: path.read_bytes() for path in old.path.rglob("*") if path.is_file()} == before
    record_iteration(new, 1)
    assert new.read_lineage().extends == made.extends


def test_criteria_only_get_stricter_through_any_number_of_extensions(ws: Workspace) -> None:
    old = judged(ws, 0.9)
    looser = stricter(old, by=-0.5)
    with pytest.raises(InvalidInput, match="would be looser"):
        continue_session(ws, old.session_id, ExtendSession(criteria=(looser,)), driven=True)
    first = continue_session(ws, old.session_id, ExtendSession(criteria=(stricter(old),)), driven=True)
    middle = ws.record(first.session_id)
    run_id = leave_training(middle, 1, RewardDraft(source="x = 1"))
    middle.iteration(1).save_judgment(judgment(run_id, 0.9, STEPS, passed=True))
    again = continue_session(ws, first.session_id, ExtendSession(criteria=(stricter(middle, 0.1),)), driven=True)
    kept = ws.record(again.session_id).read_tightenings()
    assert [change.before for change in kept] == [old.read_criteria(), middle.read_criteria()]
    assert len(list_sessions(ws)) == 3


@pytest.mark.parametrize(
    ("make", "request_", "words"),
    [
        (lambda s: judged(s, 0.9), ExtendSession(), "stricter or further criteria"),
        (lambda s: judged(s, 0.9), ExtendSession(max_iterations=9), "stricter or further criteria"),
        (lambda s: judged(s, 0.9), ExtendSession(author=MODEL), "stricter or further criteria"),
        (lambda s: judged(s, 0.4, passed=False), ExtendSession(max_iterations=9), "<<add_iterations session="),
        (lambda s: judged(s, 0.9), SOFTER, r"reads no wishes.*<<extend_by_criteria .*<<extend_by_model "),
        (lambda s: judged(s, passed=False), SOFTER, "no judged iteration to extend.*<<resume"),
        (lambda s: judged(s, 0.9), ExtendSession(wish="x" * 301, author=MODEL), "1 … 300 characters, got 301"),
        (lambda s: judged(s, 0.9), ExtendSession(wish="x", author=MODEL, max_iterations=1), "at least 2 iterations"),
        (lambda s: judged(s, 0.9), ExtendSession(wish="x", author=MODEL, caps={"calls": -1}), "greater than or equal"),
    ],
)
def test_what_would_change_nothing_is_refused_with_what_does_work_and_leaves_nothing(
    ws: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Workspace], SessionRecord],
    request_: ExtendSession,
    words: str,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    old = make(ws)
    with pytest.raises(InvalidInput, match=words):
        continue_session(ws, old.session_id, request_, driven=True)
    assert [view.session.session_id for view in list_sessions(ws)] == [old.session_id]
    assert [path.name for path in ws.runs.path.glob("session_*")] == [old.session_id]


def test_a_running_session_and_one_without_criteria_are_not_extended(ws: Workspace) -> None:
    old = judged(ws, 0.4, passed=False)
    start_session(ws, old.session_id)
    with pytest.raises(InvalidInput, match=f"still at work.*{Remedy.STOP.of(session=old.session_id)}"):
        continue_session(ws, old.session_id, SOFTER, driven=False)
    own = create_session(ws, NewSession(author="given", max_iterations=1), "x = 1", session_id="own")
    with pytest.raises(InvalidInput, match="<<train_reward env="):
        continue_session(ws, own.session_id, SOFTER, driven=False)


def test_a_wish_is_read_by_the_revision_after_a_first_iteration_that_passes_again(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    old = judged(ws, 0.9)
    made = continue_session(ws, old.session_id, ExtendSession(wish="softer", author=MODEL), driven=True)
    new = ws.record(made.session_id)
    assert (made.author, made.model, made.max_iterations) == (MODEL, MODEL, 3)
    assert [wish.text for wish in new.read_wishes()] == ["softer"]
    run_id = leave_training(new, 1, RewardDraft(source="x = 1"))
    new.iteration(1).save_judgment(judgment(run_id, 0.9, STEPS, passed=True))
    assert outcome(ws, new.session_id) is None
    assert view_session(ws, new.session_id).step == "revise"
    run_id = leave_training(new, 2, RewardDraft(source="x = 2"))
    new.iteration(2).save_judgment(judgment(run_id, 0.9, STEPS, passed=True))
    assert outcome(ws, new.session_id) is SessionStatus.PASSED


def test_what_has_passed_and_is_about_to_end_is_not_said_to_be_revised(ws: Workspace) -> None:
    record = judged(ws, 0.9)
    record.set_status(SessionStatus.RUNNING)
    assert view_session(ws, record.session_id).step == "done"
    failed = judged(ws, 0.4, passed=False)
    failed.set_status(SessionStatus.RUNNING)
    assert view_session(ws, failed.session_id).step == "revise"


def test_without_a_wish_that_somebody_reads_a_first_iteration_that_passes_ends_it(ws: Workspace) -> None:
    old = judged(ws, 0.9)
    tight = ExtendSession(wish="because it shakes", criteria=(stricter(old),))
    new = ws.record(continue_session(ws, old.session_id, tight, driven=True).session_id)
    assert new.read_tightenings()[0].why == "because it shakes"
    start_session(ws, new.session_id)  # the built-in author, driven
    run_id = leave_training(new, 1, RewardDraft(source="x = 1"))
    new.iteration(1).save_judgment(judgment(run_id, 0.9, STEPS, passed=True))
    assert outcome(ws, new.session_id) is SessionStatus.PASSED


def test_what_a_caller_trained_with_and_what_it_judges_by_goes_along(ws: Workspace) -> None:
    old = judged(ws, 0.9, priority="normal", config={"ent_coef": 0.01})
    start = StartTraining(configs={"baseline": {"num_steps": 32}}, total_timesteps=4096)
    old.iteration(1).save_training_request(TrainingRequest(job_id="job_" + "0" * 32, start=start))
    code = JudgeCode(written_by="a person", functions=())
    old.save_judge_code(code)
    made = continue_session(ws, old.session_id, SOFTER, driven=False)
    assert made.config == {"ent_coef": 0.01, "n_steps": 32, "total_timesteps": 4096}
    assert (made.priority, made.n_seeds, made.author) == ("normal", 1, "builtin")
    assert ws.record(made.session_id).read_judge_code() == code


def test_an_extension_that_is_interrupted_leaves_nothing_half(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    old = judged(ws, 0.9)
    write, written = files.write_model, list[Path]()

    def full(path: Path, model: Any) -> None:
        if path.name == layout.SESSION:
            raise StorageProblem("the disk is full")
        written.append(path)
        write(path, model)

    monkeypatch.setattr(files, "write_model", full)
    with pytest.raises(StorageProblem):
        continue_session(ws, old.session_id, SOFTER, driven=False)
    assert {layout.DRAFT, layout.CRITERIA, layout.LINEAGE, layout.STATUS} <= {path.name for path in written}
    assert [path.name for path in ws.runs.path.glob("session_*")] == [old.session_id]


def test_one_that_was_killed_before_its_first_step_is_started_or_checked_as_it_is(ws: Workspace) -> None:
    old = judged(ws, 0.9)
    made = continue_session(ws, old.session_id, SOFTER, driven=False)
    view = view_session(ws, made.session_id)
    assert (view.status, view.by_caller, view.step) == (SessionStatus.PENDING, False, "reward")
    assert resume_session(ws, made.session_id).alive


def invoke(ws: Workspace, *words: str) -> Any:
    return CliRunner().invoke(app, [*words, "--runs-dir", str(ws.runs.path)])


def test_p2p_extend_starts_the_linked_session_and_every_list_names_its_origin(ws: Workspace) -> None:
    old = judged(ws, 0.9)
    tight = stricter(old)
    assert tight.predicate is not None
    said = f"{tight.key}={tight.predicate.threshold}"
    result = invoke(ws, "extend", old.session_id, "--threshold", said, "--iterations", "4", "--detach")
    assert result.exit_code == 0, result.exception
    (view,) = [view for view in list_sessions(ws) if view.session.session_id != old.session_id]
    assert view.alive
    assert view.session.max_iterations == 4
    assert f"starts from iteration 1 of {old.session_id}" in " ".join(result.output.split())
    origin = {"session_id": old.session_id, "iteration": 1}
    shown = json.loads(invoke(ws, "show", view.session.session_id, "--json").stdout)
    assert shown["session"]["extends"] == origin
    listed = json.loads(invoke(ws, "list", "--json").stdout)["sessions"]
    assert sorted(str(one["session"]["extends"]) for one in listed) == sorted([str(origin), "None"])
    assert f"extends iteration 1 of {old.session_id}" in invoke(ws, "show", view.session.session_id).output


def test_p2p_extend_that_is_refused_says_what_works_and_leaves_nothing(ws: Workspace) -> None:
    old = judged(ws, 0.9)
    refused = invoke(ws, "extend", old.session_id, "--wish", "land softer").exception
    assert isinstance(refused, InvalidInput)
    assert Remedy.EXTEND_BY_CRITERIA.of(session=old.session_id) in str(refused)
    assert len(list_sessions(ws)) == 1


def test_an_ended_session_refuses_a_wish_and_names_extend(ws: Workspace) -> None:
    old = judged(ws, 0.9)
    with pytest.raises(InvalidInput, match=Remedy.EXTEND_BY_WISH.of(session=old.session_id)):
        steer(ws, old.session_id, "land softer")
    old.driver_dir.mkdir()
    with pytest.raises(InvalidInput, match=Remedy.EXTEND_BY_CRITERIA.of(session=old.session_id)):
        steer(ws, old.session_id, "land softer")
    with pytest.raises(InvalidInput, match=f"<<extend_by_[a-z]+ session={old.session_id}>>"):
        resume_session(ws, old.session_id)
