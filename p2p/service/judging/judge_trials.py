"""Trying code that a model wrote to judge by, before anything is judged by it."""

from collections.abc import Callable
from pathlib import Path

from p2p import registry
from p2p.contracts.calibration import ROBOTS, ClipsRequest
from p2p.service.jobs.worker_jobs import completed, run_to_end
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.calibration import ClipsRecord


def problems_of(ws: Workspace, source: str, names: tuple[str, ...], known: Path | None) -> list[str]:
    """What a trial on made-up rollouts and known motions holds against a source."""
    directory = ws.runs.trial_dir()
    prepare: Callable[..., None] = registry.load("measurement", registry.MEASUREMENTS, "prepare_trial")
    problems: Callable[[Path], list[str]]
    problems = registry.load("measurement", registry.MEASUREMENTS, "code_problems")
    try:
        prepare(directory, source, names, known)
        run_to_end(ws.backend, "call", directory)
        return problems(directory)
    finally:
        files.discard(directory)


def known_motions_file(ws: Workspace, clips: ClipsRecord, env_id: str) -> Path | None:
    """File with the features of motions prescribed joint by joint; None where there are none of this robot.

    Args:
        clips: Where they lie, or are made.
        env_id: The robot's environment.
    """
    if env_id not in ROBOTS:
        return None
    if not completed(ws.backend, clips.path):
        clips.save_request(ClipsRequest(env_id=env_id, variations=1))
        run_to_end(ws.backend, "clips", clips.path)
    return clips.features_path
