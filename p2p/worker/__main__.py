"""The worker: `python -m p2p.worker VERB JOB_DIR` runs one verb in a directory.

| verb | reads | writes |
|---|---|---|
| train | config.json, env_spec.json, reward_fn.py, criteria.json | metrics, checkpoints, summary.json |
| probe_reward | as train | as train, with a checkpoint of the untrained policy |
| film | request.json, the runs it names | their videos, model.zip, vecnormalize.pkl |
| evaluate | request.json, env_spec.json, criteria.json | evaluation.json, features, trajectories, videos |
| export | request.json, the run it names | package/: the policy in other formats, its model card, export.json |
| view | request.json, the rollouts it names | sheet.jpg, frames, video.mp4, result.json |
| plot | request.json, the runs it names | plot.png |
| forest | request.json | plot.png: differences with intervals |
| check | request.json, env_spec.json, reward_fn.py | reward_report.json |
| call | request.json, arrays.npz | result.json |
| describe | request.json, a robot's model file | env_spec.json |
| portrait | env_spec.json | portrait.png |
| known_motions | request.json | clips.json, states.npz, features.npz: clips whose truth is known |
| probe | | result.json |
| sandbox | | result.json |

Before anything heavy is loaded a verb confines its process to the files it needs: see `p2p.worker.sandbox`.
The last line on stderr is the error, if there is one; the exit code is the error's.
"""

import sys
from pathlib import Path

from p2p.store.evaluations import ReportRecord
from p2p.store.exports import ExportRecord
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import ViewRecord
from p2p.store.robots import folder_of
from p2p.worker.verbs import Places, Verb, named, run


def _film(job_dir: Path) -> Places:
    request = IterationRecord(job_dir).read_film_request()
    return Places((job_dir, *named(job_dir, request.runs if request else ())))


def _evaluate(job_dir: Path) -> Places:
    request = ReportRecord(job_dir).read_request()
    runs = (request.run_dir, *request.sibling_runs) if request else ()
    return Places((job_dir,), named(job_dir, runs))


def _view(job_dir: Path) -> Places:
    request = ViewRecord(job_dir).read_picture_request()
    names = [name for shown in request.rollouts for name in (shown.run_dir, shown.trajectory)] if request else ()
    return Places((job_dir,), named(job_dir, names))


def _plot(job_dir: Path) -> Places:
    request = ViewRecord(job_dir).read_plot_request()
    names = [name for iteration in request.iterations for name in iteration.runs] if request else ()
    return Places((job_dir,), named(job_dir, names))


def _export(job_dir: Path) -> Places:
    """Directories of an export: the run, and its iteration's judgment and report above it."""
    request = ExportRecord(job_dir).read_request()
    runs = named(job_dir, [request.run_dir] if request else ())
    return Places((job_dir,), (*(run.parent for run in runs), *runs))


def _describe(job_dir: Path) -> Places:
    """The folder of a model file, which holds its meshes."""
    request = IterationRecord(job_dir).read_describe_request()
    path = request.model_path if request else None
    return Places((job_dir,), (folder_of(Path(path)),) if path else ())


VERBS = {
    "train": Verb("p2p.worker.training.train:train", runs_code=True),
    "probe_reward": Verb("p2p.worker.training.train:train_and_measure_untrained", runs_code=True),
    "film": Verb("p2p.worker.film:film_runs", _film),
    "evaluate": Verb("p2p.worker.evaluate:evaluate", _evaluate, runs_code=True),
    "export": Verb("p2p.worker.export.job:export", _export, runs_code=True),
    "view": Verb("p2p.worker.view:view", _view),
    "plot": Verb("p2p.worker.plot:plot", _plot),
    "forest": Verb("p2p.worker.pictures.forest_plot:forest"),
    "check": Verb("p2p.worker.check:check", runs_code=True),
    "call": Verb("p2p.worker.call:call", runs_code=True),
    "describe": Verb("p2p.worker.requests:describe_environment", _describe),
    "portrait": Verb("p2p.worker.portrait:draw_portrait"),
    "known_motions": Verb("p2p.worker.known_motions.job:make"),
    "probe": Verb("p2p.worker.requests:probe_renderers"),
    "sandbox": Verb("p2p.worker.sandbox.levels:report"),
}

if __name__ == "__main__":
    sys.exit(run("p2p.worker", VERBS, sys.argv[1:]))
