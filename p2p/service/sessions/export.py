"""Export of policies to formats that other libraries load."""

import os
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from p2p.contracts.errors import InvalidInput, MissingExtra, P2PError, UnknownName
from p2p.contracts.job import JobState
from p2p.contracts.remedies import Remedy
from p2p.contracts.work import Export, ExportFormat, ExportRequest, NewExport
from p2p.service.jobs.worker_jobs import failure_message, raise_failure, wait, worker_job
from p2p.service.progress.session_view import view
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.exports import ExportedFiles, ExportRecord
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord

NEEDS = {
    ExportFormat.SB3: ("sb3", ("torch", "stable_baselines3")),
    ExportFormat.ONNX: ("onnx", ("onnx", "onnxruntime")),
    ExportFormat.TORCHSCRIPT: ("sb3", ("torch",)),
}
"""Format -> extra, and the modules it brings."""
JOB_PREFIX = ".job-"
"""Of the directories in which exports are made."""


def export_policy(ws: Workspace, session_id: str, request: NewExport) -> Export:
    """Export a checkpoint to other formats, with its model card and a parity check.

    Raises:
        UnknownName: there is no such iteration, run or checkpoint.
        InvalidInput: the run has no policy yet, or the folder to write is not empty.
        MissingExtra: the library of a format is not installed.
        StorageProblem: the folder cannot be written.
        P2PError: a file would not act as the policy; nothing is handed out.
    """
    needs = [("train", ("numpy", "gymnasium", "mujoco")), *(NEEDS[name] for name in request.formats)]
    for extra, modules in needs:
        for module in modules:  # refused here, before the worker would fail
            if find_spec(module) is None:
                raise MissingExtra(module, extra)
    record = ws.record(session_id)
    iteration = _iteration(ws, record, request.iteration)
    run = _run(iteration, request.run_id)
    step = _checkpoint(iteration, run, request.checkpoint)
    names = tuple(dict.fromkeys(request.formats))
    own = record.export_dir(iteration.iteration_id, run.iteration_id, step, names)
    target = (request.output or own).absolute()
    if target.exists() and not target.is_dir():
        raise InvalidInput(f"{target} is a file: an export is a folder.")
    if not request.overwrite and target.is_dir() and any(target.iterdir()):
        raise InvalidInput(f"{target} is not empty. Give another folder, or allow to overwrite an export in it.")
    folder = ExportedFiles(target)
    if (there := folder.present()) and folder.read_report() is None:
        raise InvalidInput(f"{target} holds a {there[0].name} that no export wrote. Give another folder.")
    files.make_directory(record.exports_dir)
    files.sweep(record.exports_dir, f"{JOB_PREFIX}*")
    job = ExportRecord(Path(tempfile.mkdtemp(prefix=JOB_PREFIX, dir=record.exports_dir)))
    try:
        run_dir = os.path.relpath(run.path, job.path)
        job.save_request(ExportRequest(run_dir=run_dir, checkpoint=step, formats=names, license=request.license))
        ws.backend.submit(worker_job("export"), job.path)
        wait([job.path], ws.backend)
        status = ws.backend.status(job.path)
        if status.state is JobState.FAILED and status.exit_code == P2PError.exit_code:
            raise P2PError(failure_message(status))
        raise_failure(status, "The export")
        delivered = job.package.deliver(target)
    finally:
        with suppress(InvalidInput):
            ws.backend.cancel(job.path)  # after Ctrl-C it is still running
        files.discard(job.path)
    report = delivered.read_report()
    assert report is not None, "it was delivered last"
    return Export(
        session_id=session_id,
        iteration=iteration.number,
        directory=str(target),
        files=tuple(str(path) for path in delivered.present()),
        report=report,
    )


def _iteration(ws: Workspace, record: SessionRecord, number: int | None) -> IterationRecord:
    """Iteration to export: as given, else the best, else the latest with a policy."""
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


def _run(iteration: IterationRecord, run_id: str | None) -> IterationRecord:
    """Run to export: the judged one, else the best so far."""
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


def _checkpoint(iteration: IterationRecord, run: IterationRecord, step: int | None) -> int:
    """Checkpoint to export: the judged one, else the run's best, else its latest."""
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
