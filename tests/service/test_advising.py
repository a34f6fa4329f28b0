"""Advice on a recorded iteration."""

from pathlib import Path

from p2p.service.progress.advising import advice_on, course_of
from p2p.store.sessions import SessionRecord

RECORDED = Path(__file__).parents[1] / "session" / "recorded" / "session" / "files"


def test_a_course_is_read_of_the_best_run_and_all_its_seeds():
    course = course_of(SessionRecord(RECORDED), 1)
    assert [point.step for point in course.checkpoints] == [2048, 4096]
    assert course.seed_success == (0.0, 0.0)
    assert course.unreached == ("Keeps the pole up",)
    assert course.dynamics["updates"] == 4.0
    assert advice_on(SessionRecord(RECORDED), 1) == ()  # four updates say nothing of a trend
