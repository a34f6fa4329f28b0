"""Rewards submitted by a caller."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from p2p.contracts.brief import DraftReport
from p2p.contracts.errors import Busy, InvalidInput, P2PError
from p2p.contracts.intent import Intent, score_in_words
from p2p.contracts.judgment import Judgment
from p2p.contracts.remedies import Remedy
from p2p.contracts.reward import Revision, RewardDraft, RewardReport
from p2p.contracts.session import EventName, NewSession, Session, SessionStatus
from p2p.contracts.start_policy import StartDecision
from p2p.contracts.training import canonical_names
from p2p.service.jobs.ending import end_job, end_training
from p2p.service.progress.differences import changes_between, common_share
from p2p.service.progress.listing import find_session
from p2p.service.progress.session_view import live_training, view_session
from p2p.service.rewards.criteria import completed
from p2p.service.rewards.probing import probed
from p2p.service.rewards.revision import attempt, revise
from p2p.service.rewards.starting import decide_start
from p2p.service.rewards.variants import refuse_fixed
from p2p.service.rewards.writing import check_reward, draft_reward, elicit_intent, try_draft
from p2p.service.training.environments import environment_of
from p2p.service.training.plan import effective_config, run_configs, session_for
from p2p.service.training.requirements import require_trainable
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.iterations import CandidateRecords
from p2p.store.sessions import SessionRecord

MAX_SOURCE = 64 * 1024
"""Bytes of a reward's source."""
MAX_CHANGES = 2
"""As many as a revision keeps."""
SAME = 0.5
"""Share of common lines from which on a first reward counts as the one that it replaces, edited."""
OVER = {
    SessionStatus.PASSED: "has passed. To go on from its reward: {by_criteria}, or {by_wish}; "
    "or begin another session: {create}.",
    SessionStatus.COMPLETED: "has trained the reward it was made for. "
    "To train another, begin another session: {create}.",
    SessionStatus.MAX_ITERATIONS: "has used up its {limit} iterations. To go on: {add_iterations}; "
    "or begin another session: {create}.",
}


@dataclass(frozen=True, slots=True)
class Submission:
    """Reward submitted by a caller."""

    source: str | None
    """Source of the reward; None asks the session's author to write it."""
    reasoning: str = ""
    """Reasoning behind the reward; for a later reward, the diagnosis."""
    config_changes: Mapping[str, object] = field(default_factory=dict)
    """Configuration changes, added to those of the reward that it was changed from; None takes a field back."""
    lesson: str = ""
    """Lesson of the judged iteration; empty takes the missed criteria."""
    based_on: int | None = None
    """Iteration whose reward was changed; None finds the most similar one."""


def submit_reward(
    ws: Workspace,
    session_id: str,
    source: str | None = None,
    reasoning: str = "",
    config_changes: Mapping[str, object] | None = None,
) -> DraftReport:
    """Check the reward of the next training and save it with its report, accepted or not.

    It takes the place of one that is not trained. After an iteration that was trained and judged it opens the
    next one, and what changed is recorded as the revision of the judged one.

    Args:
        session_id: Whose.
        source: Text of the reward, at most 64 kB; None has the session's author write it, as its loop would.
        reasoning: Why it is as it is.
        config_changes: Fields of `TrainConfig` it is to be trained with, on top of those that the reward it was
            changed from asked for.

    Raises:
        InvalidInput: the source is too long or no text; or something has to happen first, which the message names.
        InvalidConfig: `config_changes` asks for what an author may not choose.
        UnknownPhrase: the built-in author, asked to write, does not understand the sentence.
    """
    return hand_in(ws, session_id, Submission(source, reasoning, config_changes or {}))


