"""Background jobs that outlive their caller: trainings of an iteration, and whole sessions."""

import secrets
from collections.abc import Mapping

from p2p.contracts.background import JobKind, JobTicket, JobView, StartTraining, TrainingRequest
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import Busy, InvalidConfig, InvalidInput
from p2p.contracts.job import JobSpec, JobState
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import Priority, SessionStatus
from p2p.contracts.start_policy import FROM_ZERO, StartPolicy
from p2p.contracts.training import TrainConfig
from p2p.service.jobs.ending import end_job, end_training
from p2p.service.jobs.free_space import require_free_disk, require_free_memory
from p2p.service.jobs.waiting import in_turn, let_others_go
from p2p.service.jobs.worker_jobs import SINGLE_THREAD
from p2p.service.judging.report import run_report
from p2p.service.logs.job import keep_logs
from p2p.service.progress.job_views import get_job, settle, ticket_of
from p2p.service.progress.policies import find_policy
from p2p.service.progress.session_view import live_training
from p2p.service.sessions.driving import (
    choose_backend,
    discard_film,
    is_driven,
    job_settings,
    make_ready,
    set_priority,
    start_driver,
    stop_session,
)
from p2p.service.training.environments import describe_environment, environment_of
from p2p.service.training.iteration import configs_by_run, settled_aggregation, train
from p2p.service.training.plan import session_for
from p2p.service.training.requirements import require_trainable
from p2p.service.training.start_policies import (
    RESUMES_NOTHING,
    KeptPolicy,
    require_fit,
    require_same_interface,
    settle_start,
)
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.background import BackgroundRecord
from p2p.store.clock import now
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

MAX_SEED = 1000
TRAINING = ("{python}", "-m", "p2p.session.run_iteration")
"""Command of the process of a training job."""


def start_training(ws: Workspace, session_id: str, request: StartTraining | None = None) -> JobView:
    """Start the training of the newest iteration; return at once.

    A request that says nothing, or only where, goes on with what a lost job was asked for.

    Raises:
        UnknownName: there is no such backend.
        InvalidInput: no accepted reward waits to be trained, or it is being trained already.
        InvalidConfig: a field of the configurations, or a seed, is wrong.
    """
    start = request or StartTraining()
    with ws.jobs.starting():
        record = ws.record(session_id)
        if (known := _started_by_key(ws, JobKind.TRAINING, session_id, start.idempotency_key, start)) is not None:
            return known
        name = record.session_id
        iterations = record.iteration_records()
        iteration = iterations[-1] if iterations else None
        report = iteration.read_reward_report() if iteration is not None else None
        if iteration is None or report is None:
            raise InvalidInput(f"{name} has no reward to train yet: write one first ({Remedy.WRITE_REWARD.of()}).")
        if not report.accepted:
            raise InvalidInput(
                f"The reward of iteration {iteration.number} was refused: {'; '.join(report.errors)} "
                f"Correct it and submit it again: {Remedy.WRITE_REWARD.of()}"
            )
        shown = iteration.report.read_evaluation() is not None or iteration.read_judgment() is not None
        if settled_aggregation(iteration) is not None and shown:
            raise InvalidInput(
                f"Iteration {iteration.number} of {name} is trained already: judge it "
                f"({Remedy.JUDGE.of(session=name, iteration=iteration.number)}), or write the next reward "
                f"({Remedy.WRITE_REWARD.of()})."
            )
        if (busy := live_training(record, ws.backend)) is not None:
            raise Busy(f"Iteration {iteration.number} of {name} is being trained already, by {busy}.")
        status = record.read_status()
        if status is not None and status.status is SessionStatus.PASSED:
            raise InvalidInput(
                f"{name} has passed. To try something else, create another session: {Remedy.CREATE.of()}"
            )
        if is_driven(ws, record):
            raise Busy(
                f"{name} is driven by another process. Stop it before you train it by hand: "
                f"{Remedy.STOP.of(session=name)}"
            )
        told = _go_on_with(ws, iteration, start)
        chosen, policy = _policy_to_go_on_from(ws, record, iteration, told, anew=told is start)
        robot = environment_of(ws, record.read_session(), record.read_criteria())
        wanted = _training_configs(robot, record, iteration, told, policy)
        _require_fit(ws, record, chosen, policy, wanted)
        backend = choose_backend(ws, record, told.backend)
        set_priority(ws, session_id, told.priority)
        require_free_disk(ws)
        require_free_memory(ws, wanted.values(), robot, backend)
        _reopen(ws, record, iteration)
        if chosen is not None or policy is None:
            iteration.start_policy.discard()
        if chosen is not None:
            chosen.copy_to(iteration.start_policy, resume_optimizer=bool(told.resume_optimizer))
        _discard_stale_runs(ws, iteration, wanted)
        ticket = JobTicket(
            job_id=_claim_key(ws, JobKind.TRAINING, session_id, start.idempotency_key),
            kind=JobKind.TRAINING,
            session_id=session_id,
            iteration=iteration.number,
            asked=start.digest(),
            total=sum(config.total_timesteps for config in wanted.values()),
            created_at=now(),
        )
        iteration.save_training_request(TrainingRequest(job_id=ticket.job_id, start=told, configs=wanted))
        job = ws.jobs.new(ticket.job_id)
        job.save_ticket(ticket)
        spec = JobSpec(
            argv=(*TRAINING, "--job-id", ticket.job_id, "--runs-dir", str(ws.runs.path)),
            env=job_settings(ws) | {"P2P_BACKEND": backend} | SINGLE_THREAD,
            secrets=ws.variables_to_reach(backend),
        )
        ws.background.submit(in_turn(ws, record, spec, trains_here=backend == "local"), job.path)
    keep_logs(ws, record)
    return get_job(ws, ticket.job_id)


