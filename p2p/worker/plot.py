"""Verb `plot`: metrics of the runs of one iteration, or of two, in one picture."""

from pathlib import Path

from p2p.contracts.errors import InvalidInput
from p2p.contracts.work import PictureResult
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import ViewRecord
from p2p.worker.pictures.frame_files import size_of
from p2p.worker.pictures.frame_labels import one_line
from p2p.worker.pictures.metric_plots import TrainedRun, write_plot

LONGEST = 105
"""Of a title [characters]; more do not fit a line."""


def plot(job_dir: Path) -> None:
    """Draw the plot that the request in `job_dir` asks for.

    Raises:
        InvalidInput: the request is missing.
        StorageProblem: the file cannot be written.
    """
    record = ViewRecord(job_dir)
    request = record.read_plot_request()
    if request is None:
        raise InvalidInput(f"{job_dir} holds no readable request that names runs to plot.")
    runs = []
    for iteration in request.iterations:
        for name in iteration.runs:
            run = IterationRecord((job_dir / name).resolve())
            runs.append(TrainedRun(run.iteration_id, iteration.name, *run.parse_scalars()))
    title = one_line(request.title)
    write_plot(record.plot_path, request.view, runs, title if len(title) <= LONGEST else title[: LONGEST - 2] + " …")
    record.save_result(
        PictureResult(sheet=record.plot_path.name, sizes={record.plot_path.name: size_of(record.plot_path)})
    )
