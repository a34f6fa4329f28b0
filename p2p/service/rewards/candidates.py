"""Several rewards for one iteration: write and check each, train it for a short time, choose one."""

from collections.abc import Callable

from p2p.contracts.errors import InvalidConfig, InvalidInput
from p2p.contracts.inference import ModelProblem, ModelRefused, ReplyMalformed, ReplyTruncated
from p2p.contracts.job import JobState
from p2p.contracts.protocols import CandidateAuthor, Repairer
from p2p.contracts.reward import (
    Candidate,
    CandidateChoice,
    CandidatePlace,
    CandidateState,
    RewardDraft,
    RewardIssue,
    RewardReport,
)
from p2p.contracts.session import EventName
from p2p.service.jobs.worker_jobs import worker_job
from p2p.service.models.session_models import steps_done
from p2p.service.rewards.authors import author_of
from p2p.service.rewards.trials import (
    FEWEST,
    TrialSteps,
    affordable,
    best_of,
    described,
    measured,
    steps_of,
    trial_config,
)
from p2p.service.rewards.variants import settled
from p2p.service.rewards.writing import check_reward, draft_reward, elicit_intent
from p2p.service.training.aggregation import run_result
from p2p.service.training.environments import environment_of
from p2p.service.training.iteration import plan_runs
from p2p.service.training.plan import session_for
from p2p.service.workspace import Workspace
from p2p.store.iterations import CandidateRecords, IterationRecord, save_inputs
from p2p.store.sessions import SessionRecord
from p2p.training.trainer import Trainer

NO_ANSWER = (ModelRefused, ReplyMalformed, ReplyTruncated)
"""After these a candidate is missing, and the others go on."""


def choose_reward(ws: Workspace, session_id: str, number: int) -> CandidateChoice | None:
    """Write the candidate rewards of iteration `number`, and make the best one its reward.

    What an earlier call has written, checked or trained is not done again. The chosen one may have been refused by
    its check, where all were.

    Returns:
        All of them; None where one is written for each iteration, or the iteration has its reward.

    Raises:
        ModelProblem: the model gave no answer that could be used for any of them.
        BudgetExceeded: writing one would cost more than the session may.
    """
    record = ws.record(session_id)
    session = record.read_session()
    iteration = record.iteration(number)
    if session.candidates == 1 or iteration.read_draft() is not None:
        return None
    kept = CandidateRecords(iteration)
    choice = kept.read_choice()
    if choice is None:
        record.events.emit_once(EventName.ITERATION_STARTED, number, iter_id=iteration.iteration_id)
        missing = write_candidates(ws, record, number)
        _train_some(ws, record, number)
        choice = _choice(record, number, missing)
        kept.save_choice(choice)
    chosen = kept.present(choice.chosen)
    draft = chosen.read_draft()
    report = chosen.read_reward_report()
    assert draft is not None, "a candidate that was chosen has been written"
    assert report is not None, "a candidate that was chosen has been checked"
    if report.spec is not None:
        iteration.save_reward_spec(report.spec)
    iteration.save_reward_report(report)
    iteration.save_draft(settled(record, number, draft) if report.accepted else draft)  # last: it marks the rest
    return choice


def _train_some(ws: Workspace, record: SessionRecord, number: int) -> None:
    """Train accepted candidates for a short time, within the session's cap; a single one is not trained."""
    session = record.read_session()
    iteration = record.iteration(number)
    kept = CandidateRecords(iteration)
    drafts: dict[int, RewardDraft] = {}
    for index in range(1, session.candidates + 1):
        report = kept.present(index).read_reward_report()
        draft = kept.present(index).read_draft()
        if report is not None and report.accepted and draft is not None:
            drafts[index] = draft
    cap = session.caps.environment_steps
    left = None if cap is None else cap - steps_done(record)
    wanted = {index: steps_of(session, draft) for index, draft in drafts.items()}
    paid = [index for index in drafts if kept.run(index, session.seeds[0]).read_summary() is not None]
    wanted |= {index: TrialSteps(trial=0, whole=wanted[index].whole) for index in paid}
    chosen = affordable(wanted, left)
    if len(chosen) < FEWEST:
        return
    intent = record.read_criteria()
    spec = environment_of(ws, session, intent)
    runs: list[IterationRecord] = []
    for index in chosen:
        run = kept.run(index, session.seeds[0])
        if run.read_config() is None:
            config = trial_config(session_for(record, number), drafts[index])
            save_inputs(run, drafts[index].source, spec, config, intent)
        status = run.read_status()
        # a training that failed by its own error would repeat it; one that was killed is tried again
        failed = status is not None and status.state is JobState.FAILED and status.signal is None
        if not failed:
            runs.append(run)
    if not runs:
        return
    configs, plan = plan_runs(ws, runs)
    steps = configs[0].total_timesteps
    iteration.save_plan(plan.model_copy(update={"candidate_steps": steps}))
    told = {"num_runs": len(runs), "total_timesteps": steps}
    with record.events.span(EventName.CANDIDATES_START, EventName.CANDIDATES_END, number, **told) as result:
        job = worker_job("train", plan.threads, ws.settings.max_memory_share, session.priority)
        Trainer(ws.training_backend, job, plan.parallel, record.touch_heartbeat).train(runs)
        result |= {"num_runs": len(runs), "chosen": _choice(record, number, {}).chosen}


def _choice(record: SessionRecord, number: int, missing: dict[int, ModelProblem]) -> CandidateChoice:
    """Results of all candidates, and the best one."""
    session = record.read_session()
    kept = CandidateRecords(record.iteration(number))
    found = []
    for index in range(1, session.candidates + 1):
        draft = kept.present(index).read_draft()
        report = kept.present(index).read_reward_report()
        if draft is None or report is None:
            unwritten = CandidateState.UNWRITTEN
            found.append(Candidate(number=index, state=unwritten, problem=str(missing.get(index, ""))))
            continue
        mended = kept.present(index).path != kept.first(index).path
        candidate = described(index, draft, report, mended=mended)
        run = kept.run(index, session.seeds[0])
        trained = run.read_config() is not None
        found.append(measured(candidate, run_result(run), run.read_summary()) if trained else candidate)
    if sum(one.state not in (CandidateState.REFUSED, CandidateState.UNWRITTEN) for one in found) >= FEWEST:
        left_out = {"state": CandidateState.NO_ROOM}  # accepted and not trained: the session's cap left no room
        found = [one.model_copy(update=left_out) if one.state is CandidateState.ACCEPTED else one for one in found]
    return CandidateChoice(chosen=best_of(found).number, candidates=tuple(found))


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
    spec = environment_of(ws, record.read_session(), intent)
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
    written = author.write_candidate(intent, environment_of(ws, session, intent), place)
    if place.revision is not None:
        base = draft_reward(ws, record, place.iteration)
        changes = {**base.config_changes, **written.config_changes}
        written = written.model_copy(update={"config_changes": changes, "variants": base.variants})
    return written
