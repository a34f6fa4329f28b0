"""Judges compared with exams: whose verdicts, on the same recorded rollouts, agree with an exam they never saw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from p2p.analysis.agreement import kappa
from p2p.analysis.auroc import auroc
from p2p.analysis.paired import SETTLED_CASES, difference, estimate
from p2p.analysis.suite_comparison import corrected
from p2p.contracts.suite_comparison import Difference, JudgedAgreement


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """What one judge says of a policy."""

    passed: bool | None
    """None where it could not decide."""
    score: float | None
    """In [0, 1]; None without one."""


@dataclass(frozen=True, slots=True)
class JudgedPolicy:
    """A policy with its exam and what judges say of it."""

    case: str
    passed_exam: bool
    verdicts: Mapping[str, JudgeVerdict]
    """By judge; a judge that was not asked is absent."""


def agreement_of(judge: str, policies: Sequence[JudgedPolicy], dollars: float) -> JudgedAgreement:
    """Agreement of one judge with the exams; a judge that cannot decide has not passed the policy.

    Args:
        judge: Which.
        policies: Those that sat an exam.
        dollars: What the judge cost.
    """
    asked = [(policy, policy.verdicts[judge]) for policy in policies if judge in policy.verdicts]
    pairs = [(verdict.passed is True, policy.passed_exam) for policy, verdict in asked]
    scored = [(verdict.score, policy.passed_exam) for policy, verdict in asked if verdict.score is not None]
    return JudgedAgreement(
        judge=judge,
        n_policies=len(asked),
        without_verdict=sum(verdict.passed is None for _, verdict in asked),
        agreement=estimate(agreeing(judge, policies), bounded=True),
        false_passes=sum(passed and not exam for passed, exam in pairs),
        false_fails=sum(exam and not passed for passed, exam in pairs),
        kappa=kappa(pairs),
        auroc=auroc([score for score, exam in scored if exam], [score for score, exam in scored if not exam]),
        dollars=dollars,
    )


def agreeing(judge: str, policies: Sequence[JudgedPolicy]) -> dict[str, list[float]]:
    """Case -> for each policy that was judged, 1 where verdict and exam agree, else 0."""
    found: dict[str, list[float]] = {}
    for policy in policies:
        if (verdict := policy.verdicts.get(judge)) is not None:
            found.setdefault(policy.case, []).append(float((verdict.passed is True) == policy.passed_exam))
    return found


def differences_of(judges: Sequence[str], policies: Sequence[JudgedPolicy]) -> tuple[Difference, ...]:
    """Agreement of each judge after the first less that of the first, over the policies that both judged."""
    first, *others = judges
    found = []
    for other in others:
        both = [policy for policy in policies if {first, other} <= policy.verdicts.keys()]
        found.append(difference(agreeing(first, both), agreeing(other, both), successes=True))
    return tuple(corrected(found))


def notes_of(policies: Sequence[JudgedPolicy]) -> tuple[str, ...]:
    """What limits the comparison."""
    cases = len({policy.case for policy in policies})
    passed = sum(policy.passed_exam for policy in policies)
    notes = []
    if cases < SETTLED_CASES:
        counted = "one case" if cases == 1 else f"{cases} cases"
        notes.append(
            f"The policies are of {counted}. Below {SETTLED_CASES} hardly any difference can be told from chance."
        )
    if passed in (0, len(policies)):
        which = "No policy" if not passed else "Every policy"
        notes.append(f"{which} passed its exam: kappa and AUROC say nothing.")
    return tuple(notes)
