"""Write several different rewards for one iteration; check each and repair it once."""

from collections.abc import Callable

from p2p.contracts.errors import InvalidConfig, InvalidInput
from p2p.contracts.inference import ModelProblem, ModelRefused, ReplyMalformed, ReplyTruncated
from p2p.contracts.protocols import CandidateAuthor, Repairer
from p2p.contracts.reward import CandidatePlace, RewardDraft, RewardIssue, RewardReport
from p2p.contracts.session import EventName
from p2p.service.rewards.authors import author_of
from p2p.service.rewards.variants import settled
from p2p.service.rewards.writing import check_reward, draft_reward, elicit_intent
from p2p.service.training.environments import describe_environment
from p2p.service.workspace import Workspace
from p2p.store.iterations import CandidateRecords, IterationRecord
from p2p.store.sessions import SessionRecord

NO_ANSWER = (ModelRefused, ReplyMalformed, ReplyTruncated)
"""After these a candidate is missing, and the others go on."""


def write_candidates(ws: Workspace, record: SessionRecord, number: int) -> dict[int, ModelProblem]:
    """Write and check every candidate; repair refused ones once.

    What an earlier call has written or checked is not done again.

    Returns:
        Candidate -> why the model did not write it.

    Raises:
        ModelProblem: it wrote none.
    """
    count = record.read_session().candidates
    before = record.iteration(number - 1).read_revision() if number > 1 else None
    missing: dict[int, ModelProblem] = {}
    for index in range(1, count + 1):
        place = CandidatePlace(iteration=number, number=index, count=count, revision=before)
        try:
            _write_one(ws, record, place)
        except NO_ANSWER as problem:
            missing[index] = problem
    kept = CandidateRecords(record.iteration(number))
    if not any(kept.first(index).read_reward_report() for index in range(1, count + 1)):
        raise missing[min(missing)]
    return missing


def _write_one(ws: Workspace, record: SessionRecord, place: CandidatePlace) -> None:
    number = place.iteration
    kept = CandidateRecords(record.iteration(place.iteration))
    first = kept.first(place.number)
    mended = kept.mended(place.number)
    report = _tried(ws, record, place, first, lambda: _candidate(ws, record, place))
    author = author_of(ws, record)
    intent = record.read_criteria()
    draft = first.read_draft()
    if report.accepted or intent is None or draft is None or not isinstance(author, Repairer):
        return
    if mended.read_reward_report() is None:
        record.events.emit(EventName.REWARD_ERROR, number, errors=list(report.errors), candidate=place.number)
    spec = describe_environment(ws, record.read_session().env_id)
    _tried(ws, record, place, mended, lambda: author.repair(intent, spec, draft, report))


def _tried(
    ws: Workspace, record: SessionRecord, place: CandidatePlace, kept: IterationRecord, write: Callable[[], RewardDraft]
) -> RewardReport:
    """Check report of the reward in `kept`, written and checked first if necessary."""
    if (known := kept.read_reward_report()) is not None:
        return known
    number = place.iteration
    session = record.read_session()
    events = (EventName.REWARD_START, EventName.REWARD_END)
    with record.events.span(*events, number, candidate=place.number) as result:
        kept.save_draft(draft := kept.read_draft() or write())
        try:
            kept.save_draft(draft := settled(record, number, draft))
            report = check_reward(ws, kept.check_dir, session, draft, record.read_criteria())
        except InvalidConfig as error:
            report = RewardReport(spec=None, issues=(RewardIssue(severity="error", message=str(error)),))
        if report.spec is not None:
            kept.save_reward_spec(report.spec)
        kept.save_reward_report(report)
        result |= {"candidate": place.number, "accepted": report.accepted}
    return report


def _candidate(ws: Workspace, record: SessionRecord, place: CandidatePlace) -> RewardDraft:
    """Draft of a candidate: the first follows the revision, the others are written to differ from it."""
    session = record.read_session()
    intent = elicit_intent(ws, record.session_id)
    author = author_of(ws, record)
    if place.revision is not None and place.number == 1:
        return draft_reward(ws, record, place.iteration)
    assert intent is not None, "a session without an intent brings its reward"
    if not isinstance(author, CandidateAuthor):
        raise InvalidInput(f"The author {session.author!r} writes one reward for each iteration.")
    written = author.write_candidate(intent, describe_environment(ws, session.env_id), place)
    if place.revision is not None:
        base = draft_reward(ws, record, place.iteration)
        changes = {**base.config_changes, **written.config_changes}
        written = written.model_copy(update={"config_changes": changes, "variants": base.variants})
    return written
