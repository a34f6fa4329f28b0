"""Several rewards for one iteration: train each for a short time and choose one."""

from collections.abc import Sequence

from p2p.contracts.inference import ModelProblem
from p2p.contracts.job import JobState
from p2p.contracts.reward import Candidate, CandidateChoice, CandidateState, RewardDraft
from p2p.contracts.session import EventName
from p2p.service.jobs.worker_jobs import worker_job
from p2p.service.models.session_models import steps_done
from p2p.service.rewards.candidate_writing import write_candidates
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
from p2p.service.training.aggregation import run_result
from p2p.service.training.environments import describe_environment
from p2p.service.training.iteration import plan_runs
from p2p.service.training.plan import session_for
from p2p.service.workspace import Workspace
from p2p.store.iterations import CandidateRecords, IterationRecord, save_inputs
from p2p.store.sessions import SessionRecord
from p2p.training.trainer import Trainer


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
    _take(record, number, kept.present(choice.chosen))
    return choice


def _train_some(ws: Workspace, record: SessionRecord, number: int) -> None:
    """Train accepted candidates for a short time, within the session's cap; a single one is not trained."""
    session = record.read_session()
    iteration = record.iteration(number)
    kept = CandidateRecords(iteration)
    drafts = {index: draft for index in _accepted(record, number) if (draft := kept.present(index).read_draft())}
    cap = session.caps.environment_steps
    left = None if cap is None else cap - steps_done(record)
    wanted = {index: steps_of(session, draft) for index, draft in drafts.items()}
    paid = [index for index in drafts if kept.run(index, session.seeds[0]).read_summary() is not None]
    wanted |= {index: TrialSteps(trial=0, whole=wanted[index].whole) for index in paid}
    chosen = affordable(wanted, left)
    if len(chosen) < FEWEST:
        return
    runs = [_prepared(ws, record, number, index, drafts[index]) for index in chosen]
    runs = [run for run in runs if not _failed(run)]
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


def _prepared(ws: Workspace, record: SessionRecord, number: int, index: int, draft: RewardDraft) -> IterationRecord:
    """Short training of a candidate, with its inputs written."""
    session = session_for(record, number)
    intent = record.read_criteria()
    run = CandidateRecords(record.iteration(number)).run(index, session.seeds[0])
    if run.read_config() is None:
        spec = describe_environment(ws, session.env_id)
        save_inputs(run, draft.source, spec, trial_config(session, draft), intent)
    return run


def _take(record: SessionRecord, number: int, chosen: IterationRecord) -> None:
    """Make a candidate the reward of its iteration; the draft comes last and marks it complete."""
    iteration = record.iteration(number)
    draft = chosen.read_draft()
    report = chosen.read_reward_report()
    assert draft is not None, "a candidate that was chosen has been written"
    assert report is not None, "a candidate that was chosen has been checked"
    if report.spec is not None:
        iteration.save_reward_spec(report.spec)
    iteration.save_reward_report(report)
    iteration.save_draft(settled(record, number, draft) if report.accepted else draft)


def _accepted(record: SessionRecord, number: int) -> Sequence[int]:
    """Numbers of the accepted candidates."""
    kept = CandidateRecords(record.iteration(number))
    reports = {n: kept.present(n).read_reward_report() for n in range(1, record.read_session().candidates + 1)}
    return [index for index, report in reports.items() if report is not None and report.accepted]


def _failed(run: IterationRecord) -> bool:
    """Whether a short training failed by its own error, which a retry would repeat."""
    status = run.read_status()
    return status is not None and status.state is JobState.FAILED and status.signal is None


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
        found.append(_trained(described(index, draft, report, mended=mended), kept.run(index, session.seeds[0])))
    if sum(one.state not in (CandidateState.REFUSED, CandidateState.UNWRITTEN) for one in found) >= FEWEST:
        found = [_left_out(one) for one in found]
    return CandidateChoice(chosen=best_of(found).number, candidates=tuple(found))


def _trained(candidate: Candidate, run: IterationRecord) -> Candidate:
    if run.read_config() is None:
        return candidate
    return measured(candidate, run_result(run), run.read_summary())


def _left_out(candidate: Candidate) -> Candidate:
    """Candidate marked as not compared, because the session's cap left no room."""
    without = candidate.state is CandidateState.ACCEPTED
    return candidate.model_copy(update={"state": CandidateState.NO_ROOM}) if without else candidate
