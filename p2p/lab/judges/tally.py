"""Counting verdicts against the truth."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from p2p.analysis.auroc import auroc
from p2p.analysis.intervals import wilson_interval
from p2p.contracts.known_motions import Claim, ClaimKind, Clip
from p2p.lab.contracts.calibration import (
    MOST_MISTAKES,
    ClipVerdict,
    JudgeCalibration,
    Mistake,
    MutationFamily,
    Rates,
    SentenceRates,
    Share,
)

BINS = 10
"""Of the histogram of scores."""
COSTLY = (ClaimKind.NEAR_MISS, ClaimKind.EXPLOIT)


@dataclass(frozen=True)
class JudgedClaim:
    """What a judge said of one claim."""

    clip: Clip
    claim: Claim
    verdict: ClipVerdict

    @property
    def word(self) -> str:
        """ "passed", "failed" or "no_verdict"."""
        return {True: "passed", False: "failed", None: "no_verdict"}[self.verdict.passed]

    @property
    def right(self) -> bool:
        """Whether the verdict is there and true."""
        return self.verdict.passed is self.claim.kind.holds


def tally(judge: str, answers: Sequence[JudgedClaim]) -> JudgeCalibration:
    """Count the verdicts of one judge; repetition and timing are left at their defaults."""
    of_kind = {kind: [a for a in answers if a.claim.kind is kind] for kind in ClaimKind}
    wrong = {kind: _share(found, lambda a: a.verdict.passed is True) for kind, found in of_kind.items()}
    costly = [answer for kind in COSTLY for answer in of_kind[kind]]
    robots = dict.fromkeys(answer.clip.env_id for answer in answers)
    trained = [answer for answer in answers if answer.clip.trained]
    of_robot = {name: [a for a in answers if a.clip.env_id == name] for name in robots}
    of_family = {family: [a for a in answers if a.clip.mutation == family] for family in MutationFamily}
    of_sentence: dict[tuple[str, str], list[JudgedClaim]] = {}
    for answer in answers:
        of_sentence.setdefault((answer.clip.env_id, answer.claim.sentence), []).append(answer)
    return JudgeCalibration(
        judge=judge,
        verdicts={kind: dict(Counter(answer.word for answer in found)) for kind, found in of_kind.items()},
        false_passes={kind: share for kind, share in wrong.items() if not kind.holds},
        costly=_share(costly, lambda a: a.verdict.passed is True),
        false_fails=_share(of_kind[ClaimKind.POSITIVE], lambda a: a.verdict.passed is not True),
        by_robot={name: _share(found, lambda a: not a.right) for name, found in of_robot.items()},
        by_sentence=tuple(
            SentenceRates(env_id=env_id, sentence=sentence, **_errors(found))
            for (env_id, sentence), found in of_sentence.items()
        ),
        by_mutation={family: Rates(**_errors(found)) for family, found in of_family.items() if found},
        trained=_share(trained, lambda a: not a.right) if trained else None,
        auroc=auroc(_scores(answers, holds=True), _scores(answers, holds=False)),
        score_variance=None,
        unsteady=0,
        repeated=0,
        seconds_per_verdict=0.0,
        usd_per_verdict=0.0,
        scores={kind: _histogram(found) for kind, found in of_kind.items()},
        mistakes=tuple(_mistake(answer) for answer in answers if not answer.right)[:MOST_MISTAKES],
    )


def _errors(answers: Sequence[JudgedClaim]) -> dict[str, Share]:
    """Both kinds of errors of some answers, by the names they have in `Rates`."""
    return {
        "false_passes": _share([a for a in answers if a.claim.kind in COSTLY], lambda a: a.verdict.passed is True),
        "false_fails": _share([a for a in answers if a.claim.kind.holds], lambda a: a.verdict.passed is not True),
    }


def _share(answers: Sequence[JudgedClaim], wanted: Callable[[JudgedClaim], bool]) -> Share:
    count = sum(map(wanted, answers))
    n = len(answers)
    low, high = wilson_interval(count, n) if n else (None, None)
    return Share(count=count, of=n, low=low, high=high)


def _scores(answers: Iterable[JudgedClaim], holds: bool) -> list[float]:
    """Scores of the claims that hold, or of those that do not; without a verdict there is none."""
    return [a.verdict.score for a in answers if a.claim.kind.holds is holds and a.verdict.score is not None]


def _histogram(answers: Iterable[JudgedClaim]) -> tuple[int, ...]:
    bins = Counter(min(BINS - 1, int(BINS * a.verdict.score)) for a in answers if a.verdict.score is not None)
    return tuple(bins[index] for index in range(BINS))


def _mistake(answer: JudgedClaim) -> Mistake:
    return Mistake(
        clip_id=answer.clip.clip_id,
        sentence=answer.claim.sentence,
        kind=answer.claim.kind,
        passed=answer.verdict.passed,
        score=answer.verdict.score,
        reason=answer.verdict.reason,
    )
