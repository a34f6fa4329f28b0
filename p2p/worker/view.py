"""Verb `view`: requested pictures and videos of recorded rollouts."""

from dataclasses import dataclass, replace
from pathlib import Path

from p2p.contracts.errors import InvalidInput
from p2p.contracts.frame import FrameNote
from p2p.contracts.work import PictureResult, RecordedFile, ViewCamera, ViewRequest
from p2p.store.arrays import features_of, load_arrays
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import ViewRecord
from p2p.worker.engine.environment import compiled_model
from p2p.worker.pictures.comparison_sheet import compose_comparison
from p2p.worker.pictures.contact_sheet import compose_sheet, save_sheet
from p2p.worker.pictures.frame_files import notes_of, picture_size, size_of, write_frames
from p2p.worker.pictures.key_frames import KeyFrames, choose_frames
from p2p.worker.pictures.key_pictures import ShownRollout
from p2p.worker.pictures.slow_motion import RecordedStates
from p2p.worker.pictures.view_video import write_view_video

STATES = ("initial_qpos", "initial_qvel", "qpos", "qvel", "action")


@dataclass(frozen=True)
class Viewed:
    """A rollout, its shown part, and the moments of that part."""

    title: str
    states: RecordedStates
    shown: ShownRollout
    frames: KeyFrames


def view(job_dir: Path) -> None:
    """Make the pictures that the request in `job_dir` asks for.

    Raises:
        InvalidInput: the request or a rollout is missing, or the part to show is not in it.
        StorageProblem: a file cannot be written.
    """
    record = ViewRecord(job_dir)
    request = record.read_picture_request()
    if request is None:
        raise InvalidInput(f"{job_dir} holds no readable request that names rollouts to show.")
    rollouts = [_open(job_dir, recorded, request.view) for recorded in request.rollouts]
    camera = ViewCamera(request.view.camera)
    if len(rollouts) == 1:
        (only,) = rollouts
        page = compose_sheet(only.shown, only.frames, only.title, camera)
    else:
        columns = zip(*((viewed.title, viewed.shown, viewed.frames) for viewed in rollouts), strict=True)
        titles, shown, frames = map(list, columns)
        page = compose_comparison(titles, shown, frames, camera)
    save_sheet(record.sheet_path, page)
    notes = _write_frames(record, rollouts, request.view)
    note = "; ".join(viewed.frames.note for viewed in rollouts)
    video = None
    if request.view.path_of is not None:
        note += f"; purple: the path of {request.view.path_of}, thin where it goes after the moment"
    files = [record.sheet_path.name, *(frame.path for frame in notes if frame.path is not None)]
    sizes = {name: size_of(record.path / name) for name in files}
    if request.view.video or request.view.slow_motion > 1:
        parts = [(viewed.title, viewed.states, viewed.shown, viewed.frames) for viewed in rollouts]
        note = f"{note}; {write_view_video(record.video_path, parts, request.view)}"
        video = record.video_path.name
        width, height = picture_size(request.view)
        sizes[video] = (len(parts) * width, height)
    record.save_result(PictureResult(sheet=record.sheet_path.name, frames=notes, video=video, note=note, sizes=sizes))


def _open(job_dir: Path, recorded: RecordedFile, view: ViewRequest) -> Viewed:
    run = IterationRecord((job_dir / recorded.run_dir).resolve())
    config = run.read_config()
    spec = run.read_env_spec()
    arrays = load_arrays(job_dir / recorded.trajectory)
    if config is None or spec is None or arrays is None:
        raise InvalidInput(f"{job_dir / recorded.trajectory} of {run.path} cannot be read: there is nothing to show.")
    model = compiled_model(spec, config.env_kwargs, config.terrain)
    whole = ShownRollout(spec, model, arrays["qpos"], features_of(arrays), view.path_of)
    begin = view.start_s or 0.0
    end = view.end_s if view.end_s is not None else float(whole.times[-1])
    inside = ((whole.times >= begin - 1e-9) & (whole.times <= end + 1e-9)).nonzero()[0]
    if len(inside) < 2:
        raise InvalidInput(
            f"The part from {begin:g} s to {end:g} s holds fewer than two steps: "
            f"the rollout lasts {whole.times[-1]:.2f} s in steps of {whole.spec.dt:g} s. Choose a part within it."
        )
    shown = whole.part(int(inside[0]), int(inside[-1]) + 1)
    frames = choose_frames(shown.features, spec.dt, spec.rest_height)
    # Moments with the ends of a part renamed, since they are not those of the episode.
    names = {"start": "part begins" if shown.times[0] > whole.times[0] else "start"}
    names["end"] = "part ends" if shown.times[-1] < whole.times[-1] else "end"
    return Viewed(
        recorded.title,
        RecordedStates(*(arrays[name] for name in STATES)),
        shown,
        replace(frames, words=tuple(names.get(word, word) for word in frames.words)),
    )


def _write_frames(record: ViewRecord, rollouts: list[Viewed], view: ViewRequest) -> tuple[FrameNote, ...]:
    """Notes of all moments of all rollouts, numbered; some with a picture of their own."""
    notes: list[FrameNote] = []
    for viewed in rollouts:
        before = len(notes)

        def place(index: int, before: int = before) -> Path:
            return record.frame_path(before + index)

        written = write_frames(place, viewed.shown, viewed.frames, view)
        paths = {index: str(path.relative_to(record.path)) for index, path in written.items()}
        notes += [
            note.model_copy(update={"index": before + note.index, "path": paths.get(note.index)})
            for note in notes_of(viewed.shown, viewed.frames)
        ]
    return tuple(notes)
