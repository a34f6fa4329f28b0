"""Advice on a recorded iteration."""

import shutil
from pathlib import Path

from p2p.service.progress.advising import advice_on, course_of
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

RECORDED = Path(__file__).parents[1] / "session" / "recorded" / "session" / "files"


def test_a_course_is_read_of_the_best_run_and_all_its_seeds():
    course = course_of(SessionRecord(RECORDED), 1)
    assert [point.step for point in course.checkpoints] == [2048, 4096]
    assert course.seed_success == (0.0, 0.0)
    assert course.unreached == ("Keeps the pole up",)
    assert course.dynamics["updates"] == 4.0
    assert advice_on(SessionRecord(RECORDED), 1) == ()  # four updates say nothing of a trend


def test_a_fine_that_was_never_due_is_no_stage_that_was_not_reached(tmp_path):
    session = tmp_path / "session"
    shutil.copytree(RECORDED, session)
    iteration = SessionRecord(session).iteration(1)
    run = IterationRecord(iteration.path / "baseline_seed_10")
    iteration.save_reward_source(iteration.read_draft().source)
    run.save_summary(quiet(run.read_summary()))
    assert course_of(SessionRecord(session), 1).silent_terms == ("alive",)


def quiet(summary):
    """A training in which every term was 0 all the time."""
    terms = tuple(term.model_copy(update={"minimum": 0.0, "maximum": 0.0}) for term in summary.terms)
    return summary.model_copy(update={"terms": terms})
