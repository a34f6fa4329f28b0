"""Judgments submitted by the caller: evidence to look at, and the effect of the answer."""

from pathlib import Path

from p2p.contracts.errors import Busy, InvalidInput
from p2p.contracts.judgment import Evidence, Judgment, Observation, hash_of
from p2p.contracts.remedies import Remedy
from p2p.contracts.session import EventName, SessionStatus
from p2p.contracts.training import Evaluation
from p2p.judges import synthesis
from p2p.rewards.part_features import judged_features
from p2p.service.judging.by_code import annotated, judge_by_code
from p2p.service.judging.closing import close, outcome
from p2p.service.judging.evidence import SHOWN, duration_s, rubric_for
from p2p.service.judging.report import run_report
from p2p.service.logs.job import keep_logs
from p2p.service.progress.lineage import record_iteration
from p2p.service.progress.session_view import job_status, live_training, view_session
from p2p.service.training.aggregation import aggregate_checkpoints
from p2p.service.training.environments import environment_of
from p2p.service.training.iteration import settled_aggregation
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import SheetRecord
from p2p.store.sessions import SessionRecord

LABELS = ("p10", "median", "p90")


def judge_evidence(ws: Workspace, session_id: str, iteration: int | None = None) -> Evidence:
    """Evidence for judging an iteration; decides and saves nothing.

    Args:
        session_id: Whose.
        iteration: Its number; None takes the newest.

    Raises:
        UnknownName: there is no such session or iteration.
        InvalidInput: it is not trained yet; the message says what to call.
    """
    from p2p.analysis.rollout_numbers import rollout_numbers  # noqa: PLC0415 - numpy, which the service starts without

    record = ws.record(session_id)
    chosen = chosen_iteration(ws, record, iteration)
    evaluation = _report_rollouts(ws, record, chosen)
    session = record.read_session()
    intent = record.read_criteria()
    code = judge_by_code(ws, record, chosen)
    kept = tuple(rollout for rollout in code.rollouts if rollout.label is not None)
    unjudged = synthesis.unseen(intent, code) if intent is not None else ()
    spec = environment_of(ws, session, intent)
    asked = judged_features((c.predicate for c in intent.criteria) if intent is not None else (), spec)
    numbers = rollout_numbers(chosen.report.path, SHOWN, (*spec.features, *asked))
    sheet = SheetRecord(chosen.path)
    pictures = sheet.read_result()
    frames = tuple(
        frame.model_copy(update={"path": _path_of(ws, chosen.path / frame.path) if frame.path else None})
        for frame in (pictures.frames if pictures is not None else ())
    )
    return Evidence(
        session_id=session_id,
        iteration=chosen.number,
        prompt=session.prompt,
        code=code.model_copy(update={"rollouts": kept}),
        criteria=intent.criteria if intent is not None else (),
        unjudged=tuple(criterion.key for criterion in unjudged),
        contact_sheet=_path_of(ws, sheet.sheet_path),
        frames=frames,
        picture_note=pictures.note if pictures is not None else "",
        videos={label: path for label in LABELS if (path := _path_of(ws, chosen.report.video(label)))},
        shown=SHOWN,
        duration_s=duration_s(evaluation),
        numbers=numbers,
        bodies=tuple(body.name for body in spec.bodies),
        rubric=rubric_for(session.prompt, unjudged, evaluation),
    )


def submit_judgment(ws: Workspace, session_id: str, iteration: int | None, observation: Observation | None) -> Judgment:
    """Combine the caller's observation with the measured judgment; a pass ends the session.

    The same observation again returns the same judgment. Another one takes its place until the next reward is
    handed in, or the session has ended.

    Args:
        session_id: Whose.
        iteration: Its number; None takes the newest.
        observation: What eyes saw; None judges by code alone, where nothing needs eyes.

    Raises:
        UnknownName: there is no such session or iteration, or the observation decides a criterion there is not.
        InvalidInput: it is not trained yet, it cannot be judged again, or a criterion that only eyes can judge is
            left open.
    """
    record = ws.record(session_id)
    with record.exclusive():
        chosen = chosen_iteration(ws, record, iteration)
        known = chosen.read_judgment()
        evaluation = _report_rollouts(ws, record, chosen)
        code = judge_by_code(ws, record, chosen)
        intent = record.read_criteria()
        unjudged = synthesis.unseen(intent, code) if intent is not None else ()
        if observation is not None and observation.prompt_hash is None:
            rubric = rubric_for(record.read_session().prompt, unjudged, evaluation)
            observation = observation.model_copy(update={"prompt_hash": hash_of(rubric)})
        if known is not None and known.observation == observation:
            _close_if_over(ws, record)
            return known
        require_judgeable(ws, record, chosen, known)
        if observation is None and unjudged:
            raise InvalidInput(
                f"Only eyes can judge {', '.join(criterion.key for criterion in unjudged)}: look at the pictures "
                f"({Remedy.LOOK.of()}) and submit what you saw ({Remedy.SUBMIT_JUDGMENT.of()})."
            )
        if intent is not None and observation is not None:
            judgment = annotated(chosen, synthesis.combine(intent, code, observation))
        else:
            judgment = annotated(chosen, code)
        number = chosen.number
        n_runs = len(chosen.runs())
        with record.events.span(EventName.JUDGE_START, EventName.JUDGE_END, number, num_runs=n_runs) as result:
            chosen.save_judgment(judgment)
            result |= {"intent_score": judgment.intent_score, "best_run": judgment.run_id}
        record_iteration(record, number)
        keep_logs(ws, record)
        _close_if_over(ws, record)
        return judgment


