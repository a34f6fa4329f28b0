"""Vision judge: a session's model looks at pictures, with the measurements and a rubric."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field

from p2p.agents.model.asking import Role, RoleQuestion
from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput
from p2p.contracts.inference import ModelName, RequestRejected
from p2p.contracts.judgment import Evidence, Finding, Observation, SentPicture, Sight, Tag, hash_of
from p2p.inference.client import SessionModel
from p2p.inference.tool_loop import Tool, ToolOutput
from p2p.judges.agreement import TOLERANCE, measured_score
from p2p.judges.evidence_pictures import CloserLook, EvidencePicture, EvidencePictures
from p2p.judges.lenient import score_of, sight_of, tag_of
from p2p.prompts import render

ROLE = "vision_judge"
MOST_REQUESTS = 3
"""Pictures that a judge may ask for besides."""
VIDEO_FPS = 10.0
"""Of a video as the model looks at it [1/s]."""
MAX_VIDEO_BYTES = 14_000_000
"""A request with a larger one would pass 20 MB."""
TAKE_VIDEO = ("gemini",)
"""Providers whose models are sent the video besides."""


class SeenCriterion(Contract):
    """What was seen of one criterion."""

    key: str
    """As it is called in the list of criteria."""
    evidence: str = Field(default="", max_length=4000)
    """What you saw of it, and at which time."""
    state: Annotated[Sight, BeforeValidator(sight_of)]


class VisionAnswer(Contract):
    """What was seen."""

    findings: tuple[SeenCriterion, ...]
    """Each criterion once."""
    diagnosis: str = Field(min_length=1)
    """What you saw, in time order, and what is missing."""
    suspected_exploit: str = ""
    """How the numbers are met without doing what was meant; empty when they are not."""
    is_what_was_meant: bool
    """Whether a person who asked for this would be content with it."""
    score: Annotated[float, BeforeValidator(score_of), Field(ge=0, le=1)]
    """How much of what was meant is there, from 0 to 1 in steps of 0.1."""
    failure_tags: tuple[Annotated[Tag, BeforeValidator(tag_of)], ...] = Field(default=(), max_length=12)
    """What is missing or wrong, each in a few words of snake_case."""


class VisionJudge:
    """A model that looks at one iteration.

    Args:
        model: As the role "vision_judge" of its session: counted and capped.
        pictures: What there is to look at.
    """

    def __init__(self, model: SessionModel, pictures: EvidencePictures) -> None:
        self._role = Role(model)
        self._pictures = pictures
        self._name = model.name

    def look(self, evidence: Evidence) -> Observation:
        """Ask the model for its observation.

        Raises:
            ModelProblem: it gives no answer that can be used.
            BudgetExceeded: it would cost more than the session may.
        """
        return self._observe(evidence, render("vision_evidence", **_facts(evidence), first=None))

    def look_again(self, evidence: Evidence, first: Observation) -> Observation:
        """Ask again, with the gap between its score and the measured one, and the evidence of both.

        Raises:
            ModelProblem: it gives no answer that can be used.
            BudgetExceeded: it would cost more than the session may.
        """
        said = first.model_dump_json(include={"diagnosis", "findings", "suspected_exploit", "is_what_was_meant"})
        question = render(
            "vision_evidence",
            **_facts(evidence),
            first=first,
            said=said,
            measured_score=measured_score(evidence.code),
            tolerance=TOLERANCE,
        )
        second = self._observe(evidence, question)
        pictures = tuple(dict.fromkeys((*first.pictures, *second.pictures)))
        return second.model_copy(update={"scores": (first.score, second.score), "pictures": pictures})

    def _observe(self, evidence: Evidence, question: str) -> Observation:
        video, fallback = self._video()
        try:
            return self._ask(evidence, question, video, fallback)
        except RequestRejected as refused:
            if video is None:
                raise
            return self._ask(
                evidence, question, None, f"The video was refused, and pictures alone were sent: {refused}"
            )

    def _video(self) -> tuple[EvidencePicture | None, str]:
        """The video to send; or the reason for its absence."""
        if self._name.provider not in TAKE_VIDEO:
            return None, ""
        video = self._pictures.video
        if video is None:
            return None, "There is no video; pictures alone were sent."
        if len(video.data) > MAX_VIDEO_BYTES:
            return None, f"The video has {len(video.data):,} bytes, too many to send; pictures alone were sent."
        return video, ""

    def _ask(self, evidence: Evidence, question: str, video: EvidencePicture | None, fallback: str) -> Observation:
        shown = [self._pictures.sheet, *([video] if video else [])]
        system = render("vision_judge", rubric=evidence.rubric, budget=MOST_REQUESTS, video=video is not None)
        asked = RoleQuestion(system, question, tuple(one.part(VIDEO_FPS) for one in shown))
        requests = _Requests(self._pictures, shown)
        seen = self._role.ask_with_tools(
            asked, VisionAnswer, [requests.tool], lambda answer: problems_of(answer, evidence), MOST_REQUESTS
        )
        return _observation(
            seen, evidence, self._name, tuple(one.sent for one in shown), hash_of(system), fallback[:500]
        ).model_copy(update={"fps": VIDEO_FPS if video else None})


class _Requests:
    """Pictures that the model asked for, counted; each is added to the shown ones."""

    def __init__(self, pictures: EvidencePictures, shown: list[EvidencePicture]) -> None:
        self._pictures = pictures
        self._shown = shown
        self._asked = 0

    @property
    def tool(self) -> Tool:
        """Tool for the model."""
        about = f"Another picture of what was recorded, drawn for you. At most {MOST_REQUESTS} times."
        return Tool("show_more", about, CloserLook, self._show)

    def _show(self, wish: CloserLook) -> ToolOutput:
        if self._asked >= MOST_REQUESTS:
            raise InvalidInput(f"All {MOST_REQUESTS} pictures have been shown. Answer from what you have seen.")
        self._asked += 1
        found = self._pictures.more(wish)
        self._shown.append(found)
        left = MOST_REQUESTS - self._asked
        words = f"{found.sent.shows}. {found.note} Left: {left}."
        part = found.part()
        assert part.kind == "image", "a tool shows no videos"
        return ToolOutput(words, (part,))


def problems_of(seen: VisionAnswer, evidence: Evidence) -> list[str]:
    """Problems for the model to fix: missing answers on criteria that only eyes can judge."""
    said = {finding.key for finding in seen.findings}
    missing = [key for key in evidence.unjudged if key not in said]
    return [f"findings does not decide {', '.join(missing)}, which only you can judge."] if missing else []


def _observation(
    seen: VisionAnswer,
    evidence: Evidence,
    name: ModelName,
    pictures: tuple[SentPicture, ...],
    prompt_hash: str,
    fallback: str,
) -> Observation:
    known = {criterion.key for criterion in evidence.criteria}
    findings = {
        one.key: Finding(key=one.key, state=one.state, evidence=one.evidence[:1000])
        for one in seen.findings
        if one.key in known
    }
    decided = {key: found.state is Sight.MET for key, found in findings.items() if found.state.credit is not None}
    return Observation(
        is_what_was_meant=seen.is_what_was_meant,
        score=seen.score,
        diagnosis=seen.diagnosis[:4000],
        criteria=decided,
        failure_tags=tuple(dict.fromkeys(seen.failure_tags)),
        suspected_exploit=seen.suspected_exploit.strip()[:1000],
        observer="api",
        provider=name.provider,
        model=name.model[:100],
        findings=tuple(findings.values()),
        pictures=pictures,
        prompt_hash=prompt_hash,
        fallback=fallback,
    )


def _facts(evidence: Evidence) -> Mapping[str, object]:
    return {
        "prompt": evidence.prompt,
        "criteria": evidence.criteria,
        "unjudged": evidence.unjudged,
        "measured": evidence.code.diagnosis,
        "shown": evidence.shown,
        "duration_s": evidence.duration_s,
        "numbers": evidence.numbers,
        "frames": evidence.frames,
        "picture_note": evidence.picture_note,
        "bodies": evidence.bodies,
    }
