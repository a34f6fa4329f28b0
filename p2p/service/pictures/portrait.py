"""A picture of an environment's robot as its episodes begin."""

from pathlib import Path

from p2p.contracts.env import EnvSpec
from p2p.service.jobs.worker_jobs import run_to_end
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord


def portrait(ws: Workspace, spec: EnvSpec) -> Path:
    """The picture's file, as PNG; drawn when it is first asked for.

    Raises:
        EnvironmentProblem: nothing is drawn on this machine.
    """
    record = IterationRecord(ws.runs.environment_dir(spec.env_id))
    if not record.portrait_path.is_file():
        record.save_env_spec(spec)
        run_to_end(ws.backend, "portrait", record.path)
    return record.portrait_path
