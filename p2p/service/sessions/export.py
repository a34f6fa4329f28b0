"""Export of policies to formats that other libraries load."""

import os
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from p2p.contracts.errors import InvalidInput, MissingExtra, P2PError
from p2p.contracts.job import JobState
from p2p.contracts.work import Export, ExportFormat, ExportRequest, NewExport
from p2p.service.jobs.worker_jobs import failure_message, raise_failure, wait, worker_job
from p2p.service.progress.policies import checkpoint_with_policy, iteration_with_policy, run_with_policy
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.exports import ExportedFiles, ExportRecord

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
    iteration = iteration_with_policy(ws, record, request.iteration)
    run = run_with_policy(iteration, request.run_id)
    step = checkpoint_with_policy(iteration, run, request.checkpoint)
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
