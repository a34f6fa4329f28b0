"""Verb `known_motions`: clips of one robot, with states and features."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.known_motions import ClipSet, KnownMotionsRequest
from p2p.store.arrays import save_arrays, save_features
from p2p.store.job_records import KnownMotionsRecord
from p2p.worker.known_motions.clips import MadeClip, make_clips
from p2p.worker.known_motions.robots import ROBOTS


def make(job_dir: Path) -> None:
    """Make the clips that the request in `job_dir` asks for.

    Raises:
        InvalidInput: the request is missing or broken.
        UnknownName: there are no clips of such a robot.
    """
    record = KnownMotionsRecord(job_dir)
    request = record.read_request()
    require_robot(job_dir, request)
    assert request is not None, "it names a robot"
    save(record, *make_clips(request))


def require_robot(job_dir: Path, request: KnownMotionsRequest | None) -> None:
    """Raise unless clips exist for the requested robot.

    Raises:
        InvalidInput: there is no request.
        UnknownName: there are no clips of such a robot.
    """
    if request is None:
        raise InvalidInput(f"{job_dir} holds no readable request for clips: expected a robot's environment.")
    if request.env_id not in ROBOTS:
        raise UnknownName("robot of the calibration set", request.env_id, ROBOTS)


def save(record: KnownMotionsRecord, clips: ClipSet, made: Sequence[MadeClip]) -> None:
    """Write clips with their states and features; `clips.json` last."""
    save_arrays(
        record.states_path,
        {
            "qpos": np.stack([one.played.qpos for one in made]),
            "qvel": np.stack([one.played.qvel for one in made]),
            "actions": np.stack([one.played.actions for one in made]),
        },
    )
    save_features(record.features_path, [one.played.features for one in made])
    record.save_clips(clips)
