"""Why a session of a suite did not pass, by its data alone."""

from collections.abc import Sequence

from p2p.contracts.judgment import CriterionScore, Judgment, Verdict
from p2p.contracts.suite import CaseResult, Outcome
from p2p.contracts.suite_page import Cause, FailureCause

WITHOUT_POLICY = {
    Outcome.NOT_TRAINED: Cause.NOT_TRAINED,
    Outcome.CRASHED: Cause.CRASHED,
    Outcome.CAPPED: Cause.CAPPED,
    Outcome.TIMED_OUT: Cause.TIMED_OUT,
    Outcome.CANCELLED: Cause.CANCELLED,
    Outcome.SKIPPED: Cause.SKIPPED,
    Outcome.OPEN: Cause.OPEN,
}


def failure_cause(result: CaseResult, judgment: Judgment | None, *, has_exam: bool) -> FailureCause | None:
    """Cause of a failure; None where the session passed: the exam where its case has one, else by itself.

    Args:
        result: Of the session.
        judgment: Of the policy it handed in, by the session's own judges; None without one.
        has_exam: Whether its case has an exam.
    """
    if result.outcome in WITHOUT_POLICY:
        first_line = (result.error.splitlines() or [""])[0]
        return FailureCause(cause=WITHOUT_POLICY[result.outcome], detail=first_line)
    if has_exam:
        if result.passed_exam:
            return None
        if not result.passed_itself:
            return _own_failure(judgment)
        return _exam_failure(result)
    return None if result.passed_itself else _own_failure(judgment)


def _exam_failure(result: CaseResult) -> FailureCause:
    exam = result.exam
    if exam is None:
        return FailureCause(cause=Cause.AWAITS_EXAM)
    if exam.problem:
        return FailureCause(cause=Cause.EXAM_NOT_MEASURED, detail=exam.problem)
    if missed := _missed(exam.criteria):
        return FailureCause(cause=Cause.EXAM_CRITERION, detail=missed)
    return FailureCause(cause=Cause.EXAM_TOGETHER, detail=f"{exam.n_met} of {exam.n_rollouts} rollouts met all")


def _own_failure(judgment: Judgment | None) -> FailureCause:
    if judgment is None:
        return FailureCause(cause=Cause.NO_POLICY)
    if judgment.vetoed_by:
        return FailureCause(cause=Cause.VETOED, detail=f"by {judgment.vetoed_by}")
    if judgment.vetoed_by_eyes:
        return FailureCause(cause=Cause.VETOED, detail="by eyes")
    if judgment.verdict is Verdict.NO_VERDICT:
        return FailureCause(cause=Cause.NO_VERDICT)
    if missed := _missed(judgment.criteria):
        return FailureCause(cause=Cause.OWN_CRITERION, detail=missed)
    return FailureCause(cause=Cause.OWN_TOGETHER, detail=judgment.without_missed)


def _missed(criteria: Sequence[CriterionScore]) -> str:
    """Titles of the required criteria that were not met, most missed first."""
    missed = sorted((one for one in criteria if one.required and not one.met), key=lambda one: one.met_share)
    return "; ".join(one.title for one in missed)