def hand_in(ws: Workspace, session_id: str, given: Submission) -> DraftReport:
    """Like `submit_reward`, with the fields of a revision."""
    _check_text(given.source)
    record = ws.record(session_id)
    with record.exclusive():
        session = record.read_session()
        refuse_fixed(session, given.config_changes)
        number = _number_to_write(ws, record, session)
        intent = elicit_intent(ws, record.session_id)
        based_on = None
        if given.source is None:
            draft = _have_written(ws, record, number, intent)
        else:
            based_on = _based_on(record, number, given.source, given.based_on) if number > 1 else None
            inherited = _inherited(record, number, given, based_on)
            changes = {**canonical_names(inherited), **canonical_names(given.config_changes)}
            draft = RewardDraft(source=given.source, config_changes=changes, reasoning=given.reasoning.strip())
        # Refused before anything is deleted for it.
        require_trainable(environment_of(ws, session, intent), run_configs(session, draft).values())
        end_training(ws, record.iteration(number))  # of a job that was lost, runs may go on
        candidates = CandidateRecords(record.iteration(number))
        for directory in (record.iteration(number).check_dir, *candidates.job_dirs()):
            end_job(ws, directory)  # of a caller that was killed
        candidates.forget_choice()
        record.iteration(number).forget_reward()
        by_builtin = given.source is None and session.author == "builtin"
        report = try_draft(ws, record, number, lambda: draft, to_mend=not by_builtin)
        if not report.accepted:
            record.events.emit(EventName.REWARD_ERROR, number, errors=list(report.errors))
        if based_on is not None:
            _record_revision(record, number - 1, based_on, given, report)
        if (status := record.read_status()) is not None and status.status.finished:
            record.set_status(SessionStatus.PENDING)  # it was stopped or had failed, and goes on
        config = effective_config(session_for(record, number), draft)
        return DraftReport(
            iteration=number, report=report, source=draft.source, config=config, start=_start(record, number, based_on)
        )


def check_reward_source(
    ws: Workspace, session_or_env: str, source: str, *, probe: bool = False, prompt: str = ""
) -> RewardReport:
    """Try a reward on real transitions without saving it.

    Args:
        session_or_env: Id of a session, whose configuration and criteria then count, or of an environment.
        source: Text of the reward, at most 64 kB.
        probe: Whether it is trained for some seconds too, where it is accepted.
        prompt: A sentence whose criteria count; empty takes those of the session.

    Raises:
        InvalidInput: the source is too long or no text.
        UnknownName: there is neither a session nor an environment of this id.
        UnknownPhrase: `prompt` is not understood.
        TrainingFailed: the probe did not reach its end.
    """
    _check_text(source)
    session: NewSession
    if session_or_env == session_or_env.lower() and "/" not in session_or_env:  # environments have capitals
        session = ws.record(find_session(ws, session_or_env)).read_session()
    else:
        session = completed(ws, NewSession(env_id=session_or_env, author="given"))
    draft = RewardDraft(source=source)
    intent = ws.record(session.session_id).read_criteria() if isinstance(session, Session) else None
    if prompt:
        intent = ws.author("builtin").elicit(prompt.strip(), environment_of(ws, session))
    directory = ws.runs.trial_dir()
    try:
        report = check_reward(ws, directory / "check", session, draft, intent)
        return probed(ws, directory / "probe", session, draft, intent, report) if probe else report
    finally:
        files.discard(directory)


def _why_over(status: SessionStatus, session: Session) -> str:
    """Reason why a session accepts no reward any more, and how to continue."""
    name = session.session_id
    return OVER[status].format(
        limit=session.max_iterations,
        by_criteria=Remedy.EXTEND_BY_CRITERIA.of(session=name),
        by_wish=Remedy.EXTEND_BY_WISH.of(session=name),
        add_iterations=Remedy.ADD_ITERATIONS.of(session=name),
        create=Remedy.CREATE.of(),
    )


def _number_to_write(ws: Workspace, record: SessionRecord, session: Session) -> int:
    """Iteration that currently accepts a reward."""
    name = record.session_id
    status = record.read_status()
    iterations = record.iteration_records()
    if status is not None and status.status in OVER:
        raise InvalidInput(f"{name} {_why_over(status.status, session)}")
    if (job := live_training(record, ws.backend)) is not None:
        raise Busy(
            f"Iteration {len(iterations)} of {name} is being trained by {job}. Wait for it "
            f"({Remedy.FOLLOW_JOB.of(job=job)}), or end it ({Remedy.CANCEL_JOB.of(job=job)}), before submitting "
            "another reward."
        )
    if view_session(ws, name).alive:
        raise Busy(
            f"{name} is driven by another process. Stop it ({Remedy.STOP.of(session=name)}) before writing rewards."
        )
    if not iterations:
        return 1
    newest = iterations[-1]
    if newest.read_aggregation() is None:
        return newest.number
    if newest.read_judgment() is None:
        raise InvalidInput(
            f"Iteration {newest.number} of {name} is trained and not judged yet. Judge it first: "
            f"{Remedy.JUDGE.of(session=name, iteration=newest.number)} shows what there is to judge, "
            f"{Remedy.SUBMIT_JUDGMENT.of(session=name)} takes the verdict."
        )
    if not session.prompt or newest.number >= session.max_iterations:
        kind = SessionStatus.MAX_ITERATIONS if session.prompt else SessionStatus.COMPLETED
        raise InvalidInput(f"{name} {_why_over(kind, session)}")
    return newest.number + 1


