"""What there is to judge an iteration by, and what was judged, as tools show them."""

from collections.abc import Sequence
from pathlib import Path

from p2p.contracts.advice import Advice
from p2p.contracts.base import Contract
from p2p.contracts.frame import FrameNote
from p2p.contracts.intent import Criterion
from p2p.contracts.judgment import (
    CodeFinding,
    CriterionScore,
    Evidence,
    FeatureNumbers,
    Judgment,
    Observation,
    Provenance,
    Verdict,
)
from p2p_mcp.views.answer import Answer


class JudgmentFacts(Contract):
    """A judgment without its rollouts."""

    verdict: Verdict
    score: float | None
    """In [0, 1]; null without a verdict."""
    pass_threshold: float
    success_rate: float | None
    """Share of the rollouts that met everything required."""
    success_low: float | None
    """Lower end of its 95 % interval."""
    success_high: float | None
    measured_success_rate: float | None
    """What code alone measured, where a veto refused the policy and `success_rate` is 0; else null."""
    n_rollouts: int
    criteria: tuple[CriterionScore, ...]
    diagnosis: str
    failure_tags: tuple[str, ...]
    run_id: str | None
    checkpoint: int | None
    """Step of the policy that was judged."""
    confidence: float | None
    """How far it can be relied on; null where no eyes took part."""
    disagreement: float | None
    """How far the score of eyes is from the measured one; more than 0.2 is too far."""
    provenance: Provenance
    """Who judged."""
    by_written_code: tuple[CodeFinding, ...]
    """What functions said that a model wrote for criteria without a predicate (write_judge_code)."""


class EvidenceAnswer(Answer):
    """The report rollouts of an iteration: measured, shown, and judged where somebody else could look."""

    session_id: str
    iteration: int
    intent: str
    """What was asked for."""
    judged_by: str
    """"calling_agent": look at the pictures yourself, then submit_judgment. Otherwise `judgment` is final."""
    judgment: JudgmentFacts | None
    """Of code and eyes together; null until somebody has looked."""
    note: str
    """Why nobody else looked, where that was tried."""
    code: JudgmentFacts
    """Of code alone."""
    criteria: tuple[Criterion, ...]
    only_eyes_can_judge: tuple[str, ...]
    """Keys of criteria that submit_judgment has to decide."""
    rubric: str
    shown: str
    """Which rollout the pictures show."""
    duration_s: float
    """Its length [s]."""
    frames: tuple[FrameNote, ...]
    """The moments on the contact sheet, in reading order."""
    pictures: tuple[str, ...]
    """Files of the pictures in this result, in their order, relative to `runs_dir`."""
    picture_note: str
    numbers: tuple[FeatureNumbers, ...]
    """Every feature over that rollout."""
    videos: dict[str, str]
    """Label -> resource."""
    runs_dir: str
    to_choose: tuple[str, ...] = ()
    """After eyes refused what met the criteria: checkpoints, run_id/step, of which you choose one by the pictures,
    one each, before any is judged. Numbers are the first one's, on rollouts that judge nothing."""
    next_step: str


class JudgmentAnswer(Answer):
    """A judgment that is kept."""

    session_id: str
    iteration: int
    judgment: JudgmentFacts
    observation: Observation | None
    passed: bool
    uri: str
    next_step: str


def facts(judgment: Judgment) -> JudgmentFacts:
    """A judgment small enough for a context window."""
    return JudgmentFacts(
        verdict=judgment.verdict,
        score=judgment.intent_score,
        pass_threshold=judgment.pass_threshold,
        success_rate=judgment.success_rate,
        success_low=judgment.success_low,
        success_high=judgment.success_high,
        measured_success_rate=judgment.measured_success_rate,
        n_rollouts=judgment.n_rollouts,
        criteria=judgment.criteria,
        diagnosis=judgment.diagnosis,
        failure_tags=judgment.failure_tags,
        run_id=judgment.run_id,
        checkpoint=judgment.best_checkpoint,
        confidence=judgment.confidence,
        disagreement=judgment.disagreement,
        provenance=judgment.provenance,
        by_written_code=judgment.by_written_code,
    )


def pictures_of(evidence: Evidence, runs_dir: Path, detail: str, max_frames: int) -> list[Path]:
    """The pictures that are asked for: the contact sheet first, then single moments spread over it."""
    if detail == "none":
        return []
    sheet = [runs_dir / evidence.contact_sheet] if evidence.contact_sheet else []
    if detail == "sheet":
        return sheet
    frames = [runs_dir / frame.path for frame in evidence.frames if frame.path]
    if len(frames) <= max_frames:
        return sheet + frames
    if max_frames == 1:
        return [*sheet, frames[len(frames) // 2]]
    places = [round(place * (len(frames) - 1) / (max_frames - 1)) for place in range(max_frames)]
    return sheet + [frames[place] for place in places]


def after_judging(session_id: str, judgment: Judgment, advice: Sequence[Advice] = ()) -> str:
    """What to call next, and what the course of the training says to change."""
    if judgment.passed:
        return f'It passed. export_policy(session_id="{session_id}") exports the policy; view_rollout shows it.'
    call = f'revise_reward(session_id="{session_id}")'
    return f"{call}. {advice[0].words}" if advice else call


def choose(session_id: str, iteration: int, offered: tuple[str, ...]) -> str:
    """What the calling agent has to do with the checkpoints on offer."""
    return (
        "Eyes have refused what met the criteria, so the criteria do not choose alone: look at the picture of each, "
        f'then judge_videos(session_id="{session_id}", iteration={iteration}, checkpoint="..."), '
        f"one of {', '.join(offered)}: the one that best does what was meant is reported on"
    )


def look(evidence: Evidence) -> str:
    """What the calling agent has to do with the pictures."""
    decide = ", ".join(f'"{key}": true|false' for key in evidence.unjudged)
    failed = [found for found in evidence.code.by_written_code if found.problem]
    mend = f"write_judge_code mends {', '.join(f.key for f in failed)}, or decide it by eye. " if failed else ""
    return (
        f"{mend}Look at the pictures with the rubric, then "
        f'submit_judgment(session_id="{evidence.session_id}", iteration={evidence.iteration}, '
        f"is_what_was_meant=..., score=..., diagnosis=..., criteria={{{decide}}})"
    )
