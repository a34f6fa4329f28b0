"""The judge without eyes: criteria measured on recorded rollouts."""

import hashlib
import inspect
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from p2p.analysis import intervals, predicates, scoring, windows
from p2p.analysis.scoring import Scores
from p2p.analysis.windows import SLACK
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.intent import Intent
from p2p.contracts.judgment import MET_SHARE_NEEDED, Judgment, Provenance, Verdict
from p2p.contracts.training import Evaluation, Purpose
from p2p.judges import diagnosis
from p2p.store.arrays import load_features
from p2p.store.evaluations import CheckpointRecord, ReportRecord

Features = Mapping[str, NDArray[np.float64]]

_log = logging.getLogger(__name__)


class CodeJudge:
    """Passes a policy if its score reaches the threshold and enough rollouts meet every required criterion."""

    def judge_report(
        self, intent: Intent | None, report: Path, pass_threshold: float, purpose: Purpose = Purpose.REPORT
    ) -> Judgment:
        """Judge the rollouts recorded in the directory `report`, of a report or an exam; no verdict without them."""
        record = ReportRecord(report)
        evaluation = record.read_evaluation()
        if intent is None:
            return _no_verdict(None, evaluation, pass_threshold, "There are no criteria to judge by.")
        if evaluation is None:
            return _no_verdict(intent, evaluation, pass_threshold, "The report rollouts are missing or broken.")
        recorded_s = max((rollout.length for rollout in evaluation.rollouts), default=0) * evaluation.dt
        if recorded_s < intent.episode_s - evaluation.dt:
            reason = f"These criteria need episodes of {intent.episode_s:g} s; {recorded_s:g} s were recorded."
            return _no_verdict(intent, evaluation, pass_threshold, reason)
        return _judge(intent, evaluation, lambda: load_features(record.features_path), pass_threshold, purpose)

    def measure_checkpoint(self, intent: Intent, checkpoint: Path, pass_threshold: float) -> Judgment:
        """Measure a checkpoint on its selection rollouts, as a judgment: for choosing, never a verdict."""
        record = CheckpointRecord(checkpoint)
        if (evaluation := record.read_evaluation()) is None:
            return _no_verdict(intent, evaluation, pass_threshold, "The selection rollouts are missing or broken.")
        features = load_features(record.features_path)
        return _judge(intent, evaluation, lambda: features, pass_threshold, Purpose.SELECTION)

    def judge(
        self, intent: Intent, evaluation: Evaluation, features: Sequence[Features], pass_threshold: float
    ) -> Judgment:
        """Judge rollouts that were not used for selection.

        Args:
            intent: What was asked.
            evaluation: The rollouts of one checkpoint.
            features: Name -> values, shape (T,), for each of them.
            pass_threshold: Score from which on the policy passes, in [0, 1].

        Returns:
            `passed` when the score reaches the threshold and at least 80 % of the rollouts meet every required
            criterion; `no_verdict` when the rollouts cannot be measured, or when all that code can see is fine
            but a required criterion needs eyes.
        """
        return _judge(intent, evaluation, lambda: features, pass_threshold)


def _judge(
    intent: Intent,
    evaluation: Evaluation,
    read: Callable[[], Sequence[Features] | None],
    pass_threshold: float,
    purpose: Purpose = Purpose.REPORT,
) -> Judgment:
    try:
        features = _checked(evaluation, read(), purpose)
        measured = [predicates.measure(intent, rollout, evaluation.dt) for rollout in features]
        scores = scoring.score(intent, measured, evaluation.rollouts)
    except UnknownName as error:
        older = "Rollouts that an older p2p recorded lack features that were added since: train again to have them."
        return _no_verdict(intent, evaluation, pass_threshold, f"{error} {older}")
    except InvalidInput as error:
        return _no_verdict(intent, evaluation, pass_threshold, str(error))
    except Exception as error:  # a judge that crashes gives no verdict: it is not a score of 0
        _log.exception("the code judge crashed")
        return _no_verdict(intent, evaluation, pass_threshold, f"The judge crashed: {error!r}.")
    if scores.intent_score is None:
        return _no_verdict(intent, evaluation, pass_threshold, "Only eyes can judge these criteria.")
    verdict = _verdict(intent, scores, pass_threshold)
    decided = verdict is not Verdict.NO_VERDICT
    return Judgment(
        verdict=verdict,
        intent_score=scores.intent_score if decided else None,
        pass_threshold=pass_threshold,
        success_rate=scores.success_rate if decided else None,
        success_low=scores.low if decided else None,
        success_high=scores.high if decided else None,
        n_rollouts=len(scores.rollouts),
        criteria=scores.criteria,
        rollouts=scores.rollouts,
        robustness=evaluation.robustness,
        diagnosis="\n".join([diagnosis.describe(intent, scores, verdict, pass_threshold), *_robust(evaluation)]),
        failure_tags=diagnosis.failure_tags(intent, scores, verdict, pass_threshold),
        run_id=evaluation.run_id,
        best_checkpoint=evaluation.checkpoint,
        provenance=_provenance(intent),
    )