def start_loop(
    ws: Workspace, session_id: str, idempotency_key: str | None = None, priority: Priority | None = None
) -> JobView:
    """Start or continue the driver of a session; return at once.

    Args:
        session_id: Which.
        idempotency_key: Two starts with the same key are one.
        priority: Of its trainings from now on, of a loop that runs already too; None leaves it.

    Raises:
        InvalidInput: the session has ended, or one of its iterations is being trained.
    """
    require_free_disk(ws)
    with ws.jobs.starting():
        record = ws.record(session_id)
        if (known := _started_by_key(ws, JobKind.SESSION, session_id, idempotency_key)) is not None:
            return known
        set_priority(ws, session_id, priority)
        driving = BackgroundRecord(record.driver_dir).read_ticket()
        if driving is not None and not get_job(ws, driving.job_id).state.finished:  # a session has one driver
            _claim_key(ws, JobKind.SESSION, session_id, idempotency_key, driving.job_id)
            return get_job(ws, driving.job_id)
        status = record.read_status()
        leaving = status is not None and status.status.finished  # such a driver drives nothing any more
        alive = is_driven(ws, record) and not leaving
        pending = status is None or status.status is SessionStatus.PENDING
        if not alive and (record.iteration_records() or not pending):
            make_ready(ws, record)
        job_id = _claim_key(ws, JobKind.SESSION, session_id, idempotency_key)
        ticket = JobTicket(job_id=job_id, kind=JobKind.SESSION, session_id=session_id, created_at=now())
        ws.jobs.new(job_id).save_ticket(ticket)
        BackgroundRecord(record.driver_dir).save_ticket(ticket)
        start_driver(ws, record, job_id)
    return get_job(ws, job_id)


def cancel_job(ws: Workspace, job_id: str) -> JobView:
    """End a job and every process it started; finished work is kept.

    Raises:
        UnknownName: there is no job of this id.
    """
    view = get_job(ws, job_id)
    if view.state.finished and view.state is not JobState.LOST:
        return view
    if view.kind is JobKind.SESSION:
        stop_session(ws, view.session_id)
    else:
        assert view.iteration is not None, "a training is of an iteration"
        iteration = ws.record(view.session_id).iteration(view.iteration)
        request = iteration.read_training_request()
        if request is not None and request.job_id == job_id:  # else another job has adopted the trainings
            end_training(ws, iteration)
        end_job(ws, ws.jobs.new(job_id).path)
    return get_job(ws, job_id)


def run_training(ws: Workspace, job_id: str) -> None:
    """Run a training job in its own process, when its turn has come: train, and record the report rollouts.

    Raises:
        P2PError: what stopped it.
    """
    ticket = ticket_of(ws, job_id)
    assert ticket.iteration is not None, "a training is of an iteration"
    _say(f"{ticket.session_id}, iteration {ticket.iteration}: training")
    reached = train(ws, ticket.session_id, ticket.iteration)
    let_others_go(ws.record(ticket.session_id))  # where nothing was left to train
    _say(f"trained; rollouts of {reached.best_run_id} at step {reached.best_checkpoint}")
    run_report(ws, ticket.session_id, ticket.iteration)
    _say("done")


def _started_by_key(
    ws: Workspace, kind: JobKind, session_id: str, key: str | None, start: StartTraining | None = None
) -> JobView | None:
    """Job started earlier with this key; None if there is none, or it was never saved.

    Raises:
        InvalidInput: it is bound to another request.
    """
    job_id = ws.jobs.claimed(f"{kind}/{session_id}/{key}") if key is not None else None
    ticket = ws.jobs.new(job_id).read_ticket() if job_id is not None else None
    if ticket is None:
        return None
    if ticket.asked != (start.digest() if start is not None else None):
        raise InvalidInput(
            f"The key {key!r} has started {ticket.job_id} with another request. Use a new key for a new request."
        )
    return get_job(ws, ticket.job_id)


