"""Ask judges about every claim of every clip, and count how often they are right."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean, pvariance

from p2p.contracts.errors import UnknownName
from p2p.contracts.intent import Intent
from p2p.contracts.known_motions import Claim
from p2p.lab.contracts.calibration import Calibration, ClipVerdict, HeldOut, JudgeCalibration
from p2p.lab.judges.by_hand import written_by_hand
from p2p.lab.judges.clip_recording import CalibratedJudge, ClipRecording, read_clips
from p2p.lab.judges.predicate_judge import PredicateJudge
from p2p.lab.judges.tally import JudgedClaim, tally

Intents = Mapping[tuple[str, str], Intent]
"""Robot and sentence -> criteria."""
JUDGES: dict[str, Callable[[], CalibratedJudge]] = {"predicates": PredicateJudge}
"""Judges that need nothing but clips."""
REPEATED_SHARE = 20
"""Every so many claims is judged repeatedly."""
REPETITIONS = 3


@dataclass(frozen=True)
class Question:
    """One claim of one clip, as a judge is asked about it."""

    recording: ClipRecording
    claim: Claim
    intent: Intent


def calibrate(
    directories: Sequence[Path],
    intents: Intents,
    judges: Sequence[str | CalibratedJudge],
    limit: int | None = None,
    tick: Callable[[str], None] = lambda _: None,
    held_out: HeldOut | None = None,
) -> Calibration:
    """Put clips to judges and count how often they are right, apart on those that are held out.

    Args:
        directories: Where the clips of each robot lie.
        intents: Criteria of every sentence that is asked about; claims about others are left out.
        judges: Names in `JUDGES`, or judges themselves.
        limit: Most claims that each judge is asked about; None asks about all.
        tick: Told about every judge that is done.
        held_out: Which clips are held out; None holds out none.

    Raises:
        UnknownName: there is no such judge.
        InvalidInput: clips are missing or broken.
    """
    begun = time.monotonic()
    for judge in judges:
        if isinstance(judge, str) and judge not in JUDGES:
            raise UnknownName("calibrated judge", judge, JUDGES)
    loaded = [JUDGES[judge]() if isinstance(judge, str) else judge for judge in judges]
    sources = [read_clips(directory) for directory in directories]
    first = sources[0].record.read_clips()
    assert first is not None, "it has been read already"
    questions = [
        Question(recording, claim, intent)
        for source in sources
        for recording in source.recordings()
        for claim in recording.clip.claims
        if (intent := intents.get((recording.clip.env_id, claim.sentence))) is not None
    ]
    asked = questions
    if limit is not None and len(questions) > limit:  # evenly spaced
        asked = [questions[round(index * len(questions) / limit)] for index in range(limit)]
    reports, apart = [], []
    for judge in loaded:
        measured, held = _measure(judge, asked, held_out)
        reports.append(measured)
        if held is not None:
            apart.append(held)
        tick(judge.name)
    named = {(question.recording.clip.env_id, question.claim.sentence) for question in questions}
    by_hand = tuple(intent for pair in sorted(named) if (intent := written_by_hand(*pair)) is not None)
    return Calibration(
        seed=first.seed,
        clips={source.clips[0].env_id: len(source.clips) for source in sources},
        sentences=len(named),
        claims=len(asked),
        by_hand=by_hand,
        judges=tuple(reports),
        held_out=held_out if apart else None,
        never_looked_at=tuple(apart),
        seconds=time.monotonic() - begun,
    )


def _measure(
    judge: CalibratedJudge, questions: Sequence[Question], held_out: HeldOut | None
) -> tuple[JudgeCalibration, JudgeCalibration | None]:
    """Counts of the clips that are not held out, and of those that are; None where there are none of them."""
    begun = time.monotonic()
    verdicts = [judge.judge(question.recording, question.intent) for question in questions]
    seconds = (time.monotonic() - begun) / max(1, len(verdicts))
    answers = [
        JudgedClaim(question.recording.clip, question.claim, verdict)
        for question, verdict in zip(questions, verdicts, strict=True)
    ]
    again = list(islice(zip(questions, verdicts, strict=True), 0, None, REPEATED_SHARE))
    repeated = [
        [verdict, *(judge.judge(question.recording, question.intent) for _ in range(REPETITIONS - 1))]
        for question, verdict in again
    ]
    common = {
        "score_variance": max((_variance(row) for row in repeated), default=None),
        "unsteady": sum(len({verdict.passed for verdict in row}) > 1 for row in repeated),
        "repeated": len(repeated),
        "seconds_per_verdict": seconds,
        "usd_per_verdict": fmean(verdict.cost_usd for verdict in verdicts) if verdicts else 0.0,
    }
    apart = [answer for answer in answers if held_out is not None and held_out.holds(answer.clip)]
    rest = [answer for answer in answers if held_out is None or not held_out.holds(answer.clip)]
    measured = tally(judge.name, rest).model_copy(update=common)
    if held_out is None or not apart:
        return measured, None
    hidden = {} if held_out.opened else {"mistakes": ()}
    return measured, tally(judge.name, apart).model_copy(update=common | hidden)


def _variance(verdicts: Sequence[ClipVerdict]) -> float:
    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    return pvariance(scores) if len(scores) > 1 else 0.0