def _close_if_over(ws: Workspace, record: SessionRecord) -> None:
    """Close a session that has passed or used up its iterations, unless it is closed already."""
    status = record.read_status()
    ending = outcome(ws, record.session_id)
    if ending is not None and (status is None or not status.status.finished):
        close(ws, record.session_id, ending)


def chosen_iteration(ws: Workspace, record: SessionRecord, number: int | None) -> IterationRecord:
    """Iteration `number`, or the newest where it is None.

    Raises:
        UnknownName: the session has not come that far.
        InvalidInput: it has no reward yet.
    """
    if number is not None:
        return ws.iteration_begun(record.session_id, number)
    iterations = record.iteration_records()
    if not iterations:
        raise InvalidInput(
            f"{record.session_id} has no reward yet. Submit one ({Remedy.WRITE_REWARD.of()}), then train it "
            f"({Remedy.TRAIN.of(session=record.session_id)})."
        )
    return iterations[-1]


def _report_rollouts(ws: Workspace, record: SessionRecord, iteration: IterationRecord) -> Evaluation:
    """Report rollouts of an iteration; recorded now if a killed training left none."""
    name = record.session_id
    number = iteration.number
    if (job := live_training(record, ws.backend)) is not None and iteration.read_judgment() is None:
        raise Busy(
            f"Iteration {number} of {name} is being trained by {job}. Wait for it ({Remedy.FOLLOW_JOB.of(job=job)})."
        )
    if settled_aggregation(iteration) is None:
        _aggregate_ended(ws, record, iteration)
    if iteration.read_aggregation() is None:
        report = iteration.read_reward_report()
        train = Remedy.TRAIN.of(session=name)
        step = f"train it first ({train})"
        if report is None or not report.accepted:
            step = f"submit a reward ({Remedy.WRITE_REWARD.of()}) and train it ({train})"
        raise InvalidInput(f"Iteration {number} of {name} has no rollouts to judge yet: {step}.")
    if iteration.report.read_evaluation() is None:
        run_report(ws, name, number)
    evaluation = iteration.report.read_evaluation()
    if evaluation is None:
        raise InvalidInput(f"The report rollouts of iteration {number} of {name} are broken; see {iteration.path}.")
    return evaluation


def _aggregate_ended(ws: Workspace, record: SessionRecord, iteration: IterationRecord) -> None:
    """Aggregate the runs if all ended, some early, and one has a measured checkpoint.

    Raises:
        InvalidInput: a process drives the session, which goes on to train it.
    """
    runs = iteration.runs()
    jobs = [job_status(run.path, ws.backend) for run in runs]  # None: never started
    if not runs or not all(job is None or job.state.finished for job in jobs):
        return
    aggregation = aggregate_checkpoints(runs)
    known = iteration.read_aggregation()
    if aggregation is None:
        return
    if known is not None and known.by_checkpoints and aggregation.configs == known.configs:
        return  # the runs are the same; which checkpoint eyes chose makes no difference
    if view_session(ws, record.session_id).alive:
        raise Busy(
            f"{record.session_id} is driven by another process, which trains it. "
            f"Stop it ({Remedy.STOP.of(session=record.session_id)})."
        )
    iteration.forget_aggregation()  # of another checkpoint, before the training went on
    iteration.save_aggregation(aggregation)


def require_judgeable(ws: Workspace, record: SessionRecord, iteration: IterationRecord, known: Judgment | None) -> None:
    """Refuse a judgment after later work was based on the iteration."""
    name = record.session_id
    number = iteration.number
    status = record.read_status()
    if known is None:
        if view_session(ws, name).alive:
            raise Busy(
                f"{name} is driven by another process, which judges it. Stop it ({Remedy.STOP.of(session=name)})."
            )
        return
    newest = record.iteration_records()[-1].number
    ended = status is not None and status.status in (SessionStatus.PASSED, SessionStatus.MAX_ITERATIONS)
    if ended or number != newest:
        why = f"{name} has ended" if ended else f"iteration {newest} has been begun on it"
        raise InvalidInput(
            f"Iteration {number} of {name} is judged as {known.verdict}, and {why}: it is not judged again."
        )


def _path_of(ws: Workspace, path: Path) -> str | None:
    """Path relative to the runs directory; None if missing."""
    return str(path.relative_to(ws.runs.path)) if path.exists() else None
