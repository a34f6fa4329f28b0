"""One judgment from two: measurements and eyes, by a fixed rule. The same inputs give the same score.

1. A measured criterion is decided by its measurement, whatever eyes say.
2. A criterion that code cannot measure is decided by eyes: met counts 1, partially met 0.5 (and is not met), not met 0.
   Where they cannot tell, it counts nothing; a required one leaves the judgment without a verdict, unless all else
   fails already.
3. A policy that meets all of them still fails when eyes say that it is not what was meant, or that it exploits the
   numbers: both judges must be content. The score is the lower of the two, so that a pass that eyes find poor does not
   look perfect. Such a veto is one look at one policy: what code measured over its rollouts is kept beside it, and the
   success rate of 0 has no interval.
4. Where the score of eyes and the measured one lie further apart than 0.2, eyes are asked to look once more, with the
   evidence of both. If that does not bring them together, the judgment is the same by rules 1 to 3, says that they
   disagree, and has half the confidence.
5. A policy that a judge of code refused (`veto`) stays refused, whatever eyes say.
6. Confidence is 1 where measurement decided everything, 0.8 where eyes decided a criterion; rule 4 halves it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from p2p.analysis.intervals import wilson_interval
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.intent import Comparison, Criterion, Intent
from p2p.contracts.judgment import MET_SHARE_NEEDED, CriterionScore, Judgment, Observation, Sight, Verdict
from p2p.judges.agreement import apart, gap, sight
from p2p.judges.judgment_words import describe

SLACK = 1e-9
BY_EYES_CONFIDENCE = 0.8
DISAGREEING_CONFIDENCE = 0.5
DISAGREE = "judges_disagree"
EXPLOIT = "suspected_exploit"
POOR = "poor_to_eyes"
NOT_MEANT = "not_what_was_meant"
"""Where nothing more is known."""


def unseen(intent: Intent, code: Judgment | None = None) -> tuple[Criterion, ...]:
    """Criteria for eyes alone: those without a predicate, and those that follow one of them.

    Args:
        intent: What was asked.
        code: What code measured all the same, with functions of its own, is not among them.
    """
    measured = {score.key for score in code.criteria} if code is not None else set()
    found: dict[str, Criterion] = {}
    for criterion in intent.criteria:
        if criterion.key not in measured and (criterion.predicate is None or criterion.after in found):
            found[criterion.key] = criterion
    return tuple(found.values())


def combine(intent: Intent, code: Judgment, observation: Observation) -> Judgment:
    """Combine both judgments.

    Args:
        intent: What was asked.
        code: By code alone, over the report rollouts.
        observation: What eyes saw of the same rollouts. Where it decides a measured criterion, that is left out.

    Returns:
        The score is the weighted mean over all criteria that are decided. A rollout succeeds when it meets everything
        required that is measured, and eyes are content with the policy as a whole: if not, none does, so that an
        exploit is never the best attempt. Where code could not measure what it should have measured, eyes do not
        replace it, and there is no verdict.

    Raises:
        InvalidInput: the observation says nothing of a criterion that only eyes can judge.
        UnknownName: it decides a criterion that there is not.
    """
    measured = {score.key: score for score in code.criteria}
    for_eyes = unseen(intent, code)
    keys = [criterion.key for criterion in intent.criteria]
    for key in observation.criteria:
        if key not in keys:
            raise UnknownName("criterion", key, keys)
    missing = [criterion for criterion in for_eyes if sight(observation, criterion.key) is None]
    if missing:
        named = "; ".join(f"{criterion.key} ({criterion.title})" for criterion in missing)
        raise InvalidInput(
            f"Only eyes can judge {named}, and the observation does not say whether it is met. "
            f"Add to its `criteria`: {', '.join(f'{c.key}: true or false' for c in missing)}."
        )
    if code.vetoed_by:
        return _signed(_with_eyes_beside(code, observation), observation)
    if any(criterion not in for_eyes and criterion.key not in measured for criterion in intent.criteria):
        return _signed(code, observation)
    found = [measured.get(c.key) or _by_eyes(c, sight(observation, c.key)) for c in intent.criteria]
    scores = tuple(score for score in found if score is not None)
    known = {score.key for score in scores}
    undecided = [criterion for criterion in intent.criteria if criterion.key not in known]
    content = observation.is_what_was_meant and not observation.suspected_exploit.strip()
    parts = _Parts(
        by_numbers=min(1.0, sum(s.weight * s.score for s in scores) / sum(s.weight for s in scores))
        if scores
        else None,
        content=content,
        accepted=content and all(score.met for score in scores if score.by_eyes and score.required),
        n=len(code.rollouts),
        measured_successes=sum(rollout.success for rollout in code.rollouts),
        eyes_score=observation.score,
    )
    verdict = _verdict(parts, undecided, code.pass_threshold)
    decided = verdict is not Verdict.NO_VERDICT
    measured_rate = wilson_interval(parts.measured_successes, parts.n) if parts.n and decided else (None, None)
    vetoed = decided and not parts.accepted and parts.n > 0
    low, high = (None, None) if vetoed else measured_rate
    combined = code.model_copy(
        update={
            "verdict": verdict,
            "intent_score": parts.score if decided else None,
            "success_rate": parts.rate if decided else None,
            "success_low": low,
            "success_high": high,
            "measured_success_rate": parts.measured_rate if vetoed else None,
            "measured_success_low": measured_rate[0] if vetoed else None,
            "measured_success_high": measured_rate[1] if vetoed else None,
            "criteria": scores,
            "failure_tags": () if verdict is Verdict.PASSED else _tags(code, parts, scores, observation),
            "confidence": _confidence(code, scores, observation) if decided else None,
            "disagreement": gap(code, observation),
        }
    )
    return _signed(combined.model_copy(update={"diagnosis": describe(combined, code, observation)}), observation)


def veto(judgment: Judgment, by: str, refusal: Judgment) -> Judgment:
    """Refuse a policy that met every criterion which is measured.

    As where eyes refuse it, no rollout succeeds, so that it is never the best attempt; what was measured is kept.

    Args:
        judgment: By the criteria; not failed.
        by: Who refuses, as it completes "refused by".
        refusal: Its judgment of the same rollouts; score, failure tags and diagnosis count.
    """
    return judgment.model_copy(
        update={
            "verdict": Verdict.FAILED,
            "vetoed_by": by,
            "intent_score": min(judgment.intent_score or 0.0, refusal.intent_score or 0.0),
            "success_rate": 0.0,
            "success_low": None,
            "success_high": None,
            "measured_success_rate": judgment.success_rate,
            "measured_success_low": judgment.success_low,
            "measured_success_high": judgment.success_high,
            "failure_tags": refusal.failure_tags,
            "diagnosis": refusal.diagnosis,
        }
    )


def _with_eyes_beside(code: Judgment, observation: Observation) -> Judgment:
    """A judgment that eyes cannot change, with what they saw."""
    return code.model_copy(
        update={
            "failure_tags": tuple(dict.fromkeys([*code.failure_tags, *observation.failure_tags])),
            "diagnosis": f"{code.diagnosis}\nEyes: {observation.diagnosis.strip()}",
        }
    )


@dataclass(frozen=True, slots=True)
class _Parts:
    """Inputs of the verdict."""

    by_numbers: float | None
    """Weighted mean of what is decided; None where nothing is."""
    content: bool
    """Whether eyes are content with the policy as a whole."""
    accepted: bool
    """Whether they are, and find all met that they decided and is required."""
    n: int
    measured_successes: int
    """Rollouts that meet everything required and measured."""
    eyes_score: float

    @property
    def rate(self) -> float:
        return self.measured_rate if self.accepted else 0.0

    @property
    def measured_rate(self) -> float:
        return self.measured_successes / self.n if self.n else 1.0

    @property
    def score(self) -> float | None:
        if self.by_numbers is None:
            return None if self.content else self.eyes_score
        return min(self.by_numbers, self.eyes_score)


def _verdict(parts: _Parts, undecided: Sequence[Criterion], threshold: float) -> Verdict:
    if parts.score is None:
        return Verdict.NO_VERDICT
    if not parts.accepted or parts.rate < MET_SHARE_NEEDED:
        return Verdict.FAILED
    if any(criterion.required for criterion in undecided):
        return Verdict.NO_VERDICT
    return Verdict.PASSED if parts.score >= threshold - SLACK else Verdict.FAILED


def _confidence(code: Judgment, scores: Sequence[CriterionScore], observation: Observation) -> float:
    by_eyes = BY_EYES_CONFIDENCE if any(score.by_eyes for score in scores) else 1.0
    return by_eyes * (DISAGREEING_CONFIDENCE if apart(code, observation) else 1.0)


def _by_eyes(criterion: Criterion, state: Sight | None) -> CriterionScore | None:
    credit = state.credit if state is not None else None
    if credit is None:
        return None
    met = state is Sight.MET
    return CriterionScore(
        key=criterion.key,
        title=criterion.title,
        required=criterion.required,
        weight=criterion.weight,
        value=credit,
        low=None,
        high=None,
        comparison=Comparison.AT_LEAST,
        threshold=1.0,
        upper=None,
        unit="1",
        score=credit,
        met_share=float(met),
        met=met,
        by_eyes=True,
    )


def _tags(code: Judgment, parts: _Parts, scores: Sequence[CriterionScore], observation: Observation) -> tuple[str, ...]:
    """Tags of code, of criteria decided by eyes, and of the observation, without repetition."""
    decided = {f"{score.key}_needs_eyes" for score in scores if score.by_eyes}
    tags = [tag for tag in code.failure_tags if tag not in decided]
    tags += [f"{score.key}_not_met" for score in scores if score.by_eyes and not score.met]
    tags += [EXPLOIT] if observation.suspected_exploit.strip() else []
    tags += [POOR] if parts.accepted and observation.score < code.pass_threshold - SLACK else []
    good_numbers = (
        all(score.met for score in scores if score.by_eyes and score.required)
        and parts.measured_rate >= MET_SHARE_NEEDED
        and (parts.by_numbers or 0.0) >= code.pass_threshold - SLACK
    )
    tags += [DISAGREE] if (good_numbers and not parts.content) or apart(code, observation) else []
    tags += observation.failure_tags
    return tuple(dict.fromkeys(tags)) if tags or parts.content else (NOT_MEANT,)


def _signed(judgment: Judgment, observation: Observation) -> Judgment:
    provenance = judgment.provenance.model_copy(
        update={
            "judge": "code+eyes",
            "observer": observation.observer,
            "provider": observation.provider,
            "model": observation.model,
            "prompt_hash": observation.prompt_hash,
            "fps": observation.fps,
            "fallback": observation.fallback,
        }
    )
    return judgment.model_copy(
        update={"provenance": provenance, "observation": observation, "scoring_method": "code_and_eyes"}
    )
