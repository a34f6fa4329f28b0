"""A session at a glance, read from its directory alone."""

from collections.abc import Sequence
from pathlib import Path

from p2p.contracts.background import TrainingRequest
from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobState, JobStatus
from p2p.contracts.judgment import Judgment
from p2p.contracts.protocols import Backend
from p2p.contracts.session import Artefacts, RunProgress, Session, SessionStatus, SessionView
from p2p.service.sessions.lineage import best_iteration
from p2p.service.training.jobs import failure_message
from p2p.store.background import BackgroundDirectory
from p2p.store.candidates import CandidateRecords
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord, session_of

MAX_RETURNS = 60
ENDED = tuple(str(state) for state in JobState if state.finished)
LABELS = ("median", "p90", "p10")


def view(record: SessionRecord, backend: Backend) -> SessionView:
    """The state of a session, of its current iteration and of its best one."""
    session, status, intent = record.read_session(), record.read_status(), record.read_criteria()
    iterations = record.iteration_records()
    judgments = {n: j for n, it in enumerate(iterations, 1) if (j := it.read_judgment()) is not None}
    best = best_iteration(judgments)
    history, driver = record.read_history(), _job(record.driver_dir, backend)
    state = status.status if status is not None else SessionStatus.PENDING
    driven = driver is not None and not driver.state.finished
    training = _training(record, backend)
    trained_now = training is not None and not training.state.finished
    by_caller = state is SessionStatus.PENDING and bool(iterations) and not driven
    runs = tuple(run_progress(run, backend) for run in _runs(iterations[-1])) if iterations else ()
    plan = iterations[-1].read_plan() if iterations else None
    return SessionView(
        session=session,
        status=_told(state, by_caller, driven, trained_now),
        error=_failure(iterations[-1], training) if by_caller else status.error if status is not None else None,
        alive=driven or trained_now,
        by_caller=by_caller,
        iteration=len(iterations),
        step="done" if state.finished else _step(session, iterations, intent is not None),
        runs=runs,
        plan=plan,
        remaining_s=remaining_s(runs, plan.parallel) if plan is not None else None,
        criteria=intent.criteria if intent is not None else (),
        best_iteration=best,
        judgment=judgments.get(best) if best is not None else None,
        history=history.iterations if history is not None else (),
        artefacts=_artefacts(record, best, judgments),
        metadata=record.read_metadata(),
    )


def _runs(iteration: IterationRecord) -> list[IterationRecord]:
    """Of an iteration; the short trainings of its candidates, while it has no reward yet."""
    own = iteration.runs()
    return own if own or iteration.read_draft() is not None else CandidateRecords(iteration).runs()


def _told(state: SessionStatus, by_caller: bool, driven: bool, trained_now: bool) -> SessionStatus:
    """The status that is told: who works on it is found out by locks, whatever was written and whenever."""
    if by_caller and trained_now:
        return SessionStatus.RUNNING
    gone = state is SessionStatus.RUNNING and not (driven or trained_now)
    return SessionStatus.INTERRUPTED if gone else state


def live_training(record: SessionRecord, backend: Backend) -> str | None:
    """Id of the job that trains the newest iteration for its caller, while there is one."""
    request, status = _training_request(record), _training(record, backend)
    return request.job_id if request is not None and status is not None and not status.state.finished else None


def run_progress(run: IterationRecord, backend: Backend) -> RunProgress:
    """Where one run is, from its job, configuration and metrics."""
    config, job = run.read_config(), _job(run.path, backend)
    training, evaluations = run.parse_scalars()
    last = training[-1] if training else {}
    step, total = int(last.get("global_step", 0)), config.total_timesteps if config is not None else 0
    rate = last.get("sps")
    elapsed = last.get("elapsed_time")
    returns = [row["episodic_return"] for row in training if row.get("episodic_return") is not None]
    measured = evaluations[-1] if evaluations else {}
    summary = run.read_summary() if job is not None and job.state is JobState.COMPLETED else None
    left = max(0, total - step) if summary is None else 0
    return RunProgress(
        run_id=run.iteration_id,
        state=str(job.state) if job is not None else run.derive_status(),
        step=min(step, total),
        total_timesteps=total,
        steps_per_second=rate,
        eta_s=left * elapsed / step if elapsed and step else None,
        episode_return=returns[-1] if returns else None,
        returns=tuple(returns[:: max(1, -(-len(returns) // MAX_RETURNS))]),
        criteria=measured.get("criteria", {}),
        success_rate=measured.get("success_rate"),
        error=job.error if job is not None else None,
        waits_for=_owners(job.waits_for) if job is not None and job.state is JobState.QUEUED else None,
        resumed=summary.resumed if summary is not None else 0,
        early_stop=summary.early_stop if summary is not None else None,
    )


def remaining_s(runs: Sequence[RunProgress], parallel: int) -> float | None:
    """Expected time until all runs are trained [s], those that wait being as fast as the others; None before any is.

    A step costs what it has cost so far with everything that belongs to it, evaluations included.
    """
    left = [run.total_timesteps - run.step for run in runs if run.state not in ENDED]
    costs = [cost for run in runs if (cost := _seconds_per_step(run))]
    return max([sum(left) / parallel, *left]) * sum(costs) / len(costs) if left and costs else None


def _seconds_per_step(run: RunProgress) -> float | None:
    if run.eta_s:
        return run.eta_s / (run.total_timesteps - run.step)
    return 1.0 / run.steps_per_second if run.steps_per_second else None


def _owners(directories: Sequence[str]) -> str | None:
    """The sessions, or other jobs, that own cores: "session_a, session_b"."""
    return ", ".join(dict.fromkeys(session_of(Path(name)) or name for name in directories)) or None


def _job(directory: Path, backend: Backend) -> JobStatus | None:
    """How the job of a directory stands; None where there is none."""
    try:
        return backend.status(directory)
    except InvalidInput:
        return None


def _training_request(record: SessionRecord) -> TrainingRequest | None:
    iterations = record.iteration_records()
    return iterations[-1].read_training_request() if iterations else None


def _training(record: SessionRecord, backend: Backend) -> JobStatus | None:
    """How the job stands that trains the newest iteration for its caller; None without one."""
    request = _training_request(record)
    return _job(BackgroundDirectory(record.path.parent).new(request.job_id).path, backend) if request else None


def _failure(iteration: IterationRecord, training: JobStatus | None) -> str | None:
    """Why an iteration could not be trained; None where it was, or where nobody has tried its present reward."""
    if training is None or training.state is not JobState.FAILED or iteration.read_aggregation() is not None:
        return None
    return failure_message(training)


def _step(session: Session, iterations: list[IterationRecord], has_intent: bool) -> str:
    if session.prompt and not has_intent:
        return "intent"
    report = iterations[-1].read_reward_report() if iterations else None
    if report is None or not report.accepted:
        return "reward"
    if iterations[-1].read_aggregation() is None:
        return "train"
    return "judge" if iterations[-1].read_judgment() is None else "revise"


def _artefacts(record: SessionRecord, best: int | None, judgments: dict[int, Judgment]) -> Artefacts:
    if best is None:
        return Artefacts()
    iteration, judgment = record.iteration(best), judgments[best]
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
