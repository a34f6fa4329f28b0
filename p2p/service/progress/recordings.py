"""Recorded rollouts of an iteration, also while it trains: before any video of them is made."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.frame_rate import frame_rate
from p2p.contracts.recording import Recording, Recordings, RolloutLabel, Trace
from p2p.contracts.start_states import StartState, StartStates
from p2p.contracts.training import Evaluation
from p2p.service.progress.lineage import best_iteration
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.plain_arrays import PlainArray, read_arrays
from p2p.store.untrusted_files import is_readable

DIGITS = 5
"""Significant digits of a feature."""
REWARD_DIGITS = 9
"""Of the reward and its terms, which sum to it."""
MILLIMETRES = 3
"""Digits of a position after the point [m]."""
PER_ROW = ("timestamp", "reward", "reward_terms", "features", "xpos")
ARRAYS = (*PER_ROW, "_reward_term_names", "_feature_names")


class _Rollout(NamedTuple):
    """Where a recorded rollout lies."""

    run: IterationRecord
    checkpoint: int
    label: RolloutLabel
    report: bool
    trace: Path
    video: Path

    @property
    def words(self) -> str:
        kind = "report rollout" if self.report else "rollout"
        return f"{self.label} {kind} of checkpoint {self.checkpoint} of {self.run.iteration_id}"


def recordings(ws: Workspace, session_id: str, iteration: int) -> Recordings:
    """Which rollouts of an iteration are recorded: those that are judged, and of every checkpoint.

    Raises:
        UnknownName: there is no such session or iteration.
    """
    chosen = ws.iteration_begun(session_id, iteration)
    report = chosen.report.read_evaluation()
    found = [] if report is None else list(_recorded(_of_report(chosen, report), report))
    for run in chosen.runs():
        for checkpoint in reversed(run.checkpoints()):
            found += _recorded(_of_checkpoint(run, checkpoint.step), checkpoint.read_evaluation())
    return Recordings(
        session_id=session_id,
        iteration=iteration,
        run_id=report.run_id if report is not None else None,
        checkpoint=report.checkpoint if report is not None else None,
        recordings=tuple(found),
    )


def trace(
    ws: Workspace,
    session_id: str,
    iteration: int,
    label: RolloutLabel | str = RolloutLabel.MEDIAN,
    checkpoint: int | None = None,
    run_id: str | None = None,
) -> Trace:
    """The rows of a recorded rollout.

    Args:
        session_id: Whose.
        iteration: Its number.
        label: Which of the rollouts.
        checkpoint: Step of a checkpoint, for a rollout made while it trained; None for the report rollout.
        run_id: The checkpoint's run; None for the best run, or the first while there is none.

    Raises:
        UnknownName: there is no such session, iteration, label, run or checkpoint.
        InvalidInput: nothing is recorded of it, or not yet.
    """
    rollout = _find(ws, session_id, iteration, label, checkpoint, run_id)
    spec = rollout.run.read_env_spec()
    arrays = read_arrays(rollout.trace, ARRAYS)
    if arrays is None or spec is None:
        raise InvalidInput(f"No {rollout.words} is recorded.")
    try:
        rows = _rows(arrays, spec)
    except (ValueError, IndexError, TypeError) as error:
        raise InvalidInput(f"The recorded {rollout.words} cannot be read.") from error
    return Trace(
        session_id=session_id,
        iteration=iteration,
        run_id=rollout.run.iteration_id,
        checkpoint=rollout.checkpoint,
        label=rollout.label,
        report=rollout.report,
        **rows,
    )


def recorded_states(
    ws: Workspace,
    session_id: str,
    iteration: int | None = None,
    label: RolloutLabel | str = RolloutLabel.MEDIAN,
    start_s: float = 0.0,
    end_s: float | None = None,
    count: int = 16,
) -> StartStates:
    """States out of a report rollout, evenly spaced in time, for other trainings to begin in.

    Args:
        session_id: Whose.
        iteration: Its number; None takes the best one.
        label: Which of the rollouts.
        start_s: Begin of the part that is read [s].
        end_s: Its end [s]; None for that of the rollout.
        count: How many, 1 to 64; fewer where the part has fewer control steps.

    Raises:
        UnknownName: there is no such session, iteration or label.
        InvalidInput: nothing is recorded of it, or the part lies outside it.
    """
    if iteration is None:
        judgments = {one.number: one.read_judgment() for one in ws.record(session_id).iteration_records()}
        iteration = best_iteration({number: found for number, found in judgments.items() if found is not None})
        if iteration is None:
            raise InvalidInput(f"{session_id} has no judged iteration yet: there is no report rollout to read.")
    rollout = _find(ws, session_id, iteration, label, None, None)
    arrays = read_arrays(rollout.trace, ("timestamp", "qpos", "qvel", "features", "_feature_names"))
    if arrays is None:
        raise InvalidInput(f"No {rollout.words} is recorded.")
    times = arrays["timestamp"].values
    last = times[-1] if end_s is None else end_s
    rows = [row for row, time in enumerate(times) if start_s <= time <= last]
    if not rows or count < 1:
        raise InvalidInput(
            f"Expected a part of the rollout, which lasts {times[-1]:g} s, and 1 state or more; got {start_s:g} to "
            f"{last:g} s and {count}."
        )
    chosen = dict.fromkeys(rows[place * (len(rows) - 1) // max(1, count - 1)] for place in range(count))
    positions, velocities = (list(zip(*arrays[name].columns(), strict=True)) for name in ("qpos", "qvel"))
    features = dict(zip(arrays["_feature_names"].values, arrays["features"].columns(), strict=True))
    turns = features.get("pitch_turns", (0.0,) * len(times))
    try:
        states = tuple(
            StartState(qpos=positions[row], qvel=velocities[row], pitch_turns=round(turns[row], 6)) for row in chosen
        )
        return StartStates(states=states)
    except ValidationError as error:
        raise InvalidInput(f"The states cannot be taken: {error.errors()[0]['msg']}.") from error


def rollout_video(
    ws: Workspace,
    session_id: str,
    iteration: int,
    label: RolloutLabel | str = RolloutLabel.MEDIAN,
    checkpoint: int | None = None,
    run_id: str | None = None,
) -> Path:
    """The video of a recorded rollout; arguments and errors as of `trace`."""
    rollout = _find(ws, session_id, iteration, label, checkpoint, run_id)
    if not is_readable(rollout.video):
        raise InvalidInput(f"No video of the {rollout.words} has been made, or not yet.")
    return rollout.video


def _find(
    ws: Workspace, session_id: str, iteration: int, label: str, checkpoint: int | None, run_id: str | None
) -> _Rollout:
    if label not in list(RolloutLabel):
        raise UnknownName("label of a rollout", str(label), list(RolloutLabel))
    chosen = ws.iteration_begun(session_id, iteration)
    if checkpoint is None:
        report = chosen.report.read_evaluation()
        if report is None:
            raise InvalidInput(f"Iteration {iteration} of {session_id} has no report rollouts yet.")
        found = _of_report(chosen, report)
    else:
        run = _run(chosen, run_id)
        steps = [one.step for one in run.checkpoints()]
        if checkpoint not in steps:
            raise UnknownName("checkpoint", str(checkpoint), map(str, steps))
        found = _of_checkpoint(run, checkpoint)
    return next(rollout for rollout in found if rollout.label == label)


def _run(iteration: IterationRecord, run_id: str | None) -> IterationRecord:
    runs = {run.iteration_id: run for run in iteration.runs()}
    aggregation = iteration.read_aggregation()
    best = aggregation.best_run_id if aggregation is not None else next(iter(runs), "")
    name = run_id or best
    if name not in runs:
        raise UnknownName("run", name, runs)
    return runs[name]


def _of_report(iteration: IterationRecord, evaluation: Evaluation) -> Iterator[_Rollout]:
    run = IterationRecord(iteration.path / evaluation.run_id)
    report = iteration.report
    for label in RolloutLabel:
        place = report.trajectory(evaluation.checkpoint, label)
        yield _Rollout(run, evaluation.checkpoint, label, True, place, report.video(label))


def _of_checkpoint(run: IterationRecord, step: int) -> Iterator[_Rollout]:
    for label in RolloutLabel:
        yield _Rollout(run, step, label, False, run.trajectory(step, label), run.video(step, label))


def _recorded(rollouts: Iterator[_Rollout], evaluation: Evaluation | None) -> Iterator[Recording]:
    """Those of the rollouts of a checkpoint of which there is a trace or a video."""
    numbers = {one.label: one for one in (evaluation.rollouts if evaluation is not None else ())}
    for rollout in rollouts:
        trace, video = is_readable(rollout.trace), is_readable(rollout.video)
        if not trace and not video:
            continue
        known = numbers.get(rollout.label)
        yield Recording(
            run_id=rollout.run.iteration_id,
            checkpoint=rollout.checkpoint,
            label=rollout.label,
            report=rollout.report,
            video=rollout.video.name if video else None,
            trace=trace,
            episode_return=known.episode_return if known is not None else None,
            seed=known.seed if known is not None else None,
            length=known.length if known is not None else None,
        )


def _rows(arrays: Mapping[str, PlainArray], spec: EnvSpec) -> dict[str, object]:
    """The fields of a trace that are recorded.

    Raises:
        ValueError, IndexError, TypeError: the arrays do not fit each other or the environment.
    """
    if len({arrays[name].shape[:1] for name in PER_ROW}) != 1:
        raise ValueError("arrays of different lengths")
    bodies = ("world", *(body.name for body in spec.bodies))
    positions = arrays["xpos"].columns()
    if len(positions) != 3 * len(bodies):
        raise ValueError("other bodies than the environment has")
    return {
        "dt": spec.dt,
        "steps_per_picture": frame_rate(spec.dt)[0],
        "time": tuple(round(time, 6) for time in arrays["timestamp"].values),
        "reward": _short(arrays["reward"].values, REWARD_DIGITS),
        "terms": _table(arrays, "_reward_term_names", "reward_terms", REWARD_DIGITS),
        "features": _table(arrays, "_feature_names", "features", DIGITS),
        "bodies": bodies,
        "bones": tuple((number, bodies.index(body.parent)) for number, body in enumerate(spec.bodies, 1)),
        "positions": tuple(
            tuple(round(value, MILLIMETRES) if math.isfinite(value) else None for value in column)
            for column in positions
        ),
    }


def _table(
    arrays: Mapping[str, PlainArray], names: str, values: str, digits: int
) -> dict[str, tuple[float | None, ...]]:
    columns = arrays[values].columns()
    return {str(name): _short(column, digits) for name, column in zip(arrays[names].values, columns, strict=True)}


def _short(values: Sequence[float], digits: int) -> tuple[float | None, ...]:
    return tuple(float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in values)
