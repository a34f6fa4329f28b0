"""The verb `clips`: the clips that judges are measured on, of one robot, with their states and features."""

from pathlib import Path

from p2p.lab.records import ClipsRecord
from p2p.lab.worker.clips.calibration_clips import make_clips
from p2p.lab.worker.clips.policies import policy_clips
from p2p.store.iterations import IterationRecord
from p2p.worker.known_motions.clips import clip_set
from p2p.worker.known_motions.job import require_robot, save
from p2p.worker.known_motions.robots import ROBOTS


def make(job_dir: Path) -> None:
    """Make the clips that the request in `job_dir` asks for.

    Raises:
        InvalidInput: the request is missing or broken.
        UnknownName: there are no clips of such a robot.
    """
    record = ClipsRecord(job_dir)
    request = record.read_request()
    require_robot(job_dir, request)
    assert request is not None, "it names a robot"
    _, made = make_clips(request)
    runs = [IterationRecord((job_dir / name).resolve()) for name in request.policies]
    made += policy_clips(ROBOTS[request.env_id], runs)
    save(record, clip_set(request, made), made)
