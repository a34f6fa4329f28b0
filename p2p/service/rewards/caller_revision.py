"""Brief for the author of the next reward."""

from collections.abc import Mapping
from contextlib import suppress

from p2p.contracts.brief import AttemptLine, CriterionBrief, DraftReport, RevisionBrief, Suggestion
from p2p.contracts.errors import InvalidInput, P2PError
from p2p.contracts.intent import Comparison
from p2p.contracts.judgment import CriterionScore, Judgment
from p2p.contracts.remedies import Remedy
from p2p.service.progress.lineage import best_iteration
from p2p.service.rewards.revision import attempt
from p2p.service.rewards.starting import decide_start
from p2p.service.rewards.submission import Submission, hand_in
from p2p.service.rounding import rounded_term, short
from p2p.service.training.environments import environment_of
from p2p.service.training.plan import terrain_of
from p2p.service.wording import reward_constraints
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

MAX_ATTEMPTS = 10
MAX_WISHES = 10
MAX_DIAGNOSIS = 2000
MAX_SEEN = 1000
"""Characters of an observation's diagnosis, which is in the judgment's as well."""
MAX_CHANGE = 160
"""Characters of one change in the table of attempts."""
SYMBOL = {Comparison.AT_LEAST: ">=", Comparison.AT_MOST: "<="}


def revision_brief(ws: Workspace, session_id: str, iteration: int | None = None) -> RevisionBrief:
    """All information the author of the next reward needs.

    Args:
        session_id: Whose.
        iteration: The judged iteration it is about; None takes the newest one.

    Raises:
        UnknownName: there is no such session or iteration.
        InvalidInput: it is not judged yet; the message says what to call.
    """
    record = ws.record(session_id)
    session = record.read_session()
    intent = record.read_criteria()
    judgments = _judgments(record)
    number = _judged(ws, record, iteration, judgments)
    judgment = judgments[number]
    chosen = attempt(record, number)
    best_run = record.iteration(number).path / (judgment.run_id or "")
    summary = IterationRecord(best_run).read_summary()
    spec = environment_of(ws, session, intent)
    observation = judgment.observation
    if observation is not None:
        observation = observation.model_copy(update={"diagnosis": observation.diagnosis[:MAX_SEEN]})
    history = record.read_history()
    earlier = history.iterations if history is not None else ()
    lessons = {lesson.learned_at: lesson.text for lesson in record.read_lineage().lessons}
    suggestion = None
    if intent is not None:
        with suppress(P2PError):  # the built-in author has no suggestion for every sentence
            attempts = tuple(attempt(record, judged) for judged in sorted(judgments))
            revision = ws.author("builtin").revise(intent, spec, attempts)
            suggestion = Suggestion(
                based_on=revision.based_on,
                diagnosis=revision.diagnosis,
                lesson=revision.lesson,
                changes=revision.changes,
            )
    return RevisionBrief(
        session_id=session_id,
        iteration=number,
        best_iteration=best_iteration(judgments),
        iterations_left=max(0, session.max_iterations - len(judgments)),
        prompt=session.prompt,
        env_id=session.env_id,
        verdict=judgment.verdict,
        score=short(judgment.intent_score),
        pass_threshold=session.pass_threshold,
        success_rate=short(judgment.success_rate),
        diagnosis=judgment.diagnosis[:MAX_DIAGNOSIS],
        failure_tags=judgment.failure_tags,
        criteria=tuple(
            CriterionBrief(
                key=score.key,
                title=score.title,
                required=score.required,
                wanted=_wanted(score),
                value=short(score.value),
                met=score.met,
                met_share=short(score.met_share),
                score=short(score.score),
            )
            for score in judgment.criteria
        ),
        observation=observation,
        terms=tuple(rounded_term(term) for term in chosen.terms),
        dynamics={name: short(value) for name, value in chosen.dynamics.items()},
        warnings=summary.warnings if summary is not None else (),
        advice=chosen.advice,
        early_stop=chosen.early_stop,
        config_changes=chosen.config_changes,
        pinned=chosen.pinned,
        attempts=tuple(
            AttemptLine(
                iteration=data.iteration,
                based_on=data.based_on,
                changes=tuple(change[:MAX_CHANGE] for change in data.changes),
                verdict=data.verdict,
                score=short(data.intent_score),
                success_rate=short(data.success_rate),
                failure_tags=data.failure_tags[:6],
                lesson=lessons.get(data.iteration, "")[:300],
            )
            for data in earlier[-MAX_ATTEMPTS:]
        ),
        wishes=tuple(wish.text for wish in record.read_wishes()[-MAX_WISHES:]),
        constraints=reward_constraints(spec, terrain=terrain_of(session)),
        suggestion=suggestion,
        goes_on=decide_start(record, number, chosen.source, chosen.config_changes),
        source=chosen.source,
    )


def revise_session(
    ws: Workspace,
    session_id: str,
    source: str | None = None,
    reasoning: str = "",
    config_changes: Mapping[str, object] | None = None,
    lesson: str = "",
    based_on: int | None = None,
) -> DraftReport | RevisionBrief:
    """Return the brief; with a source, check it as the next reward and return the result.

    Args:
        session_id: Whose.
        source: The next reward; None returns the brief.
        reasoning: What was found wrong, and what the reward does about it.
        config_changes: Fields of `TrainConfig` it is to be trained with, on top of those that the reward it was
            changed from asked for.
        lesson: What the judged iteration taught; empty takes what was missed.
        based_on: Number of the iteration whose reward was changed; None finds the one most alike.

    Raises:
        InvalidInput: no iteration is judged yet, or no further one may be begun.
        InvalidConfig: `config_changes` asks for what an author may not choose.
    """
    if source is None:
        return revision_brief(ws, session_id)
    record = ws.record(session_id)
    _judged(ws, record, None, _judgments(record))  # refuses where there is nothing to revise
    return hand_in(ws, session_id, Submission(source, reasoning, config_changes or {}, lesson, based_on))


def _judged(ws: Workspace, record: SessionRecord, number: int | None, judgments: dict[int, Judgment]) -> int:
    name = record.session_id
    if number is not None:
        ws.iteration_begun(name, number)
    if not judgments or (number is not None and number not in judgments):
        which = f"Iteration {number}" if number is not None else "No iteration"
        state = "is not judged yet" if number is not None else f"of {name} is judged yet"
        raise InvalidInput(
            f"{which} {state}. Write a reward ({Remedy.WRITE_REWARD.of()}), train it "
            f"({Remedy.TRAIN.of(session=name)}) and judge it ({Remedy.JUDGE.of(session=name)}); then there is "
            "something to revise."
        )
    return number if number is not None else max(judgments)


def _judgments(record: SessionRecord) -> dict[int, Judgment]:
    """Judgments by iteration number."""
    return {it.number: judgment for it in record.iteration_records() if (judgment := it.read_judgment()) is not None}


def _wanted(score: CriterionScore) -> str:
    if score.by_eyes:
        return "by eyes"
    unit = "" if score.unit == "1" else f" {score.unit}"
    if score.comparison is Comparison.BETWEEN:
        return f"{score.threshold:g} to {score.upper:g}{unit}"
    return f"{SYMBOL[score.comparison]} {score.threshold:g}{unit}"
