"""Kept policies, found by what a person writes."""

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.remedies import Remedy
from p2p.contracts.start_policy import FORMS, PolicyName
from p2p.service.progress.listing import find_session
from p2p.service.progress.session_view import view
from p2p.service.training.start_policies import KeptPolicy
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord


def find_policy(ws: Workspace, text: str, own: SessionRecord | None = None) -> KeptPolicy:
    """The policy that a text names, such as "2", "2@40000" or "SESSION:2".

    Args:
        ws: The workspace.
        text: As `PolicyName` reads it.
        own: The session that a number alone is an iteration of; None where there is none yet.

    Raises:
        UnknownName: there is no such session, iteration, run or checkpoint.
        InvalidInput: it is no such text, or nothing there has a policy yet.
    """
    name = PolicyName.parse(text)
    if name is None:
        raise InvalidInput(f"{text!r} names no policy: expected {FORMS}.")
    if name.session is None and own is None:
        raise InvalidInput(f"{text!r} names no session: expected SESSION[:ITERATION[@STEP]].")
    record = own if name.session is None and own is not None else ws.record(find_session(ws, str(name.session)))
    iteration = iteration_with_policy(ws, record, name.iteration)
    run = run_with_policy(iteration, name.run)
    return KeptPolicy(record.session_id, iteration.number, run, checkpoint_with_policy(iteration, run, name.step))


def iteration_with_policy(ws: Workspace, record: SessionRecord, number: int | None) -> IterationRecord:
    """Iteration whose policy is meant: as given, else the best, else the latest with a policy."""
    if number is not None:
        return ws.iteration_begun(record.session_id, number)
    if (best := view(record, ws.backend).best_iteration) is not None:
        return record.iteration(best)
    trained = [it for it in record.iteration_records() if any(_steps(run) for run in it.runs())]
    if not trained:
        name = record.session_id
        raise InvalidInput(
            f"{name} has no policy yet: no run has reached an evaluation. See: {Remedy.FOLLOW.of(session=name)}"
        )
    return trained[-1]


def run_with_policy(iteration: IterationRecord, run_id: str | None) -> IterationRecord:
    """Run whose policy is meant: the judged one, else the best so far."""
    runs = {run.iteration_id: run for run in iteration.runs()}
    if run_id is not None:
        if run_id not in runs:
            raise UnknownName("run", run_id, runs)
        return runs[run_id]
    if (aggregation := iteration.read_aggregation()) is not None:
        return runs[aggregation.best_run_id]
    with_policy = [run for run in runs.values() if _steps(run)]
    if len(with_policy) != 1:
        names = ", ".join(run.iteration_id for run in with_policy) or "none has a policy yet"
        raise InvalidInput(f"Iteration {iteration.number} has no best run yet. Choose one of its runs: {names}.")
    return with_policy[0]


def checkpoint_with_policy(iteration: IterationRecord, run: IterationRecord, step: int | None) -> int:
    """Step of the checkpoint that is meant: the judged one, else the run's best, else its latest."""
    steps = _steps(run)
    if not steps:
        others = ", ".join(other.iteration_id for other in iteration.runs() if _steps(other)) or "none"
        raise InvalidInput(f"{run.iteration_id} has no policy: it reached no evaluation. Runs that have one: {others}.")
    if step is not None:
        if step not in steps:
            raise UnknownName("checkpoint", str(step), map(str, steps))
        return step
    aggregation = iteration.read_aggregation()
    summary = run.read_summary()
    best = summary.best_checkpoint if summary is not None else None
    if aggregation is not None and aggregation.best_run_id == run.iteration_id:
        best = aggregation.best_checkpoint
    return best if best in steps else steps[-1]


def _steps(run: IterationRecord) -> list[int]:
    """Steps of the run's checkpoints with a policy, oldest first."""
    return [checkpoint.step for checkpoint in run.checkpoints() if checkpoint.policy_path.exists()]
