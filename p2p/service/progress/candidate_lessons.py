"""Lessons from candidate rewards that were not chosen."""

from collections.abc import Sequence

from p2p.agents.lessons import consolidated
from p2p.contracts.intent import score_in_words
from p2p.contracts.reward import Candidate, CandidateState, Lesson
from p2p.store.iterations import CandidateRecords
from p2p.store.sessions import SessionRecord

MAX_REASONING = 160
MAX_PROBLEM = 200


def candidate_lessons(record: SessionRecord, iterations: Sequence[int]) -> tuple[Lesson, ...]:
    """Soft lessons, one per trained or refused candidate of these iterations."""
    lessons = []
    for number in iterations:
        choice = CandidateRecords(record.iteration(number)).read_choice()
        if choice is None:
            continue
        candidates = choice.candidates
        chosen = next(one for one in candidates if one.number == choice.chosen)
        for one in candidates:
            reached = _reached(one, chosen) if one is not chosen else ""
            if not reached:
                continue
            terms = f" ({', '.join(one.terms)})" if one.terms else ""
            thought = " ".join(one.reasoning.split())[:MAX_REASONING]
            text = f"Iteration {number}, candidate {one.number} of {len(candidates)}{terms} was not chosen: {reached}."
            text += f" Its idea: {thought}" if thought else ""
            lessons.append(Lesson(text=text, tier="SOFT", learned_at=number))
    return tuple(lessons)


def with_all(lessons: Sequence[Lesson], more: Sequence[Lesson]) -> tuple[Lesson, ...]:
    """Lessons plus the new ones in `more`, compared word for word: two candidates may read alike."""
    known = {lesson.text for lesson in lessons}
    return consolidated((*lessons, *(lesson for lesson in more if lesson.text not in known)))


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
