"""Exams: the chosen policy of an ended session makes rollouts on the suite's own seeds, scored by frozen criteria."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from p2p.contracts.errors import InvalidInput, TrainingFailed
from p2p.contracts.intent import Intent
from p2p.contracts.job import JobState, JobStatus
from p2p.contracts.judgment import Judgment
from p2p.contracts.suite import ExamResult, Suite, digest_of
from p2p.contracts.training import Purpose
from p2p.contracts.work import EvaluateRequest
from p2p.registry import naming_extras
from p2p.service.jobs.worker_jobs import failure_message, worker_job
from p2p.service.progress.lineage import best_iteration
from p2p.service.progress.session_view import job_status
from p2p.service.suites.plan import Sitting
from p2p.service.training.environments import describe_environment
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.evaluations import ReportRecord
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord
from p2p.store.suites import SuiteRunRecord

OWN_FAULT = (InvalidInput.exit_code, TrainingFailed.exit_code)
"""Exit codes of rollouts that fail whenever they are made; for any other reason they are made again."""


@dataclass(frozen=True, slots=True)
class Exam:
    """One policy's exam: the job of its rollouts, and what they are scored by."""

    sitting: Sitting
    criteria: Intent
    directory: Path
    request: EvaluateRequest
    policy: Path


def exam_of(ws: Workspace, suite: Suite, record: SuiteRunRecord, sitting: Sitting) -> Exam | None:
    """Exam of an ended session; None where its case has none, or no iteration of it was judged."""
    session = ws.runs.session(sitting.session_id)
    judged = best_judgment(session)
    if sitting.case.exam is None or judged is None:
        return None
    number, judgment = judged
    run_id = judgment.run_id
    step = judgment.best_checkpoint
    if run_id is None or step is None:
        return None
    run = IterationRecord(session.iteration(number).path / run_id)
    directory = record.exam_dir(sitting.session_id)
    seeds = suite.exam_seeds(sitting.case.name, sitting.seed)
    request = EvaluateRequest(
        run_dir=os.path.relpath(run.path, directory),
        run_id=run_id,
        checkpoint=step,
        n_rollouts=len(seeds),
        exam_seed=seeds.start,
    )
    return Exam(sitting, sitting.case.exam, directory, request, run.checkpoint(step).policy_path)


def best_judgment(session: SessionRecord) -> tuple[int, Judgment] | None:
    """Number and judgment of the iteration whose policy a session hands in; None without any."""
    judged = {it.number: found for it in session.iteration_records() if (found := it.read_judgment()) is not None}
    best = best_iteration(judged)
    return None if best is None else (best, judged[best])


def without_policy(criteria: Intent) -> ExamResult:
    """Exam that nobody could sit."""
    return ExamResult(
        passed=False,
        n_rollouts=0,
        n_met=0,
        low=None,
        high=None,
        intent_score=None,
        criteria=(),
        seeds=(),
        policy_sha256="",
        features_sha256="",
        exam_sha256=digest_of(criteria),
        problem="Its session left no policy.",
    )


def exam_status(ws: Workspace, exam: Exam) -> JobStatus | None:
    """Status of the rollouts; None where they were not begun, or are of another policy."""
    if ReportRecord(exam.directory).read_request() != exam.request:
        return None
    return job_status(exam.directory, ws.backend)


def sit(ws: Workspace, exam: Exam) -> None:
    """Have a policy make its exam rollouts, in a job; what was recorded of another policy is discarded."""
    with suppress(InvalidInput):
        ws.backend.cancel(exam.directory)
    files.discard_all(exam.directory)
    job = IterationRecord(exam.directory)
    job.save_env_spec(describe_environment(ws, exam.sitting.case.env_id))
    job.save_criteria(exam.criteria)
    ReportRecord(exam.directory).save_request(exam.request)
    ws.backend.submit(worker_job("evaluate"), exam.directory)


def score(ws: Workspace, exam: Exam, pass_threshold: float) -> ExamResult | None:
    """Result of an exam, from its recorded rollouts alone; None while there are none that hold what it asks for.

    An exam that cannot be measured has not been passed; the result says why. One that has been changed since its
    rollouts were made may ask for features or for a length that they do not have.
    """
    status = exam_status(ws, exam)
    failed = status is not None and status.state is JobState.FAILED and status.exit_code in OWN_FAULT
    if status is None or not (failed or status.state is JobState.COMPLETED):
        return None
    problem = failure_message(status) if failed else ""
    with naming_extras():
        from p2p.judges.code import CodeJudge  # noqa: PLC0415 - numpy, which the service starts without
        from p2p.store.arrays import features_digest  # noqa: PLC0415
    judgment = CodeJudge().judge_report(exam.criteria, exam.directory, pass_threshold, Purpose.EXAM)
    measured = judgment.success_rate is not None
    if not measured and IterationRecord(exam.directory).read_criteria() != exam.criteria:
        return None
    return ExamResult(
        passed=judgment.passed,
        n_rollouts=exam.request.n_rollouts,
        n_met=sum(rollout.success for rollout in judgment.rollouts),
        low=judgment.success_low,
        high=judgment.success_high,
        intent_score=judgment.intent_score,
        criteria=judgment.criteria,
        seeds=tuple(rollout.seed for rollout in judgment.rollouts),
        policy_sha256=files.sha256(exam.policy) or "",
        features_sha256=features_digest(ReportRecord(exam.directory).features_path) or "",
        exam_sha256=digest_of(exam.criteria),
        problem="" if measured else problem or judgment.diagnosis,
    )
