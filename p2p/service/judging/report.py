"""Record the report rollouts of an iteration, and their pictures after them."""

import time

from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobState
from p2p.contracts.training import report_seed_offset
from p2p.contracts.work import EvaluateRequest
from p2p.service.jobs.worker_jobs import (
    POLL_S,
    cancelled_by_ctrl_c,
    completed,
    raise_failure,
    run_to_end,
    worker_job,
)
from p2p.service.judging.choosing import chosen_checkpoint
from p2p.service.training.environments import environment_of
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import take_over

VERB = "evaluate"


def run_report(ws: Workspace, session_id: str, number: int) -> None:
    """Record the report rollouts of the selected checkpoint in a fresh process, once, with their pictures."""
    iteration = ws.record(session_id).iteration(number)
    report, is_there = _prepared(ws, session_id, number)
    if not is_there:
        run_to_end(ws.backend, VERB, report.path)
    take_over(report.path, iteration.path)


def begin_report(ws: Workspace, session_id: str, number: int) -> None:
    """Record the report rollouts like `run_report`; return before they are pictured: no measurement needs that."""
    iteration = ws.record(session_id).iteration(number)
    report, is_there = _prepared(ws, session_id, number)
    if is_there:
        return
    ws.backend.submit(worker_job(VERB), report.path)
    with cancelled_by_ctrl_c(ws.backend, report.path):
        while not ws.backend.status(report.path).state.finished:
            if iteration.report.read_evaluation() is not None:
                return
            time.sleep(POLL_S)
    raise_failure(ws.backend.status(report.path), f"{VERB} in {report.path}")


def finish_report(ws: Workspace, session_id: str, number: int) -> None:
    """Wait for the pictures of report rollouts, or make them where that was interrupted; nothing without a report."""
    iteration = ws.record(session_id).iteration(number)
    try:
        ended = ws.backend.status(iteration.report.path).state
    except InvalidInput:
        return
    if ended is not JobState.COMPLETED:
        run_to_end(ws.backend, VERB, iteration.report.path)
    take_over(iteration.report.path, iteration.path)


def _prepared(ws: Workspace, session_id: str, number: int) -> tuple[IterationRecord, bool]:
    """Directory of the report job with what it needs, and whether it has made what is asked for.

    Rollouts of another request that lie there are removed.
    """
    record = ws.record(session_id)
    iteration = record.iteration(number)
    session = record.read_session()
    aggregation = chosen_checkpoint(ws, session_id, number)
    best = aggregation.best_run_id
    siblings = [run.iteration_id for run in iteration.runs() if run.iteration_id != best]
    request = EvaluateRequest(
        run_dir=f"../{best}",
        run_id=best,
        checkpoint=aggregation.best_checkpoint,
        n_rollouts=session.n_report_rollouts,
        seed_offset=report_seed_offset(session_id) + session.n_report_rollouts * (iteration.number - 1),
        sibling_runs=tuple(f"../{name}" for name in siblings),
    )
    report = IterationRecord(iteration.report.path)
    if iteration.report.read_request() == request:
        return report, completed(ws.backend, report.path)
    if not completed(ws.backend, report.path):
        iteration.report.forget_evaluation()
    intent = record.read_criteria()
    report.save_env_spec(environment_of(ws, session, intent))
    if intent is not None:
        report.save_criteria(intent)
    iteration.report.save_request(request)
    return report, False
