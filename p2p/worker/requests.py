"""Verbs `describe` and `probe`: small requests answered with one file."""

from pathlib import Path

from p2p.contracts.errors import InvalidInput
from p2p.store.iterations import IterationRecord
from p2p.worker.description.describe import describe, describe_robot
from p2p.worker.render import find_renderer


def describe_environment(job_dir: Path) -> None:
    """Describe the requested environment from its live model into `env_spec.json`.

    Raises:
        InvalidInput: the directory holds no readable request.
        UnknownName: there is no such environment.
    """
    record = IterationRecord(job_dir)
    request = record.read_describe_request()
    if request is None:
        raise InvalidInput(f"{job_dir} holds no readable request: expected the id of an environment.")
    if request.model_path is not None:
        record.save_env_spec(describe_robot(request.env_id, Path(request.model_path)))
    else:
        record.save_env_spec(describe(request.env_id, request.module))


def probe_renderers(job_dir: Path) -> None:
    """Find the renderers that work on this machine; write `result.json`."""
    IterationRecord(job_dir).save_renderer_report(find_renderer.report())
