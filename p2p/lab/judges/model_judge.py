"""Judges with the eyes of a model, on one clip at a time: alone, and together with what code measures."""

from collections import Counter
from collections.abc import Callable

from p2p.contracts.errors import BudgetExceeded
from p2p.contracts.inference import ModelName, ModelProblem, ModelReply, ModelRequest
from p2p.contracts.intent import Intent
from p2p.contracts.judgment import Evidence, Judgment, Verdict
from p2p.inference.client import SessionModel, SessionModels
from p2p.judges import agreement, synthesis
from p2p.judges.code import CodeJudge
from p2p.judges.evidence_pictures import EvidencePictures
from p2p.judges.vision import VisionJudge
from p2p.lab.contracts.calibration import ClipVerdict
from p2p.lab.judges.clip_recording import ClipRecording
from p2p.lab.judges.predicate_judge import PASS_THRESHOLD

ROLE = "vision_judge"
RUBRIC = """\
Look at the contact sheet of one rollout of {robot}: its moments in reading order, with time and numbers on each. Decide
whether it does what was asked, and look for an exploit: numbers that are met by something else than what was meant.
is_what_was_meant is true only when you would show this to the person who asked."""


class EyesJudge:
    """A model that looks at clips.

    Args:
        name: In the report.
        models: Who is asked, at whose cost.
        film: Makes the pictures of a clip, by its id.
        measured: Whether what code measures takes part, by the rule of the synthesis; else eyes decide every criterion.
    """

    def __init__(
        self, name: str, models: SessionModels, film: Callable[[str], EvidencePictures], measured: bool
    ) -> None:
        self.name = name
        self._models = models
        self._film = film
        self._measured = measured
        self._times: Counter[tuple[str, str]] = Counter()

    def judge(self, recording: ClipRecording, intent: Intent) -> ClipVerdict:
        """Judge the clip as the one report rollout of a policy; asked about it again, the model is asked anew.

        Raises:
            BudgetExceeded: the calibration would cost more than it may.
        """
        asked = recording.clip.clip_id, intent.prompt
        self._times[asked] += 1
        model = _Anew(self._models, self._times[asked] - 1)
        before = self._dollars()
        try:
            judgment = self._judgment(recording, intent, model)
        except BudgetExceeded:
            raise
        except ModelProblem:  # no answer is no verdict
            return ClipVerdict(passed=None, score=None, cost_usd=self._dollars() - before)
        decided = judgment.verdict is not Verdict.NO_VERDICT
        cost = max(0.0, self._dollars() - before)
        return ClipVerdict(passed=judgment.passed if decided else None, score=judgment.intent_score, cost_usd=cost)

    def _judgment(self, recording: ClipRecording, intent: Intent, model: SessionModel) -> Judgment:
        criteria = intent.criteria
        if not self._measured:
            criteria = tuple(c.model_copy(update={"predicate": None, "after": None}) for c in criteria)
        asked = intent.model_copy(update={"criteria": criteria})
        code = CodeJudge().judge(asked, recording.as_report(), [recording.features], PASS_THRESHOLD)
        pictures = self._film(recording.clip.clip_id)
        evidence = Evidence(
            session_id="calibration",
            iteration=1,
            prompt=intent.prompt,
            code=code,
            criteria=criteria,
            unjudged=tuple(criterion.key for criterion in synthesis.unseen(asked, code)),
            contact_sheet=pictures.sheet.sent.path,
            frames=(),
            picture_note=pictures.sheet.note,
            videos={},
            duration_s=recording.clip.seconds,
            numbers=(),
            rubric=RUBRIC.format(robot=recording.clip.env_id),
        )
        judge = VisionJudge(model, pictures)
        observation = judge.look(evidence)
        if agreement.apart(code, observation):
            observation = judge.look_again(evidence, observation)
        return synthesis.combine(asked, code, observation)

    def _dollars(self) -> float:
        return sum(line.dollars or 0.0 for line in self._models.ledger.lines())


class _Anew(SessionModel):
    """A model whose stored answers are not used, to see whether it repeats itself."""

    def __init__(self, models: SessionModels, times: int) -> None:
        super().__init__(models, ModelName.parse(models.choice.model), ROLE, None)
        self._times = times

    def complete(self, request: ModelRequest) -> ModelReply:
        """One answer; `SessionModel.complete` says what it raises."""
        return super().complete(request.model_copy(update={"sample": request.sample + 10 * self._times}))
