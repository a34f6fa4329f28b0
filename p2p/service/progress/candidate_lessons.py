"""Lessons from candidate rewards that were not chosen."""

from collections.abc import Iterator, Sequence

from p2p.agents.lessons import consolidated
from p2p.contracts.intent import score_in_words
from p2p.contracts.reward import Candidate, CandidateChoice, CandidateState, Lesson
from p2p.store.iterations import CandidateRecords
from p2p.store.sessions import SessionRecord

MAX_REASONING = 160
MAX_PROBLEM = 200


def candidate_lessons(record: SessionRecord, iterations: Sequence[int]) -> tuple[Lesson, ...]:
    """Soft lessons, one per trained or refused candidate of these iterations."""
    return tuple(
        Lesson(text=text, tier="SOFT", learned_at=number)
        for number in iterations
        if (choice := CandidateRecords(record.iteration(number)).read_choice()) is not None
        for text in _texts(number, choice)
    )


def with_all(lessons: Sequence[Lesson], more: Sequence[Lesson]) -> tuple[Lesson, ...]:
    """Lessons plus the new ones in `more`, compared word for word: two candidates may read alike."""
    known = {lesson.text for lesson in lessons}
    return consolidated((*lessons, *(lesson for lesson in more if lesson.text not in known)))


def _texts(number: int, choice: CandidateChoice) -> Iterator[str]:
    chosen = next(one for one in choice.candidates if one.number == choice.chosen)
    for one in choice.candidates:
        reached = _reached(one, chosen)
        if one is chosen or not reached:
            continue
        terms = f" ({', '.join(one.terms)})" if one.terms else ""
        thought = " ".join(one.reasoning.split())[:MAX_REASONING]
        said = (
            f"Iteration {number}, candidate {one.number} of {len(choice.candidates)}{terms} was not chosen: {reached}."
        )
        yield f"{said} Its idea: {thought}" if thought else said


def _reached(one: Candidate, chosen: Candidate) -> str:
    """Result of a candidate as a clause; empty if it teaches nothing."""
    problem = " ".join(one.problem.split())
    if one.state is CandidateState.TRAINED:
        return f"after {one.environment_steps or 0:,} steps it reached {_score(one)}, the chosen one {_score(chosen)}"
    if one.state is CandidateState.REFUSED:
        return f"its check refused it: {problem[:MAX_PROBLEM]}"
    return f"its short training failed: {problem[-MAX_PROBLEM:]}" if one.state is CandidateState.FAILED else ""


def _score(one: Candidate) -> str:
    score = "no score" if one.score is None else f"score {score_in_words(one.score)}"
    return score if one.episode_return is None else f"{score} and return {one.episode_return:.3g}"
