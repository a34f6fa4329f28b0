"""Pictures of recorded rollouts."""

from pathlib import Path

from p2p.contracts.env import without_hash
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.work import PictureRequest, RecordedFile, RolloutPictures, ViewRequest
from p2p.service.pictures.picturing import (
    best_of,
    compared_iteration,
    make_picture,
    pending_work,
    picture_file,
    relative_path,
)
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import path_from_view, state_of, view_record
from p2p.store.sessions import SessionRecord


def view_rollout(
    ws: Workspace,
    session_id: str,
    iteration: int | None = None,
    request: ViewRequest | None = None,
    wait_s: float | None = None,
) -> RolloutPictures:
    """Show a recorded rollout: the judged one, or that of the last evaluation while the iteration trains.

    The same request is answered by the same files, which are made once.

    Args:
        session_id: The session.
        iteration: Its number; None takes the best one, and before any is judged the newest with a rollout.
        request: Which rollout, from where, how slow.
        wait_s: How long the caller can wait [s]; what takes longer goes on, and the same request finds it made.

    Raises:
        UnknownName: there is no such session, iteration or body.
        InvalidInput: nothing is recorded yet, or the part to show is not in the rollout.
        EnvironmentProblem: this machine is too busy to make them in `wait_s`.
    """
    record = ws.record(session_id)
    request = request or ViewRequest()
    iterations = record.iteration_records()
    if iteration is not None:
        shown = ws.iteration_begun(session_id, iteration)
    elif not iterations:
        raise InvalidInput(f"{session_id} has no iteration yet: nothing is recorded. {pending_work(ws, record)}")
    else:
        recorded_last = (each for each in reversed(iterations) if _recorded(each, "median") is not None)
        shown = best_of(iterations) or next(recorded_last, iterations[-1])
    chosen = [shown, *compared_iteration(ws, session_id, shown, request.compare_with)]
    recorded = [(each, *recorded_rollout(ws, record, each, request.label)) for each in chosen]
    spec = recorded[0][1].read_env_spec()
    known = [body.name for body in spec.bodies] if spec is not None else []
    if request.path_of is not None and spec is not None and request.path_of not in known:
        raise UnknownName("body", request.path_of, known)
    session = record.read_session()
    robot = without_hash(session.env_id)
    rollouts = []
    for each, run, path in recorded:
        training = "" if path.parent == each.report.trajectories_dir else " while training"
        rollouts.append(
            RecordedFile(
                run_dir=path_from_view(shown.path, run.path),
                trajectory=path_from_view(shown.path, path),
                title=f"Iteration {each.number}, {request.label} rollout{training}, {robot}: {session.prompt}",
            )
        )
    order = PictureRequest(rollouts=tuple(rollouts), view=request)
    job = view_record(shown.path, order, state_of(trajectory for _, _, trajectory in recorded))
    result = make_picture(ws, job, "view", order, wait_s)
    single = [frame.path for frame in result.frames if frame.path is not None]
    places = [relative_path(ws, job.path / frame.path) if frame.path else None for frame in result.frames]
    return RolloutPictures(
        session_id=session_id,
        iteration=shown.number,
        compared_with=request.compare_with,
        label=request.label,
        sheet=picture_file(ws, job.path, result, result.sheet),
        frames=tuple(
            frame.model_copy(update={"path": place}) for frame, place in zip(result.frames, places, strict=True)
        ),
        frame_files=tuple(picture_file(ws, job.path, result, name) for name in single),
        video=picture_file(ws, job.path, result, result.video) if result.video is not None else None,
        note=result.note,
    )


def recorded_rollout(
    ws: Workspace, record: SessionRecord, iteration: IterationRecord, label: str
) -> tuple[IterationRecord, Path]:
    """Run and file of a recorded rollout."""
    found = _recorded(iteration, label)
    if found is None:
        raise InvalidInput(
            f"Iteration {iteration.number} of {record.session_id} has no recorded rollouts yet: a run records "
            f"the first ones at its first evaluation. {pending_work(ws, record)}"
        )
    return found


def _recorded(iteration: IterationRecord, label: str) -> tuple[IterationRecord, Path] | None:
    """Run and file of a rollout: from the report, or before it from the latest evaluation."""
    report = iteration.report.read_evaluation()
    if report is not None:
        path = iteration.report.trajectory(report.checkpoint, label)
        return (IterationRecord(iteration.path / report.run_id), path) if path.exists() else None
    found = [
        (checkpoint.step, run, path)
        for run in iteration.runs()
        for checkpoint in run.checkpoints()
        if (path := run.trajectory(checkpoint.step, label)).exists()
    ]
    latest = max(found, key=lambda each: each[0], default=None)
    return latest[1:] if latest is not None else None
