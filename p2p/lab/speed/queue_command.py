"""`p2p bench queue`: what it costs to hand over many runs and to watch them."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from p2p.cli.options import AsJson, BackendName, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.lab.speed.queueing import measure_queueing, table

QUEUE_EXAMPLES = examples(
    "p2p bench queue --backend slurm --runs 200", "p2p bench queue --backend slurm --job-s 600 --watch-s 60"
)


def queue(
    backend: BackendName = None,
    runs: Annotated[int, typer.Option(min=1, help="How many.")] = 1000,
    job_s: Annotated[float, typer.Option("--job-s", min=0.0, help="How long each sleeps [s].")] = 1.0,
    watch_s: Annotated[
        float | None, typer.Option("--watch-s", min=0.0, help="How long they are watched, then cancelled [s].")
    ] = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Measure what it costs to hand many runs to a backend and to watch them; the runs only sleep.

    To measure without waiting until a small cluster has run them all, let them sleep for long and give --watch-s.
    """
    ws = open_workspace(runs_dir, backend)
    output = Output(as_json)
    ws.runs.path.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".queue-", dir=ws.runs.path) as place:
        report = measure_queueing(ws.training_backend, ws.settings.backend, runs, job_s, Path(place), watch_s)
    output.result(report, table(report))