def _robust(evaluation: Evaluation) -> list[str]:
    return [evaluation.robustness.words] if evaluation.robustness is not None else []


def _verdict(intent: Intent, scores: Scores, pass_threshold: float) -> Verdict:
    assert scores.intent_score is not None, "something was measured"
    assert scores.success_rate is not None, "something was measured"
    if scores.success_rate < MET_SHARE_NEEDED:
        return Verdict.FAILED
    needed = pass_threshold - SLACK
    measured = {criterion.key for criterion in scores.criteria}
    unseen = [criterion for criterion in intent.criteria if criterion.key not in measured]
    if not any(criterion.required for criterion in unseen):
        return Verdict.PASSED if scores.intent_score >= needed else Verdict.FAILED
    seen_weight = sum(criterion.weight for criterion in scores.criteria)
    unseen_weight = sum(criterion.weight for criterion in unseen)
    best_possible = (scores.intent_score * seen_weight + unseen_weight) / (seen_weight + unseen_weight)
    return Verdict.NO_VERDICT if best_possible >= needed else Verdict.FAILED


def _no_verdict(intent: Intent | None, evaluation: Evaluation | None, pass_threshold: float, reason: str) -> Judgment:
    return Judgment(
        verdict=Verdict.NO_VERDICT,
        intent_score=None,
        pass_threshold=pass_threshold,
        success_rate=None,
        success_low=None,
        success_high=None,
        n_rollouts=len(evaluation.rollouts) if evaluation else 0,
        criteria=(),
        rollouts=(),
        diagnosis=f"No verdict. {reason}",
        run_id=evaluation.run_id if evaluation else None,
        best_checkpoint=evaluation.checkpoint if evaluation else None,
        provenance=_provenance(intent),
    )


def _provenance(intent: Intent | None) -> Provenance:
    digest = hashlib.sha256()
    for module in (windows, predicates, intervals, scoring, sys.modules[__name__]):
        digest.update(inspect.getsource(module).encode())
    digest.update(intent.model_dump_json().encode() if intent else b"")
    return Provenance(judge="code", code_hash=digest.hexdigest()[:16])


def _checked(evaluation: Evaluation, features: Sequence[Features] | None, purpose: Purpose) -> Sequence[Features]:
    if evaluation.purpose is not purpose:
        raise InvalidInput(
            f"Only report rollouts are judged; these were made for {evaluation.purpose}, "
            "and may have been used to choose the checkpoint."
        )
    if not evaluation.rollouts:
        raise InvalidInput("There are no rollouts to judge.")
    if features is None:
        raise InvalidInput("The features of the report rollouts are missing or broken.")
    if len(features) != len(evaluation.rollouts):
        raise InvalidInput(f"{len(evaluation.rollouts)} rollouts were recorded, but features of {len(features)}.")
    for rollout, values in zip(evaluation.rollouts, features, strict=True):
        if windows.rollout_length(values) != rollout.length:
            raise InvalidInput(
                f"The rollout of seed {rollout.seed} has {rollout.length} steps, "
                f"but features of {windows.rollout_length(values)}."
            )
    return features
