"""Pictures of recorded rollouts and of the training. A failed picture is reported and left out."""

import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import mujoco

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import P2PError
from p2p.contracts.work import MetricsPlot, PictureResult, ViewRequest
from p2p.store.arrays import features_of, load_arrays
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import SheetRecord
from p2p.worker.pictures.contact_sheet import write_contact_sheet
from p2p.worker.pictures.frame_files import notes_of, size_of, write_frames
from p2p.worker.pictures.key_pictures import ShownRollout
from p2p.worker.pictures.metric_plots import TrainedRun, write_plot
from p2p.worker.pictures.video import write_rollout_video


def film(spec: EnvSpec, model: mujoco.MjModel, films: Iterable[tuple[Path, Path]]) -> None:
    """Make a video of each trajectory file that exists.

    Args:
        spec: The environment they were recorded in.
        model: Its model.
        films: Trajectory and video file of each.
    """
    for trajectory, video in films:
        if (arrays := load_arrays(trajectory)) is not None:
            with _reported(video):
                write_rollout_video(video, ShownRollout(spec, model, arrays["qpos"], features_of(arrays)))


def picture_rollout(record: SheetRecord, spec: EnvSpec, model: mujoco.MjModel, trajectory: Path, title: str) -> None:
    """Make the contact sheet of a trajectory file, and its moments as pictures of their own."""
    arrays = load_arrays(trajectory)
    if arrays is None:
        return
    rollout = ShownRollout(spec, model, arrays["qpos"], features_of(arrays))
    with _reported(record.sheet_path):
        frames = write_contact_sheet(record.sheet_path, model, spec, rollout.qpos, rollout.features, title)
        written = write_frames(record.frame_path, rollout, frames, ViewRequest(frames=len(frames.steps)))
        notes = tuple(
            note.model_copy(update={"path": str(written[note.index].relative_to(record.path))})
            for note in notes_of(rollout, frames)
        )
        sizes = {str(path.relative_to(record.path)): size_of(path) for path in (record.sheet_path, *written.values())}
        record.save_result(
            PictureResult(sheet=record.sheet_path.name, frames=notes, note=frames.note, sizes=sizes),
        )


def picture_learning(path: Path, runs: Sequence[IterationRecord], title: str) -> None:
    """Draw the learning curves of some runs."""
    trained = [TrainedRun(run.iteration_id, "", *run.parse_scalars()) for run in runs]
    with _reported(path):
        write_plot(path, MetricsPlot.CURVE, trained, title)


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Report a failed picture on stderr and continue: no picture is worth a finished training."""
    try:
        yield
    except P2PError as error:
        print(f"{path.name} could not be made: {error}", file=sys.stderr)
    except Exception:  # a renderer may raise anything, and a finished training must not fail for a missing picture
        print(f"{path.name} could not be made:", file=sys.stderr)
        traceback.print_exc()
