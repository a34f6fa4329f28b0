"""Choose a checkpoint by eyes, a model's or the caller's, after a veto of the one the criteria chose."""

from collections.abc import Iterator, Sequence

from p2p.contracts.errors import BudgetExceeded, EnvironmentProblem, InvalidInput, TrainingFailed
from p2p.contracts.inference import ModelProblem
from p2p.contracts.intent import Intent
from p2p.contracts.judgment import Evidence
from p2p.contracts.session import EventName
from p2p.contracts.training import CheckpointChoice, CheckpointLook, IterationAggregation
from p2p.contracts.work import PictureRequest, PictureResult, RecordedFile, ViewRequest
from p2p.judges import synthesis
from p2p.judges.evidence_pictures import CloserLook, EvidencePicture, EvidencePictures
from p2p.registry import naming_extras
from p2p.rewards.part_features import judged_features
from p2p.service.judging.evidence import SHOWN, duration_s, rubric_for
from p2p.service.judging.eyes import ROLE, keep_picture, requested_view, vision_models
from p2p.service.pictures.picturing import make_picture, relative_path
from p2p.service.training.aggregation import checkpoints_by_merit
from p2p.service.training.environments import environment_of
from p2p.service.training.plan import session_for, unanswered_vetoes
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import ViewRecord, path_from_view, state_of, view_record
from p2p.store.sessions import SessionRecord

MOST_LOOKS = 3
"""Checkpoints of one iteration that eyes look at; each is one question to the model, which may ask for pictures."""


def chosen_checkpoint(ws: Workspace, session_id: str, number: int) -> IterationAggregation:
    """Aggregation with the checkpoint to report on: best on selection rollouts, or accepted by eyes.

    Criteria that an exploit met once will choose the checkpoint that exploits them best again. So after a veto the
    model that vetoed looks at the selection rollouts of the best few checkpoints, until it accepts one. The report
    rollouts are of another seed, and are looked at as always: nothing passes by this choice.
    """
    record = ws.record(session_id)
    iteration = record.iteration(number)
    aggregation = iteration.read_aggregation()
    assert aggregation is not None, "an iteration is judged after its training"
    vetoes = unanswered_vetoes(record, number)
    intent = record.read_criteria()
    asked = bool(record.read_session().judge_model) and intent is not None and bool(vetoes)
    if not asked or aggregation.looks or iteration.report.read_evaluation() is not None:
        return aggregation
    candidates = checkpoints_by_merit(iteration.runs(), aggregation)[:MOST_LOOKS]
    assert intent is not None, "asked for"
    looks = list(_looks(ws, record, iteration, intent, candidates)) if len(candidates) > 1 else []
    if not looks:
        return aggregation
    best = max(looks, key=lambda look: (look.accepted, look.score or 0.0))  # the first of equals: by merit
    chosen = _reported(aggregation, iteration, best, tuple(looks))
    iteration.save_aggregation(chosen)
    return chosen


def _looks(
    ws: Workspace,
    record: SessionRecord,
    iteration: IterationRecord,
    intent: Intent,
    candidates: Sequence[tuple[IterationRecord, int]],
) -> Iterator[CheckpointLook]:
    """Observations of each checkpoint until one is accepted or the session's caps are nearly used up.

    What is left is for the verdict. Where eyes cannot look, those that were looked at are chosen among.
    """
    models = vision_models(ws, record)
    for run, step in candidates:
        if models.budget.what_is_left():
            return
        try:
            look = _look_at(ws, record, iteration, intent, run, step)
        except (ModelProblem, BudgetExceeded, EnvironmentProblem, TrainingFailed) as error:
            message = f"Eyes could not look at checkpoint {step:,} to choose by: {error}"
            record.events.emit(EventName.GUARDRAIL, iteration.number, run_id=run.iteration_id, message=message)
            return
        yield look
        if look.accepted:
            return


def open_choice(ws: Workspace, session_id: str, number: int) -> tuple[CheckpointChoice, ...]:
    """Checkpoints that a caller with eyes may choose among, the best first; empty where it has no choice.

    It has one after a veto, once, before the iteration is judged, in a session without a model that looks itself.
    """
    record = ws.record(session_id)
    iteration = record.iteration(number)
    aggregation = iteration.read_aggregation()
    if aggregation is None or aggregation.looks or iteration.read_judgment() is not None:
        return ()
    if record.read_session().judge_model or record.read_criteria() is None or not unanswered_vetoes(record, number):
        return ()
    candidates = checkpoints_by_merit(iteration.runs(), aggregation)[:MOST_LOOKS]
    offered = tuple(CheckpointChoice(run_id=run.iteration_id, step=step) for run, step in candidates)
    return offered if len(offered) > 1 else ()


def choice_evidence(ws: Workspace, session_id: str, number: int, choice: CheckpointChoice) -> Evidence:
    """Selection rollouts of a checkpoint that is on offer, as evidence; nothing of the report is shown before."""
    record = ws.record(session_id)
    intent = record.read_criteria()
    assert intent is not None, "there is a choice"
    iteration = record.iteration(number)
    return _evidence(ws, record, iteration, intent, IterationRecord(iteration.path / choice.run_id), choice.step)