def _claim_key(ws: Workspace, kind: JobKind, session_id: str, key: str | None, job_id: str | None = None) -> str:
    """Job id to start under a key: that of a caller who died before saving the job, or a new one."""
    own = job_id or f"job_{secrets.token_hex(16)}"
    return ws.jobs.claim(f"{kind}/{session_id}/{key}", own) if key is not None else own


def _go_on_with(ws: Workspace, iteration: IterationRecord, start: StartTraining) -> StartTraining:
    """Training request to run: the given one, or that of a lost job if none is given."""
    earlier = iteration.read_training_request()
    silent = start.model_copy(update={"idempotency_key": None, "backend": None, "priority": None}) == StartTraining()
    if earlier is None or not silent or ws.jobs.new(earlier.job_id).read_ticket() is None:
        return start
    if get_job(ws, earlier.job_id).state is not JobState.LOST:
        return start
    return earlier.start.model_copy(
        update={
            "backend": start.backend or earlier.start.backend,
            "priority": start.priority or earlier.start.priority,
        }
    )


def _policy_to_go_on_from(
    ws: Workspace, record: SessionRecord, iteration: IterationRecord, start: StartTraining, *, anew: bool
) -> tuple[KeptPolicy | None, StartPolicy | None]:
    """The policy that a caller chose, still to be copied, and what is gone on from; None from zero.

    Args:
        ws: The workspace.
        record: Of the session.
        iteration: To be trained.
        start: What its caller asks for.
        anew: Whether it is asked for now. A lost job goes on with what it had copied.
    """
    if start.resume_optimizer and start.from_policy in (None, FROM_ZERO):
        raise InvalidInput(RESUMES_NOTHING)
    if start.from_policy == FROM_ZERO:
        return None, None
    if start.from_policy is None or not anew:
        return None, settle_start(record, iteration)
    chosen = find_policy(ws, start.from_policy, record)
    return chosen, chosen.start(resume_optimizer=bool(start.resume_optimizer))


def _require_fit(
    ws: Workspace,
    record: SessionRecord,
    chosen: KeptPolicy | None,
    policy: StartPolicy | None,
    wanted: Mapping[str, TrainConfig],
) -> None:
    """Refuse a policy of another observation, action or network."""
    if policy is not None:
        require_fit(policy, wanted.values())
    if chosen is not None:
        spec = describe_environment(ws, record.read_session().env_id)
        require_same_interface(chosen, spec, next(iter(wanted.values())).env_kwargs)


def _training_configs(
    robot: EnvSpec, record: SessionRecord, iteration: IterationRecord, start: StartTraining, policy: StartPolicy | None
) -> dict[str, TrainConfig]:
    """Configuration of every run by its name; refuses what could only fail later."""
    seeds = start.seeds or ()
    wrong = [seed for seed in seeds if not 0 <= seed < MAX_SEED]
    if wrong:
        raise InvalidConfig(f"A training seed lies in 0 … {MAX_SEED - 1}, got {', '.join(map(str, wrong))}.")
    if len(set(seeds)) < len(seeds):
        raise InvalidConfig(f"Each training seed is trained once, got {', '.join(map(str, seeds))}.")
    draft = iteration.read_draft()
    assert draft is not None, "an accepted reward has a draft"
    wanted = configs_by_run(iteration, session_for(record, iteration.number), draft, start, policy)
    require_trainable(robot, wanted.values())
    return wanted


def _reopen(ws: Workspace, record: SessionRecord, iteration: IterationRecord) -> None:
    """Discard earlier ends: a previous training of the iteration, the driver's job, the session's end."""
    earlier = iteration.read_training_request()
    if earlier is not None:
        settle(ws, ws.jobs.new(earlier.job_id).read_ticket())
    settle(ws, BackgroundRecord(record.driver_dir).read_ticket())
    status = record.read_status()
    if status is None or status.status is not SessionStatus.PENDING:
        discard_film(ws, record)
        record.set_status(SessionStatus.PENDING)


def _discard_stale_runs(ws: Workspace, iteration: IterationRecord, wanted: Mapping[str, TrainConfig]) -> None:
    """Delete runs of another reward or configuration; matching runs continue."""
    draft = iteration.read_draft()
    assert draft is not None, "an accepted reward has a draft"
    for run in iteration.runs():
        same = run.iteration_id in wanted and run.read_config() == wanted[run.iteration_id]
        same = same and _files_of(run.start_policy.read()) == _files_of(iteration.start_policy.read())
        if not same or run.read_reward_source() != draft.source:
            end_job(ws, run.path)  # a lost job may have left it running
            files.discard(run.path)


def _files_of(start: StartPolicy | None) -> tuple[str, str] | None:
    """What a training's numbers depend on of the policy that it goes on from."""
    return None if start is None else (start.sha256, start.optimizer_sha256)


def _say(text: str) -> None:
    print(f"{now()} {text}", flush=True)
