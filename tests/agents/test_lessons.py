import pytest
from hypothesis import given
from hypothesis import strategies as st

from p2p.agents.lessons import MAX_LESSONS, TIERS, consolidated, in_words, with_lesson, with_tier
from p2p.contracts.errors import InvalidInput
from p2p.contracts.reward import Lesson

FAST = Lesson(text="A larger speed term makes it fall on its nose", learned_at=1)
CALM = Lesson(text="The effort term hardly matters", learned_at=2, tier="SOFT")

lessons = st.lists(
    st.builds(
        Lesson, text=st.text(min_size=1, max_size=20), learned_at=st.integers(1, 50), tier=st.sampled_from(TIERS)
    ),
    max_size=60,
)


def test_the_same_lesson_is_kept_once_and_becomes_no_softer() -> None:
    again = Lesson(text="a larger speed term makes it fall on its nose", learned_at=4, tier="SOFT")
    kept = with_lesson((FAST, CALM), again)
    assert [(lesson.learned_at, lesson.tier) for lesson in kept] == [(2, "SOFT"), (4, "STRONG")]
    assert with_lesson((FAST,), Lesson(text="  ", learned_at=2)) == (FAST,)


def test_what_was_found_wrong_stays_found_wrong_when_it_is_said_again() -> None:
    retired = FAST.model_copy(update={"tier": "RETIRED"})
    assert with_lesson((retired,), FAST.model_copy(update={"learned_at": 9}))[0].tier == "RETIRED"


def test_what_is_written_down_again_changes_nothing() -> None:
    softened = (FAST.model_copy(update={"tier": "SOFT"}), CALM)
    assert with_lesson(softened, FAST) == softened


def test_a_tier_is_changed_for_a_reason() -> None:
    changed = with_tier((FAST, CALM), 1, "HARD", "effort 0 in iteration 3:  score 0.9 to 0.2")
    assert changed[1].tier == "HARD"
    assert changed[1].tier_reason == "effort 0 in iteration 3: score 0.9 to 0.2"
    assert changed[0] is FAST
    for index, tier, reason in ((2, "HARD", "x"), (-1, "HARD", "x"), (0, "FIRM", "x"), (0, "HARD", " ")):
        with pytest.raises(InvalidInput):
            with_tier((FAST, CALM), index, tier, reason)


def test_of_too_many_the_softest_and_oldest_go() -> None:
    many = tuple(
        Lesson(text=f"lesson number {i}", learned_at=i, tier="HARD" if i < 3 else "SOFT") for i in range(1, 31)
    )
    kept = consolidated(many)
    assert len(kept) == MAX_LESSONS
    assert [lesson.learned_at for lesson in kept] == [1, 2, *range(8, 31)]


@given(lessons)
def test_consolidation_invents_and_reorders_nothing(many: list[Lesson]) -> None:
    kept = consolidated(many)
    assert len(kept) == min(len(many), MAX_LESSONS)
    remaining = iter(many)
    assert all(any(lesson is other for other in remaining) for lesson in kept)


def test_lessons_are_told_with_the_numbers_they_are_called_by() -> None:
    assert in_words((FAST, CALM)).splitlines()[1] == "1. [SOFT] The effort term hardly matters (iteration 2)"
    assert in_words(()) == "None yet."