def choose_checkpoint(ws: Workspace, session_id: str, number: int, choice: CheckpointChoice) -> None:
    """Take a checkpoint that the caller chose; the report rollouts are then recorded of it.

    Raises:
        InvalidInput: it is not on offer, or not any longer.
    """
    record = ws.record(session_id)
    with record.exclusive():
        offered = open_choice(ws, session_id, number)
        if choice not in offered:
            known = ", ".join(map(str, offered))
            raise InvalidInput(
                f"{choice} of iteration {number} is not on offer: "
                + (f"choose one of {known}." if offered else "there is nothing to choose, or it has been chosen.")
            )
        iteration = record.iteration(number)
        aggregation = iteration.read_aggregation()
        assert aggregation is not None, "it holds what is on offer"
        looks = (
            CheckpointLook(run_id=one.run_id, step=one.step, accepted=one == choice, score=None, diagnosis="")
            for one in offered
        )
        iteration.forget_report()  # of the checkpoint that selection rollouts chose
        iteration.save_aggregation(_reported(aggregation, iteration, choice, tuple(looks)))


def _reported(
    aggregation: IterationAggregation,
    iteration: IterationRecord,
    choice: CheckpointChoice | CheckpointLook,
    looks: tuple[CheckpointLook, ...],
) -> IterationAggregation:
    """The aggregation with the checkpoint to report on that eyes chose."""
    return aggregation.model_copy(
        update={
            "best_run_id": choice.run_id,
            "best_config_id": IterationRecord(iteration.path / choice.run_id).config_id,
            "best_checkpoint": choice.step,
            "looks": looks,
        }
    )


def _look_at(
    ws: Workspace, record: SessionRecord, iteration: IterationRecord, intent: Intent, run: IterationRecord, step: int
) -> CheckpointLook:
    """Have the session's model look at the selection rollouts of one checkpoint."""
    from p2p.judges.vision import VisionJudge  # noqa: PLC0415  the service starts without jinja2

    evidence = _evidence(ws, record, iteration, intent, run, step)
    assert evidence.contact_sheet is not None, "it was just made"

    def more(wish: CloserLook) -> EvidencePicture:
        request = requested_view(wish).model_copy(update={"compare_with": None})
        found, result = _checkpoint_view(ws, iteration, run, step, request)
        about = f"{request.label} rollout, {request.camera} camera"
        return keep_picture(ws, iteration, found.path / result.sheet, about, result.note)

    about = f"Contact sheet of the {SHOWN} rollout"
    sheet = keep_picture(ws, iteration, ws.runs.path / evidence.contact_sheet, about, evidence.picture_note)
    model = vision_models(ws, record).for_role(ROLE, iteration.number)
    judge = VisionJudge(model, EvidencePictures(sheet, None, more))
    judgment = synthesis.combine(intent, evidence.code, judge.look(evidence))
    return CheckpointLook(
        run_id=run.iteration_id,
        step=step,
        accepted=judgment.passed,
        score=judgment.intent_score,
        diagnosis=judgment.observation.diagnosis if judgment.observation is not None else "",
    )


def _evidence(
    ws: Workspace, record: SessionRecord, iteration: IterationRecord, intent: Intent, run: IterationRecord, step: int
) -> Evidence:
    """Selection rollouts of one checkpoint, as numbers and pictures."""
    from p2p.analysis.rollout_numbers import rollout_numbers  # noqa: PLC0415  the service starts without numpy

    session = record.read_session()
    checkpoint = run.checkpoint(step)
    evaluation = checkpoint.read_evaluation()
    assert evaluation is not None, "a candidate is recorded"
    threshold = session_for(record, iteration.number).pass_threshold
    with naming_extras():
        from p2p.judges.code import CodeJudge  # noqa: PLC0415 - numpy, which the service starts without
    code = CodeJudge().measure_checkpoint(intent, checkpoint.path, threshold)
    job, pictures = _checkpoint_view(ws, iteration, run, step, ViewRequest())
    spec = environment_of(ws, session, intent)
    unjudged = synthesis.unseen(intent, code)
    return Evidence(
        session_id=record.session_id,
        iteration=iteration.number,
        prompt=session.prompt,
        code=code,
        criteria=intent.criteria,
        unjudged=tuple(criterion.key for criterion in unjudged),
        contact_sheet=relative_path(ws, job.path / pictures.sheet),
        frames=pictures.frames,
        picture_note=pictures.note,
        videos={},
        shown=SHOWN,
        duration_s=duration_s(evaluation),
        numbers=rollout_numbers(
            checkpoint.path, SHOWN, (*spec.features, *judged_features((c.predicate for c in intent.criteria), spec))
        ),
        bodies=tuple(body.name for body in spec.bodies),
        rubric=rubric_for(session.prompt, unjudged, evaluation),
    )


def _checkpoint_view(
    ws: Workspace, iteration: IterationRecord, run: IterationRecord, step: int, request: ViewRequest
) -> tuple[ViewRecord, PictureResult]:
    """Pictures of a checkpoint's selection rollout; the title names neither step nor run."""
    path = run.trajectory(step, request.label)
    shown = RecordedFile(
        run_dir=path_from_view(iteration.path, run.path),
        trajectory=path_from_view(iteration.path, path),
        title=f"Iteration {iteration.number}, {request.label} rollout",
    )
    order = PictureRequest(rollouts=(shown,), view=request)
    job = view_record(iteration.path, order, state_of([path]))
    return job, make_picture(ws, job, "view", order, None)
