"""Judge an iteration with a vision model called by p2p."""

from p2p.contracts.errors import InvalidInput
from p2p.contracts.judgment import Evidence, Judgment, Observation, Verdict
from p2p.judges import agreement, synthesis
from p2p.judges.evidence_pictures import CloserLook, EvidencePicture, EvidencePictures
from p2p.service.judging.caller_judgment import chosen_iteration, judge_evidence, require_judgeable, submit_judgment
from p2p.service.judging.evidence import SHOWN
from p2p.service.judging.eyes import ROLE, USELESS, keep_picture, requested_view, vision_models
from p2p.service.pictures.viewing import view_rollout
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.sessions import SessionRecord


def judge_by_model(ws: Workspace, session_id: str, iteration: int | None = None) -> Judgment:
    """Ask a vision model about an iteration; combine its observation with the measured judgment.

    An iteration that a model has looked at already is not looked at again.

    Args:
        session_id: Whose.
        iteration: Its number; None takes the newest.

    Raises:
        UnknownName: there is no such session or iteration.
        InvalidInput: it is not trained yet, it cannot be judged again, or no model is configured.
        ModelProblem: the model gives no answer that can be used.
        BudgetExceeded: it would cost more than the session may.
    """
    record = ws.record(session_id)
    chosen = chosen_iteration(ws, record, iteration)
    known = chosen.read_judgment()
    if known is not None and known.observation is not None and known.observation.observer == "api":
        return submit_judgment(ws, session_id, chosen.number, known.observation)
    require_judgeable(ws, record, chosen, known)
    evidence = judge_evidence(ws, session_id, chosen.number)
    return submit_judgment(ws, session_id, chosen.number, _observe(ws, record, chosen, evidence))


def judge_by_eyes(ws: Workspace, record: SessionRecord, iteration: IterationRecord, code: Judgment) -> Judgment:
    """Judge with the session's vision model, if it has one; without a usable answer nothing passes."""
    intent = record.read_criteria()
    if not record.read_session().judge_model or intent is None or not code.rollouts:
        return code
    evidence = judge_evidence(ws, record.session_id, iteration.number)
    if evidence.contact_sheet is None:
        return _unseen(code, "there are no pictures to look at.")
    try:
        observation = _observe(ws, record, iteration, evidence)
    except USELESS as error:
        return _unseen(code, str(error))
    return synthesis.combine(intent, code, observation)


def _observe(ws: Workspace, record: SessionRecord, iteration: IterationRecord, evidence: Evidence) -> Observation:
    """Ask the model once, and again if its answer is far from the measurement."""
    from p2p.judges.vision import VisionJudge  # noqa: PLC0415 - jinja2, which the service starts without

    model = vision_models(ws, record).for_role(ROLE, iteration.number)
    if evidence.contact_sheet is None:
        raise InvalidInput(f"Iteration {iteration.number} of {record.session_id} has no pictures to look at.")
    sheet = ws.runs.path / evidence.contact_sheet
    video = evidence.videos.get(SHOWN)

    def more(wish: CloserLook) -> EvidencePicture:
        request = requested_view(wish)
        pictures = view_rollout(ws, record.session_id, iteration.number, request)
        # Caption of a view, for the model that asked for it.
        part = ""
        if request.start_s is not None or request.end_s is not None:
            end = "its end" if request.end_s is None else f"{request.end_s:g} s"
            part = f", {request.start_s or 0:g} s to {end}"
        other = f", iteration {request.compare_with} below" if request.compare_with is not None else ""
        path = f", path of {request.path_of}" if request.path_of is not None else ""
        words = f"Iteration {iteration.number}, {request.label} rollout, {request.camera} camera{part}{other}{path}"
        return keep_picture(ws, iteration, ws.runs.path / pictures.sheet.path, words, pictures.note)

    shown = EvidencePictures(
        sheet=keep_picture(ws, iteration, sheet, f"Contact sheet of the {SHOWN} rollout", evidence.picture_note),
        video=keep_picture(ws, iteration, ws.runs.path / video, f"Video of the {SHOWN} rollout") if video else None,
        more=more,
    )
    judge = VisionJudge(model, shown)
    observation = judge.look(evidence)
    return judge.look_again(evidence, observation) if agreement.apart(evidence.code, observation) else observation


def _unseen(code: Judgment, why: str) -> Judgment:
    """Measured judgment after a failed vision judgment: it may fail, but not pass."""
    fallback = f"No eyes took part: {why}"[:500]
    provenance = code.provenance.model_copy(update={"fallback": fallback})
    changes: dict[str, object] = {"provenance": provenance, "diagnosis": f"{code.diagnosis}\n{fallback}"}
    if code.passed:
        changes |= {"verdict": Verdict.NO_VERDICT, "failure_tags": ("not_looked_at",)}
        changes |= dict.fromkeys(("intent_score", "success_rate", "success_low", "success_high"))
    return code.model_copy(update=changes)
