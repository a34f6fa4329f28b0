"""Judging with the eyes of a model that p2p asks itself."""

from pathlib import Path

from p2p import registry
from p2p.contracts.errors import InvalidInput
from p2p.contracts.evidence import Evidence
from p2p.contracts.inference import ModelName
from p2p.contracts.judgment import Judgment, Verdict
from p2p.contracts.model_problems import ModelRefused, ReplyMalformed, ReplyTruncated
from p2p.contracts.observation import Observation, SentPicture
from p2p.contracts.session import Session
from p2p.contracts.work import ViewCamera, ViewRequest
from p2p.inference.client import SessionModels
from p2p.judges import agreement, synthesis
from p2p.judges.album import Album, Closer, Shown
from p2p.service.authoring.models import session_models
from p2p.service.judging.judge_code import JudgeCoding
from p2p.service.judging.observing import SHOWN, Observing
from p2p.service.pictures.picturing import MIME_TYPES
from p2p.service.pictures.viewing import Viewing
from p2p.store.iterations import IterationRecord
from p2p.store.opening import read_bytes
from p2p.store.seen import SeenPictures
from p2p.store.sessions import SessionRecord

ROLE = "vision_judge"
"""Under which its calls are counted in the session's ledger."""
USELESS = (ReplyMalformed, ReplyTruncated, ModelRefused)
"""The model was reached, and what it said cannot be used; asking again would change nothing."""


class Looking(JudgeCoding, Observing, Viewing):
    """Step four of the loop, where a model does the looking."""

    def eyes_of(self, session_id: str) -> str:
        """`provider:model` that would look at a session's pictures; empty where none is configured."""
        session = self.record(session_id).read_session()
        return session.judge_model or session.model or self.settings.model

    def judge_by_model(self, session_id: str, iteration: int | None = None) -> Judgment:
        """Have a model look at an iteration, and judge it by what code measured and the model saw.

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
        record = self.record(session_id)
        chosen = self._iteration_or_newest(record, iteration)
        known = chosen.read_judgment()
        if known is not None and known.observation is not None and known.observation.observer == "api":
            return self.submit_judgment(session_id, chosen.number, known.observation)
        self._check_open(record, chosen, known)
        evidence = self.judge_evidence(session_id, chosen.number)
        return self.submit_judgment(session_id, chosen.number, self._observe(record, chosen, evidence))

    def _verdict(self, record: SessionRecord, iteration: IterationRecord) -> Judgment:
        """By code and, where the session names a model to look, by its eyes; without a usable answer nothing passes."""
        code, intent = super()._verdict(record, iteration), record.read_criteria()
        if not record.read_session().judge_model or intent is None or not code.rollouts:
            return code
        evidence = self.judge_evidence(record.session_id, iteration.number)
        if evidence.contact_sheet is None:
            return _unseen(code, "there are no pictures to look at.")
        try:
            observation = self._observe(record, iteration, evidence)
        except USELESS as error:
            return _unseen(code, str(error))
        return synthesis.combine(intent, code, observation)

    def _observe(self, record: SessionRecord, iteration: IterationRecord, evidence: Evidence) -> Observation:
        """One look, and another where it is far from what was measured."""
        judge = registry.load("eyes", registry.EYES, "model")(
            self._eyes(record).for_role(ROLE, iteration.number),
            self._album(record.read_session(), iteration, evidence),
        )
        observation: Observation = judge.look(evidence)
        return judge.look_again(evidence, observation) if agreement.apart(evidence.code, observation) else observation

    def _eyes(self, record: SessionRecord, model: str = "") -> SessionModels:
        """The models of a session, with the one that looks in the place of its own."""
        model = model or self.eyes_of(record.session_id)
        if not model:
            raise InvalidInput(
                "No model is configured that could look at pictures. Name one (--judge-model provider:model, or set "
                f"P2P_MODEL), or look yourself: p2p view {record.session_id}"
            )
        name = str(ModelName.parse(model))
        return session_models(record, self.settings.model_patience_s, self.settings.model_silence_s, name)

    def _album(self, session: Session, iteration: IterationRecord, evidence: Evidence) -> Album:
        """What there is to look at."""
        if evidence.contact_sheet is None:
            raise InvalidInput(f"Iteration {iteration.number} of {session.session_id} has no pictures to look at.")
        sheet, video = self.runs.path / evidence.contact_sheet, evidence.videos.get(SHOWN)
        about = f"Contact sheet of the {SHOWN} rollout"

        def more(wish: Closer) -> Shown:
            request = requested_view(wish)
            pictures = self.view_rollout(session.session_id, iteration.number, request)
            words = _in_words(iteration.number, request)
            return self._kept(iteration, self.runs.path / pictures.sheet.path, words, pictures.note)

        return Album(
            sheet=self._kept(iteration, sheet, about, evidence.picture_note),
            video=self._kept(iteration, self.runs.path / video, f"Video of the {SHOWN} rollout") if video else None,
            more=more,
        )

    def _kept(self, iteration: IterationRecord, file: Path, shows: str, note: str = "") -> Shown:
        """A picture as it will be sent, its bytes kept."""
        data = read_bytes(file)
        path, digest = SeenPictures(iteration.path).keep(data, file.suffix)
        sent = SentPicture(path=self._relative(path), sha256=digest, media_type=MIME_TYPES[file.suffix], shows=shows)
        return Shown(data, sent, note)


def requested_view(wish: Closer) -> ViewRequest:
    """What the judge wants to see, as a request for pictures.

    Raises:
        InvalidInput: that part of time is none.
    """
    try:
        return ViewRequest(
            label=wish.rollout or SHOWN,
            camera=wish.camera or ViewCamera.TRACKING,
            compare_with=wish.compare_with,
            start_s=wish.start_s,
            end_s=wish.end_s,
            path_of=wish.path_of,
        )
    except ValueError as error:
        raise InvalidInput(f"That part of time is none: end_s {wish.end_s} is not after {wish.start_s}.") from error


def _in_words(number: int, request: ViewRequest) -> str:
    start, end = request.start_s or 0, request.end_s
    part = (
        ""
        if request.start_s is None and end is None
        else f", {start:g} s to {'its end' if end is None else f'{end:g} s'}"
    )
    other = f", iteration {request.compare_with} below" if request.compare_with is not None else ""
    path = f", path of {request.path_of}" if request.path_of is not None else ""
    return f"Iteration {number}, {request.label} rollout, {request.camera} camera{part}{other}{path}"


def _unseen(code: Judgment, why: str) -> Judgment:
    """The judgment of code, where eyes should have taken part and could not: it may fail by it, and not pass."""
    fallback = f"No eyes took part: {why}"[:500]
    provenance = code.provenance.model_copy(update={"fallback": fallback})
    changes: dict[str, object] = {"provenance": provenance, "diagnosis": f"{code.diagnosis}\n{fallback}"}
    if code.passed:
        changes |= {"verdict": Verdict.NO_VERDICT, "failure_tags": ("not_looked_at",)}
        changes |= dict.fromkeys(("intent_score", "success_rate", "success_low", "success_high"))
    return code.model_copy(update=changes)
