"""Trials of generated judge functions before their first use."""

from pathlib import Path

from p2p.contracts.env import EnvSpec
from p2p.contracts.known_motions import ROBOTS, KnownMotionsRequest
from p2p.service.jobs.worker_jobs import completed, run_to_end
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.job_records import KnownMotionsRecord


def problems_of(ws: Workspace, source: str, names: tuple[str, ...], known: Path | None) -> list[str]:
    """Problems of a source, found on synthetic rollouts and known motions."""
    from p2p.judges import generated  # noqa: PLC0415 - numpy, which the service starts without

    directory = ws.runs.trial_dir()
    try:
        generated.prepare_trial(directory, source, names, known)
        run_to_end(ws.backend, "call", directory)
        return generated.problems_of(directory)
    finally:
        files.discard(directory)


def known_motions_file(ws: Workspace, clips: KnownMotionsRecord, spec: EnvSpec) -> Path | None:
    """Features of motions prescribed joint by joint; None if the robot has none, or is told what they do not follow.

    Args:
        clips: Where they lie, or are made.
        spec: The robot's environment.
    """
    if spec.env_id not in ROBOTS or spec.commands is not None:
        return None
    if not completed(ws.backend, clips.path):
        clips.save_request(KnownMotionsRequest(env_id=spec.env_id, variations=1))
        run_to_end(ws.backend, "known_motions", clips.path)
    return clips.features_path
