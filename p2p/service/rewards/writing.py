"""Write the criteria of a session and the reward of an iteration."""

from collections.abc import Callable
from pathlib import Path

from p2p.analysis.config_audit import config_warnings
from p2p.contracts.errors import InvalidConfig, InvalidReward, TrainingFailed
from p2p.contracts.intent import Intent
from p2p.contracts.protocols import Repairer
from p2p.contracts.reward import RewardDraft, RewardIssue, RewardReport
from p2p.contracts.session import EventName, NewSession
from p2p.contracts.work import CheckRequest
from p2p.rewards.definitions import commanded
from p2p.service.jobs.worker_jobs import run_to_end
from p2p.service.rewards.authors import author_of
from p2p.service.rewards.variants import settled
from p2p.service.training.environments import environment_of
from p2p.service.training.plan import base_config, draft_with_commands, intent_with_commands
from p2p.service.training.requirements import require_trainable
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

MAX_REPAIRS = 5


def elicit_intent(ws: Workspace, session_id: str) -> Intent | None:
    """Fix the criteria of a session, once.

    Returns:
        The criteria, or None for a training without an intent.
    """
    record = ws.record(session_id)
    session = record.read_session()
    if (intent := record.read_criteria()) is not None or not session.prompt:
        return intent
    with record.settling():
        if (intent := record.read_criteria()) is not None:  # somebody else was first
            return intent
        intent = author_of(ws, record).elicit(session.prompt, environment_of(ws, session))
        record.save_criteria(intent_with_commands(intent, session.config))
    record.events.emit(EventName.INTENT_ELICITED, criteria=[criterion.title for criterion in intent.criteria])
    return intent


def write_reward(ws: Workspace, session_id: str, number: int) -> RewardReport:
    """Write the reward of iteration `number` and check it on real transitions.

    Raises:
        InvalidReward: it does not load or breaks its contract; nothing is trained.
    """
    record = ws.record(session_id)
    iteration = record.iteration(number)
    report = iteration.read_reward_report()
    if report is None:
        by_model = record.read_session().author != "builtin"
        report = try_draft(
            ws, record, number, lambda: iteration.read_draft() or draft_reward(ws, record, number), to_mend=by_model
        )
    report = repaired(ws, record, number, report)
    if not report.accepted:
        record.events.emit_once(EventName.REWARD_ERROR, number, errors=list(report.errors))
        raise InvalidReward("The reward cannot be trained:\n" + "\n".join(f"  {e}" for e in report.errors))
    return report


def try_draft(
    ws: Workspace, record: SessionRecord, number: int, write: Callable[[], RewardDraft], to_mend: bool = True
) -> RewardReport:
    """Write a reward, check it, and save it with its report in iteration `number`, accepted or not.

    Args:
        write: Writes it.
        to_mend: As in `check_reward`.
    """
    iteration = record.iteration(number)
    record.events.emit_once(EventName.ITERATION_STARTED, number, iter_id=iteration.iteration_id)
    with record.events.span(EventName.REWARD_START, EventName.REWARD_END, number) as result:
        draft = settled(record, number, write())
        iteration.save_draft(draft)
        report = check_reward(ws, iteration.check_dir, record.read_session(), draft, record.read_criteria(), to_mend)
        if report.spec is not None:
            iteration.save_reward_spec(report.spec)
        iteration.save_reward_report(report)
        result["code_lines"] = draft.source.count("\n")
    return report


def repaired(ws: Workspace, record: SessionRecord, number: int, report: RewardReport) -> RewardReport:
    """Report after the author's repairs of the reward, at most `MAX_REPAIRS`.

    It comes back as it is where nothing is held against it, or the author mends nothing.
    """
    intent = record.read_criteria()
    iteration = record.iteration(number)
    session = record.read_session()
    for tries in range(MAX_REPAIRS):
        author = author_of(ws, record)
        draft = iteration.read_draft()
        done = report.accepted and (tries > 0 or not report.to_mend)  # what stops nothing is mended once at most
        if done or intent is None or draft is None or not isinstance(author, Repairer):
            break
        if not report.accepted:
            record.events.emit(EventName.REWARD_ERROR, number, errors=list(report.errors))
        mended = author.repair(intent, environment_of(ws, session, intent), draft, report)
        iteration.forget_reward()  # its check is a job, which is done once
        report = try_draft(ws, record, number, lambda mended=mended: mended)  # type: ignore[misc]
    return report


def check_reward(
    ws: Workspace,
    directory: Path,
    session: NewSession,
    draft: RewardDraft,
    intent: Intent | None,
    to_mend: bool = True,
) -> RewardReport:
    """Check a reward on real transitions, in a job of its own in `directory`.

    Args:
        directory: Of the job.
        session: With whose configuration.
        draft: The reward.
        intent: What it is held against; None where there are no criteria.
        to_mend: Whether somebody mends it, where it pays more for what was not asked: else it is only warned of.

    Raises:
        InvalidConfig: the configuration it asks for is wrong.
    """
    config = base_config(session, draft_with_commands(draft, session, intent))
    spec = commanded(environment_of(ws, session), config.commands)
    require_trainable(spec, [config])
    check = IterationRecord(directory)
    check.save_env_spec(spec)
    check.save_reward_source(draft.source)
    check.save_check_request(
        CheckRequest(
            terminate_when_unhealthy=config.terminate_when_unhealthy,
            env_kwargs=config.env_kwargs,
            side_info=config.side_info,
            intent=intent,
            refuse_wrong_preferences=to_mend and session.author != "given",
        )
    )
    run_to_end(ws.backend, "check", check.path)
    report = check.read_reward_report()
    if report is None:
        raise TrainingFailed(f"The check of {draft.source[:40]!r}… wrote no report; see {check.path}.")
    notes = [RewardIssue(severity="warning", message=text) for text in config_warnings(draft.source, config, spec)]
    if config.curriculum is not None and report.spec is not None:
        try:
            config.curriculum.require_terms(tuple(term.name for term in report.spec.terms))
        except InvalidConfig as error:
            notes.append(RewardIssue(severity="error", message=str(error)))
    return report.model_copy(update={"issues": (*report.issues, *notes)})


def draft_reward(ws: Workspace, record: SessionRecord, number: int) -> RewardDraft:
    """Draft of the next reward: the first from the author, each later one from the previous revision."""
    session = record.read_session()
    if number == 1:
        intent = elicit_intent(ws, session.session_id)
        assert intent is not None, "a session without an intent brings its reward"
        return author_of(ws, record).write(intent, environment_of(ws, session, intent))
    revision = record.iteration(number - 1).read_revision()
    assert revision is not None, f"iteration {number - 1} has not been revised"
    return RewardDraft(
        source=revision.source,
        config_changes=revision.config_changes,
        reasoning=revision.diagnosis,
        variants=revision.variants,
    )
