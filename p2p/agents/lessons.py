"""Lessons of a session, by certainty."""

from collections.abc import Sequence
from typing import Literal, get_args

from p2p.contracts.errors import InvalidInput
from p2p.contracts.reward import Lesson

Tier = Literal["HARD", "STRONG", "SOFT", "RETIRED"]
TIERS: tuple[Tier, ...] = get_args(Tier)
MAX_LESSONS = 25
"""More are not read; the least firm and oldest go first."""
SAME_WORDS = 0.8
"""Two lessons that share so many of their words say the same."""


def with_lesson(lessons: Sequence[Lesson], new: Lesson) -> tuple[Lesson, ...]:
    """Add a lesson; a repeated one is kept once, with the firmer tier and the newer text."""
    text = new.text.strip()
    if not text:
        return tuple(lessons)
    same = next((old for old in lessons if _alike(old.text, text)), None)
    if same is None:
        return consolidated((*lessons, new))
    if same.learned_at >= new.learned_at:
        return tuple(lessons)
    tier = min(same.tier, new.tier, key=TIERS.index)
    newer = new.model_copy(update={"tier": tier if same.tier != "RETIRED" else "RETIRED"})
    return consolidated((*(old for old in lessons if old is not same), newer))


def with_tier(lessons: Sequence[Lesson], index: int, tier: str, reason: str) -> tuple[Lesson, ...]:
    """Move a lesson to another tier, with the reason.

    Args:
        lessons: All of them.
        index: Which one, from 0.
        tier: Where to.
        reason: What was measured that speaks for it.

    Raises:
        InvalidInput: there is no such lesson or tier, or no reason.
    """
    if not 0 <= index < len(lessons):
        raise InvalidInput(f"There is no lesson {index}: there are {len(lessons)}, counted from 0.")
    if tier not in TIERS:
        raise InvalidInput(f"{tier!r} is not a tier. Tiers: {', '.join(TIERS)}.")
    if not reason.strip():
        raise InvalidInput("Give a reason for the new tier: what was measured.")
    changed = lessons[index].model_copy(update={"tier": tier, "tier_reason": " ".join(reason.split())[:300]})
    return (*lessons[:index], changed, *lessons[index + 1 :])


def consolidated(lessons: Sequence[Lesson]) -> tuple[Lesson, ...]:
    """Keep at most `MAX_LESSONS`, in order; drop the loosest tier first, in it the oldest first."""
    kept = list(lessons)
    while len(kept) > MAX_LESSONS:
        loosest = max(range(len(kept)), key=lambda i: (TIERS.index(kept[i].tier), -kept[i].learned_at, -i))
        del kept[loosest]
    return tuple(kept)


def in_words(lessons: Sequence[Lesson]) -> str:
    """All lessons, numbered, one a line."""
    lines = [f"{i}. [{lesson.tier}] {lesson.text} (iteration {lesson.learned_at})" for i, lesson in enumerate(lessons)]
    return "\n".join(lines) or "None yet."


def _alike(one: str, other: str) -> bool:
    first, second = set(one.lower().split()), set(other.lower().split())
    return len(first & second) >= SAME_WORDS * max(len(first | second), 1)
