"""The verb `clips`: the clips of one robot, with their states and features."""

from pathlib import Path

import numpy as np

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.store.arrays import save_arrays, save_features
from p2p.store.calibration import ClipsRecord
from p2p.store.iterations import IterationRecord
from p2p.worker.calibration.clips import make_clips
from p2p.worker.calibration.policies import policy_clips
from p2p.worker.calibration.robots import ROBOTS


def make(job_dir: Path) -> None:
    """Make the clips that the request in `job_dir` asks for.

    Raises:
        InvalidInput: the request is missing or broken.
        UnknownName: the set has no such robot.
    """
    record = ClipsRecord(job_dir)
    request = record.read_request()
    if request is None:
        raise InvalidInput(f"{job_dir} holds no readable request for clips: expected a robot's environment.")
    if request.env_id not in ROBOTS:
        raise UnknownName("robot of the calibration set", request.env_id, ROBOTS)
    clips, made = make_clips(request)
    runs = [IterationRecord((job_dir / name).resolve()) for name in request.policies]
    made += policy_clips(ROBOTS[request.env_id], runs)
    clips = clips.model_copy(update={"clips": tuple(one.clip for one in made)})
    qpos = np.stack([one.played.qpos for one in made])
    qvel = np.stack([one.played.qvel for one in made])
    save_arrays(record.states_path, {"qpos": qpos, "qvel": qvel, "actions": np.stack([m.played.actions for m in made])})
    save_features(record.features_path, [one.played.features for one in made])
    record.save_clips(clips)
