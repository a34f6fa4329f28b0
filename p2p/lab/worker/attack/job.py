"""The verb `attack`: a search for motions that fool the criteria of one sentence."""

from pathlib import Path

import numpy as np

from p2p.contracts.errors import InvalidInput
from p2p.contracts.known_motions import ClipSet
from p2p.lab.records import AttackRecord
from p2p.lab.worker.attack.search import Search
from p2p.store.arrays import save_arrays, save_features


def attack(job_dir: Path) -> None:
    """Search as the request in `job_dir` asks; what is found lies there as clips, so that it can be filmed.

    Raises:
        InvalidInput: the request is missing or broken, or its criteria cannot be attacked.
        UnknownName: the calibration set has no such robot, or no such sentence of it.
    """
    record = AttackRecord(job_dir)
    request = record.read_request()
    if request is None:
        raise InvalidInput(f"{job_dir} holds no readable request for an attack: expected a robot and criteria.")
    search = Search(request)
    found, made = search.run()
    if made:
        played = [one.played for one in made]
        states = {name: np.stack([getattr(one, name) for one in played]) for name in ("qpos", "qvel", "actions")}
        save_arrays(record.clips.states_path, states)
        save_features(record.clips.features_path, [one.features for one in played])
    clips = tuple(one.clip for one in made)
    record.clips.save_clips(ClipSet(env_id=request.env_id, seed=request.seed, dt=search.dt, clips=clips))
    record.save(found)
