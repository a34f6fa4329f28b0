"""Record the report rollouts of an iteration."""

from p2p.contracts.training import report_seed_offset
from p2p.contracts.work import EvaluateRequest
from p2p.service.jobs.worker_jobs import completed, run_to_end
from p2p.service.judging.choosing import chosen_checkpoint
from p2p.service.training.environments import describe_environment
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import take_over


def run_report(ws: Workspace, session_id: str, number: int) -> None:
    """Record the report rollouts of the selected checkpoint in a fresh process, once."""
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
    if iteration.report.read_request() == request and completed(ws.backend, report.path):
        take_over(report.path, iteration.path)
        return
    report.save_env_spec(describe_environment(ws, session.env_id))
    if (intent := record.read_criteria()) is not None:
        report.save_criteria(intent)
    iteration.report.save_request(request)
    run_to_end(ws.backend, "evaluate", report.path)
    take_over(report.path, iteration.path)
