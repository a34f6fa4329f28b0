"""The lab's worker: `python -m p2p.lab.worker VERB JOB_DIR`, confined as `p2p.worker` is.

| verb | reads | writes |
|---|---|---|
| learn | as train | as train, and returns.json of the last checkpoint |
| measure | request.json, config.json, env_spec.json, reward_fn.py | result.json |
| clips | request.json | clips.json, states.npz, features.npz: clips whose truth is known |
| clip_video | request.json, the clips it names | video.mp4, sheet.jpg |
| exam_clips | request.json | result.json: what exams say of motions whose truth is known |
| attack | request.json | result.json, finds/: clips that pass and are wrong |
| calibration_chart | report.json | plot.png |
"""

import sys
from pathlib import Path

from p2p.lab.records import ClipsRecord, ClipVideoRecord, MeasurementRecord
from p2p.worker.verbs import Places, Verb, named, run


def _measure(job_dir: Path) -> Places:
    request = MeasurementRecord(job_dir).read_request()
    return Places((job_dir,), named(job_dir, request.beside if request else ()))


def _clips(job_dir: Path) -> Places:
    request = ClipsRecord(job_dir).read_request()
    return Places((job_dir,), named(job_dir, request.policies if request else ()))


def _clip_video(job_dir: Path) -> Places:
    request = ClipVideoRecord(job_dir).read_request()
    return Places((job_dir,), named(job_dir, (request.clips,) if request else ()))


VERBS = {
    "learn": Verb("p2p.lab.worker.learn:learn", runs_code=True),
    "measure": Verb("p2p.lab.worker.speed.job:measure", _measure, runs_code=True),
    "clips": Verb("p2p.lab.worker.clips.job:make", _clips),
    "clip_video": Verb("p2p.lab.worker.clips.clip_video:film", _clip_video),
    "exam_clips": Verb("p2p.lab.worker.exams.job:judge"),
    "attack": Verb("p2p.lab.worker.attack.job:attack"),
    "calibration_chart": Verb("p2p.lab.worker.clips.chart:draw"),
}

if __name__ == "__main__":
    sys.exit(run("p2p.lab.worker", VERBS, sys.argv[1:]))
