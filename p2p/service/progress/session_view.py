"""Summary of a session, read from its directory alone."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from p2p.analysis.early_hint import early_hint
from p2p.contracts.background import JobTicket, TrainingRequest
from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobState, JobStatus, Waiting, WaitsFor
from p2p.contracts.judgment import Judgment
from p2p.contracts.protocols import Backend
from p2p.contracts.session import Artefacts, FilmProgress, RunProgress, Session, SessionStatus, SessionView
from p2p.contracts.training import TrainConfig
from p2p.contracts.training_plan import TrainingPlan
from p2p.service.jobs.processes import process_of
from p2p.service.jobs.time_left import judging_time, training_time_left
from p2p.service.jobs.waiting import shared_wait, waiting_of
from p2p.service.jobs.worker_jobs import failure_message, last_line
from p2p.service.progress.lineage import best_iteration
from p2p.service.workspace import Workspace
from p2p.store.background import BackgroundDirectory, BackgroundRecord
from p2p.store.iterations import CandidateRecords, IterationRecord
from p2p.store.sessions import SessionRecord

MAX_RETURNS = 60
ENDED = tuple(str(state) for state in JobState if state.finished)
ACTIVE = tuple(str(state) for state in JobState if not state.finished)
LABELS = ("median", "p90", "p10")


def view(record: SessionRecord, backend: Backend) -> SessionView:
    """State of a session, its current iteration and its best one."""
    session = record.read_session()
    status = record.read_status()
    intent = record.read_criteria()
    iterations = record.iteration_records()
    judgments = {n: j for n, it in enumerate(iterations, 1) if (j := it.read_judgment()) is not None}
    best = best_iteration(judgments)
    history = record.read_history()
    driver = job_status(record.driver_dir, backend)
    state = status.status if status is not None else SessionStatus.PENDING
    driven = driver is not None and not driver.state.finished
    training = _training(record, backend)
    trained_now = training is not None and not training.state.finished
    by_caller = _is_by_caller(session, state, iterations) and not driven
    trained = iterations[-1].runs() if iterations else []
    if iterations and not trained and iterations[-1].read_draft() is None:
        trained = CandidateRecords(iterations[-1]).runs()  # while there is no reward: short trainings of candidates
    runs = tuple(run_progress(run, backend) for run in trained)
    waiting = _waiting(record, driver if driven else training, driven, runs) if driven or trained_now else None
    told = state  # liveness comes from the locks, not from status.json
    if (by_caller and trained_now) or (state is SessionStatus.RUNNING and (driven or trained_now)):
        told = SessionStatus.RUNNING if waiting is None else SessionStatus.WAITING
    elif state is SessionStatus.RUNNING:
        told = SessionStatus.INTERRUPTED
    if by_caller and training is not None and training.state is JobState.LOST:
        told = SessionStatus.INTERRUPTED if iterations[-1].read_aggregation() is None else told
    error = status.error if status is not None else None
    if by_caller:
        error = None
        if training is not None and training.state is JobState.FAILED and iterations[-1].read_aggregation() is None:
            error = failure_message(training)
    plan = iterations[-1].read_plan() if iterations else None
    film = None
    if (film_job := job_status(record.film_dir, backend)) is not None:
        held_up = waiting_of(film_job, WaitsFor.FILM)
        film_state = JobState.WAITING if held_up is not None else film_job.state
        film = FilmProgress(state=film_state, waiting=held_up, error=last_line(film_job.error) or None)
    return SessionView(
        session=session,
        status=told,
        error=error,
        alive=driven or trained_now,
        waiting=waiting,
        by_caller=by_caller,
        iteration=len(iterations),
        step="done" if state.finished else _step(session, iterations, intent is not None),
        runs=runs,
        plan=plan,
        remaining_s=_until_verdict_s(record, plan, runs, backend) if plan is not None else None,
        criteria=intent.criteria if intent is not None else (),
        best_iteration=best,
        judgment=judgments.get(best) if best is not None else None,
        history=history.iterations if history is not None else (),
        artefacts=_artefacts(record, best, judgments),
        film=film,
        settings_changes=record.read_settings_changes(),
        metadata=record.read_metadata(),
    )


def _is_by_caller(session: Session, state: SessionStatus, iterations: Sequence[IterationRecord]) -> bool:
    """Whether the caller requests each step.

    Whoever starts a driver writes so into the status first, so a session whose driver died never looks like this. A
    reward handed in at a terminal is there before its driver is started; its training is requested by no caller then.
    """
    if state is not SessionStatus.PENDING or not iterations:
        return False
    if session.extends is not None and len(iterations) == 1 and iterations[0].read_reward_report() is None:
        return False  # its first reward came with it
    return session.author != "given" or iterations[-1].read_training_request() is not None


def _waiting(record: SessionRecord, job: JobStatus | None, driven: bool, runs: Sequence[RunProgress]) -> Waiting | None:
    """Reason why an active session waits; None while a part of it makes progress."""
    ticket = BackgroundRecord(record.driver_dir).read_ticket() if driven else _training_ticket(record)
    own = waiting_of(job, WaitsFor.TURN, ticket.created_at if ticket is not None else None)
    return own or shared_wait([run.waiting for run in runs if run.state in ACTIVE])


def live_training(record: SessionRecord, backend: Backend) -> str | None:
    """Id of the live job that trains the newest iteration for its caller; None without one."""
    request = _training_request(record)
    status = _training(record, backend)
    return request.job_id if request is not None and status is not None and not status.state.finished else None


def run_progress(run: IterationRecord, backend: Backend) -> RunProgress:
    """Progress of one run, from its job, configuration and metrics."""
    config = run.read_config()
    job = job_status(run.path, backend)
    training, evaluations = run.parse_scalars()
    last = training[-1] if training else {}
    step = int(last.get("global_step", 0))
    total = config.total_timesteps if config is not None else 0
    rate = last.get("sps")
    returns = [row["episodic_return"] for row in training if row.get("episodic_return") is not None]
    measured = evaluations[-1] if evaluations else {}
    summary = run.read_summary() if job is not None and job.state is JobState.COMPLETED else None
    ended = summary.early_stop if summary is not None else None
    if ended is not None:
        total = ended.step  # it makes no more, and is through
    left = training_time_left(run, training, evaluations)
    active = job is not None and not job.state.finished
    planned = run.read_planned_states()
    return RunProgress(
        run_id=run.iteration_id,
        state=str(job.state) if job is not None else run.derive_status(),
        step=min(step, total),
        total_timesteps=total,
        steps_per_second=rate,
        eta_s=0.0 if left is not None and summary is not None else left,
        episode_return=returns[-1] if returns else None,
        returns=tuple(returns[:: max(1, -(-len(returns) // MAX_RETURNS))]),
        criteria=measured.get("criteria", {}),
        success_rate=measured.get("success_rate"),
        inherited_steps=run.inherited_steps,
        planned_steps=planned.steps if planned is not None else 0,
        planning=_plans(config) and planned is None and job is not None and job.state is JobState.RUNNING,
        error=job.error if job is not None else None,
        hint=early_hint(run.read_criteria(), evaluations) if active and evaluations else None,
        waiting=waiting_of(job, WaitsFor.CORES),
        resumed=summary.resumed if summary is not None else 0,
        early_stop=ended,
    )


def _plans(config: TrainConfig | None) -> bool:
    """Whether motions are planned before the training begins."""
    return config is not None and config.start_states is not None and config.start_states.planned is not None


def remaining_s(runs: Sequence[RunProgress], parallel: int) -> float | None:
    """Expected time until all runs are trained [s]; runs that have not begun are assumed as fast as the others.

    Returns:
        None before the pace of every run under way is known: seeds of one reward may differ by a factor of five.
    """
    unfinished = [run for run in runs if run.state not in ENDED]
    paces = []  # seconds per step
    for run in runs:
        if run.eta_s and run.step < run.total_timesteps:
            paces.append(run.eta_s / (run.total_timesteps - run.step))
        elif run.steps_per_second and run.state in ENDED:
            paces.append(1.0 / run.steps_per_second)
    if not unfinished or not (paces or all(run.eta_s for run in unfinished)):
        return None
    if any(run.state == JobState.RUNNING and run.waiting is None and run.eta_s is None for run in unfinished):
        return None
    mean_pace = sum(paces) / max(1, len(paces))
    times = [run.eta_s or (run.total_timesteps - run.step) * mean_pace for run in unfinished]
    return max(sum(times) / parallel, *times)


def _until_verdict_s(
    record: SessionRecord, plan: TrainingPlan, runs: Sequence[RunProgress], backend: Backend
) -> float | None:
    """Expected time until an iteration is judged, or until the short trainings of its candidates have ended [s]."""
    trained = remaining_s(runs, plan.parallel)
    iteration = record.iteration_records()[-1]
    check = job_status(iteration.check_dir, backend)
    if trained is None or plan.candidate_steps or check is None or check.state is not JobState.COMPLETED:
        return trained
    begun, ended = check.started_at, check.updated_at
    if begun is None or ended is None:
        return trained
    check_s = (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()
    under_way = next((run for run in runs if run.eta_s is not None), runs[0])
    run = IterationRecord(iteration.path / under_way.run_id)
    return trained + judging_time(run, record.read_session().n_report_rollouts, check_s)


def job_status(directory: Path, backend: Backend) -> JobStatus | None:
    """Status of the job in a directory; None without one."""
    try:
        return backend.status(directory)
    except InvalidInput:
        return None


def _training_request(record: SessionRecord) -> TrainingRequest | None:
    iterations = record.iteration_records()
    return iterations[-1].read_training_request() if iterations else None


def _training(record: SessionRecord, backend: Backend) -> JobStatus | None:
    """Status of the caller's training job for the newest iteration; None without one."""
    ticket = _training_ticket(record)
    if ticket is not None:
        return process_of(record.path.parent, backend, ticket)
    request = _training_request(record)  # written by hand, or its ticket is gone
    return job_status(BackgroundDirectory(record.path.parent).new(request.job_id).path, backend) if request else None


