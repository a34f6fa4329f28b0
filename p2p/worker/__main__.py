"""The worker: `python -m p2p.worker VERB JOB_DIR` does one piece of heavy work in a directory.

| verb | reads | writes |
|---|---|---|
| train | config.json, env_spec.json, reward_fn.py, criteria.json | metrics, checkpoints, summary.json |
| probe_reward | as train | as train, with a checkpoint of the untrained policy |
| learn | as train | as train, and returns.json of the last checkpoint |
| film | request.json, the runs it names | their videos, model.zip, vecnormalize.pkl |
| evaluate | request.json, env_spec.json, criteria.json | evaluation.json, features, trajectories, videos |
| export | request.json, the run it names | package/: the policy in other formats, its model card, export.json |
| view | request.json, the rollouts it names | sheet.jpg, frames, video.mp4, result.json |
| plot | request.json, the runs it names | plot.png |
| check | request.json, env_spec.json, reward_fn.py | reward_report.json |
| call | request.json, arrays.npz | result.json |
| describe | request.json | env_spec.json |
| measure | request.json, config.json, env_spec.json, reward_fn.py | result.json |
| clips | request.json | clips.json, states.npz, features.npz: clips whose truth is known |
| clip_video | request.json, the clips it names | video.mp4, sheet.jpg |
| attack | request.json | result.json, finds/: clips that pass and are wrong |
| calibration_chart | report.json | plot.png |
| probe | | result.json |
| sandbox | | result.json |

Before anything heavy is loaded a verb confines its process to the files it needs: see `p2p.worker.sandbox`.
The last line on stderr is the error, if there is one; the exit code is the error's.
"""

import os
import sys
from pathlib import Path

from p2p import registry
from p2p.contracts.errors import InvalidInput, P2PError, UnknownName
from p2p.worker.sandbox import levels
from p2p.worker.sandbox.confine import confine, remove_scratch
from p2p.worker.sandbox.verbs import RUN_CODE, places_of

VERBS = {
    "train": "p2p.worker.training.train:train",
    "probe_reward": "p2p.worker.training.train:train_and_measure_untrained",
    "learn": "p2p.worker.training.learn:learn",
    "film": "p2p.worker.deliver:deliver",
    "evaluate": "p2p.worker.report:report",
    "export": "p2p.worker.export.job:export",
    "view": "p2p.worker.view:view",
    "plot": "p2p.worker.plot:plot",
    "check": "p2p.worker.check:check",
    "call": "p2p.worker.call:call",
    "describe": "p2p.worker.requests:describe_environment",
    "measure": "p2p.worker.measure.job:measure",
    "clips": "p2p.worker.calibration.job:make",
    "clip_video": "p2p.worker.calibration.video:film",
    "attack": "p2p.worker.attack.job:attack",
    "calibration_chart": "p2p.worker.calibration.chart:draw",
    "probe": "p2p.worker.requests:probe_renderers",
    "sandbox": "p2p.worker.sandbox.report:report",
}
"""Verb -> "module:function" taking the job's directory, imported on use: a check needs no torch."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main(arguments: list[str]) -> int:
    """Do one piece of work; returns the exit code."""
    for variable in THREADS:  # read when numpy loads, so before any verb is imported
        os.environ.setdefault(variable, "1")
    os.environ["MUJOCO_GL"] = "disabled"  # here; what draws is started with a platform of its own, and this saves 4 MB
    try:
        verb, directory = _parse(arguments)
        if verb in RUN_CODE:
            levels.require_strength(levels.probe().level)
        places = places_of(verb, directory)
        confine(places.writable, places.readable)
        try:
            registry.load("verb", VERBS, verb)(directory)
        finally:
            remove_scratch(directory)
    except P2PError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def _parse(arguments: list[str]) -> tuple[str, Path]:
    if len(arguments) != 2:
        raise InvalidInput(f"usage: python -m p2p.worker VERB JOB_DIR, where VERB is one of {', '.join(VERBS)}.")
    verb, directory = arguments[0], Path(arguments[1]).resolve()
    if verb not in VERBS:
        raise UnknownName("verb", verb, VERBS)
    if not directory.is_dir():
        raise InvalidInput(f"{directory} is not a directory: the worker works in the directory of a job.")
    return verb, directory


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