def _have_written(ws: Workspace, record: SessionRecord, number: int, intent: Intent | None) -> RewardDraft:
    """Let the session's own author write the reward."""
    if intent is None:
        raise InvalidInput(f"{record.session_id} has no sentence to write a reward for: submit its source.")
    begun = record.iteration(number)
    if number == 1 and begun.read_reward_report() is None and (draft := begun.read_draft()) is not None:
        return draft  # an extension whose reward nobody has checked yet
    if number > 1:
        record.iteration(number - 1).forget_revision()
        revise(ws, record.session_id, number - 1)
    return draft_reward(ws, record, number)


def _start(record: SessionRecord, number: int, based_on: int | None) -> StartDecision | None:
    """What its training goes on from, as the built-in author decided; what its caller is proposed, otherwise."""
    if number == 1:
        return None
    draft = record.iteration(number).read_draft()
    if based_on is not None and draft is not None:
        return decide_start(record, based_on, draft.source, draft.config_changes)
    revision = record.iteration(number - 1).read_revision()
    return revision.start if revision is not None else None


def _record_revision(
    record: SessionRecord, number: int, based_on: int, given: Submission, report: RewardReport
) -> None:
    """Save the changes of a submitted reward as a revision."""
    iteration = record.iteration(number)
    judgment = record.iteration(number).read_judgment()
    old = record.iteration(based_on).read_draft()
    new = record.iteration(number + 1).read_draft()
    if judgment is None or old is None or new is None:
        raise P2PError(f"Iteration {number} of {record.session_id} lacks its judgment, or a reward to compare.")
    before = record.iteration(based_on).read_reward_report()
    with record.events.span(EventName.REVISE_START, EventName.REVISE_END, number) as result:
        changes = changes_between(old, new, before, report, given.reasoning)
        iteration.save_revision(
            Revision(
                based_on=based_on,
                diagnosis=given.reasoning.strip() or judgment.diagnosis,
                lesson=given.lesson.strip() or lesson_of(judgment, number),
                changes=changes[:MAX_CHANGES],
                source=new.source,
                config_changes=new.config_changes,
            )
        )
        result |= {"changes": [f"{change.kind} {change.name}" for change in changes], "based_on": based_on}


def lesson_of(judgment: Judgment, number: int) -> str:
    """Lesson of an iteration, in one sentence."""
    score = "no score" if judgment.intent_score is None else f"score {score_in_words(judgment.intent_score)}"
    missed = []
    for criterion in judgment.criteria:
        if criterion.met:
            continue
        how = "not measured" if criterion.value is None else f"measured {criterion.value:.3g}"
        missed.append(f"{criterion.title} ({'by eyes' if criterion.by_eyes else how})")
    reasons = [f"missed: {', '.join(missed)}"] if missed else []
    reasons += [judgment.without_missed] if judgment.without_missed else []
    why = "; ".join(reasons) or "every criterion was met"
    return f"Iteration {number}: {score}; {why.rstrip('.')}."


def _based_on(record: SessionRecord, number: int, source: str, given: int | None) -> int:
    """Judged iteration whose reward was changed: as given, or the most similar; the latest among equals."""
    judged = range(1, number)
    if given is not None:
        if given not in judged:
            raise InvalidInput(f"based_on names a judged iteration, 1 … {number - 1}, got {given}.")
        return given
    return max(judged, key=lambda n: (common_share(record.iteration(n).read_reward_source(), source), n))


def _inherited(record: SessionRecord, number: int, given: Submission, based_on: int | None) -> Mapping[str, object]:
    """Configuration changes of the reward that was edited: the untrained one that is replaced, or a judged one.

    A judged one counts where the caller names it, or where more of its lines are left.
    """
    source = given.source or ""
    replaced = record.iteration(number).read_draft()
    if replaced is not None and given.based_on is None:
        least = SAME if based_on is None else common_share(record.iteration(based_on).read_reward_source(), source)
        if common_share(replaced.source, source) >= least:
            return replaced.config_changes
    return attempt(record, based_on).config_changes if based_on is not None else {}


def _check_text(source: str | None) -> None:
    """Refuse a text that cannot be saved in a file."""
    if source is None:
        return
    try:
        size = len(source.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"The source is not text: the character at {error.start} is half of a surrogate pair. "
            "Send it as UTF-8, without binary data."
        ) from error
    if size > MAX_SOURCE:
        raise InvalidInput(
            f"The source has {size} bytes; a reward has at most {MAX_SOURCE}. "
            "Rewards compute from features, and hold no tables or data."
        )