def _training_ticket(record: SessionRecord) -> JobTicket | None:
    """Ticket of the caller's training job for the newest iteration; None without one."""
    request = _training_request(record)
    return BackgroundDirectory(record.path.parent).new(request.job_id).read_ticket() if request else None


def _step(session: Session, iterations: list[IterationRecord], has_intent: bool) -> str:
    if session.prompt and not has_intent:
        return "intent"
    report = iterations[-1].read_reward_report() if iterations else None
    if report is None or not report.accepted:
        return "reward"
    if iterations[-1].read_aggregation() is None:
        return "train"
    judgment = iterations[-1].read_judgment()
    if judgment is None:
        return "judge"
    # an extension that passes as the session before it did is still revised, by what its person said
    is_last = len(iterations) >= session.max_iterations or session.author == "given"
    return "done" if is_last or (judgment.passed and session.extends is None) else "revise"


def _artefacts(record: SessionRecord, best: int | None, judgments: dict[int, Judgment]) -> Artefacts:
    if best is None:
        return Artefacts()
    iteration = record.iteration(best)
    judgment = judgments[best]
    root = record.path.parent

    def shown(path: Path) -> str | None:
        return str(path.relative_to(root)) if path.exists() else None

    policy = None
    if judgment.run_id is not None and judgment.best_checkpoint is not None:
        policy = shown(IterationRecord(iteration.path / judgment.run_id).checkpoint(judgment.best_checkpoint).path)
    videos = [found for label in LABELS if (found := shown(iteration.report.video(label)))]
    return Artefacts(
        policy=policy,
        reward=shown(iteration.reward_fn_path),
        video=videos[0] if videos else None,
        contact_sheet=shown(iteration.contact_sheet_path),
        learning_curve=shown(iteration.learning_curve_path),
        judgment=shown(iteration.judgment_path),
    )


def view_session(ws: Workspace, session_id: str) -> SessionView:
    """Summary of a session."""
    return view(ws.record(session_id), ws.backend)
