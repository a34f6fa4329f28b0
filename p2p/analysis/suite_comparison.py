"""Runs of one suite compared: every metric, and the one that decides by category, difficulty and environment."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from p2p.analysis.paired import SETTLED_CASES, difference, estimate, holm
from p2p.contracts.errors import InvalidInput
from p2p.contracts.suite import CaseResult, Outcome, Suite, SuiteRun
from p2p.contracts.suite_comparison import (
    SHARES,
    SUCCESSES,
    ComparedGroup,
    ComparedMetric,
    Difference,
    Estimate,
    Metric,
    SuiteComparison,
)

TELLING_CASES = 6
"""Cases that must differ for a p below 0.05: five in one direction have 2 / 2⁵."""
ValuesByCase = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class ReadRun:
    """A run as it was read."""

    run: SuiteRun
    suite: Suite
    results: Sequence[CaseResult]

    @property
    def ended(self) -> list[CaseResult]:
        """Results that count."""
        return [result for result in self.results if result.outcome.ended]


def compare_runs(runs: Sequence[ReadRun]) -> SuiteComparison:
    """Compare every run with the first.

    A session that crashed, reached a cap, timed out or was cancelled counts as not passed, with a score of 0. Cases
    that only one of two runs has ended are left out of their difference, and a note says so.

    Raises:
        InvalidInput: fewer than two runs, one of them twice, or runs of different suites, versions or digests.
    """
    require_comparable(runs)
    suite = runs[0].suite
    main = main_metric(suite)
    metrics = [_metric(metric, runs) for metric in metrics_of(runs)]
    return SuiteComparison(
        suite=suite.name,
        version=suite.version,
        digest=suite.digest,
        runs=tuple(one.run.name for one in runs),
        main=main,
        metrics=tuple(metrics),
        groups=tuple(
            group
            for kind, names in groups_of(suite).items()
            if len(set(names.values())) > 1
            for group in _groups(kind, names, main, runs)
        ),
        notes=tuple(_notes(runs, next(one for one in metrics if one.metric is main))),
    )


def require_comparable(runs: Sequence[ReadRun]) -> None:
    """Refuse what does not compare.

    Raises:
        InvalidInput: as `compare_runs`.
    """
    names = [one.run.name for one in runs]
    if len(runs) < 2 or len(set(names)) < len(names):
        raise InvalidInput("Expected two runs or more to compare, each named once.")
    first = runs[0]
    for other in runs[1:]:
        if (other.suite.name, other.suite.version, other.suite.digest) != _suite_of(first):
            raise InvalidInput(
                f"{_in_words(first)} and {_in_words(other)} do not compare: the cases, the exams or the budget differ. "
                "Run one of them again with the suite of the other."
            )
    if not any(one.ended for one in runs):
        raise InvalidInput(f"No session of {' or '.join(names)} has ended yet: there is nothing to compare.")


def _suite_of(one: ReadRun) -> tuple[str, int, str]:
    return one.suite.name, one.suite.version, one.suite.digest


def _in_words(one: ReadRun) -> str:
    return f"{one.run.name} ({one.suite.name}, version {one.suite.version}, {one.suite.digest[:12]})"


def main_metric(suite: Suite) -> Metric:
    """What decides: the exam, where a case has one."""
    return Metric.EXAM if suite.examined else Metric.ITSELF


def metrics_of(runs: Sequence[ReadRun]) -> list[Metric]:
    """Metrics that say something: those of exams only where there are any, dollars only where some were spent."""
    wanted = list(Metric)
    if main_metric(runs[0].suite) is not Metric.EXAM:
        wanted = [one for one in wanted if one not in ABOUT_EXAMS]
    if not any(sum(result.dollars.values()) for one in runs for result in one.ended):
        wanted.remove(Metric.DOLLARS)
    return wanted


ABOUT_EXAMS = (Metric.EXAM, Metric.FLATTERY, Metric.EXAM_SUCCESS, Metric.EXAM_SCORE)
_READ: Mapping[Metric, Callable[[CaseResult], float]] = {
    Metric.EXAM: lambda result: float(result.passed_exam),
    Metric.ITSELF: lambda result: float(result.passed_itself),
    Metric.FLATTERY: lambda result: float(result.passed_itself) - float(result.passed_exam),
    Metric.EXAM_SUCCESS: lambda result: (
        result.exam.n_met / result.exam.n_rollouts if result.exam is not None and result.exam.n_rollouts else 0.0
    ),
    Metric.EXAM_SCORE: lambda result: (result.exam.intent_score or 0.0) if result.exam is not None else 0.0,
    Metric.SUCCESS: lambda result: result.success or 0.0,
    Metric.SCORE: lambda result: result.intent_score or 0.0,
    Metric.ITERATIONS: lambda result: float(result.iterations),
    Metric.STEPS: lambda result: float(result.steps),
    Metric.SECONDS: lambda result: result.seconds,
    Metric.DOLLARS: lambda result: sum(result.dollars.values()),
}


def values(metric: Metric, one: ReadRun) -> ValuesByCase:
    """Values of a metric by case; only cases with an exam for those about exams."""
    found: ValuesByCase = {}
    for result in one.ended:
        awaits_exam = result.outcome.hands_in and result.exam is None
        if metric in ABOUT_EXAMS and (awaits_exam or one.suite.exam_of(result.case) is None):
            continue
        found.setdefault(result.case, []).append(_READ[metric](result))
    return found


def estimate_of(metric: Metric, found: ValuesByCase) -> Estimate:
    """Mean of a metric over cases, with its interval, which ends where the metric does."""
    made = estimate(found, bounded=metric in SHARES)
    if made.low is None or metric is Metric.FLATTERY:
        return made
    return made.model_copy(update={"low": max(0.0, made.low)})


def run_estimate(metric: Metric, one: ReadRun) -> Estimate:
    """Mean of a metric over the cases of a run, with its interval.

    How far a system flatters itself is a paired difference of its own verdicts from its exams, with the interval of
    one: ten cases without flattery do not prove that there is none.
    """
    found = values(metric, one)
    if metric is not Metric.FLATTERY:
        return estimate_of(metric, found)
    made = difference(values(Metric.EXAM, one), values(Metric.ITSELF, one), successes=True)
    return Estimate(mean=estimate_of(metric, found).mean, low=made.low, high=made.high, n_cases=made.n_cases)


def _metric(metric: Metric, runs: Sequence[ReadRun]) -> ComparedMetric:
    found = [values(metric, one) for one in runs]
    differences = [difference(found[0], other, successes=metric in SUCCESSES) for other in found[1:]]
    return ComparedMetric(
        metric=metric,
        estimates=tuple(run_estimate(metric, one) for one in runs),
        differences=tuple(corrected(differences)),
    )


def corrected(differences: Sequence[Difference]) -> list[Difference]:
    """Differences that are judged together, with their p-values corrected for being several."""
    tested = [index for index, one in enumerate(differences) if one.p is not None]
    adjusted = dict(zip(tested, holm([differences[index].p or 0.0 for index in tested]), strict=True))
    return [one.model_copy(update={"p_holm": adjusted.get(index)}) for index, one in enumerate(differences)]


def groups_of(suite: Suite) -> dict[str, dict[str, str]]:
    """Kind of group -> case -> its group."""
    return {
        "category": {case.name: case.category for case in suite.cases if case.category},
        "environment": {case.name: case.env_id for case in suite.cases},
        "difficulty": {case.name: str(case.difficulty) for case in suite.cases if case.difficulty is not None},
    }


def _groups(kind: str, names: Mapping[str, str], metric: Metric, runs: Sequence[ReadRun]) -> list[ComparedGroup]:
    found = [values(metric, one) for one in runs]
    groups = list(dict.fromkeys(names.values()))
    parts = {
        group: [{case: v for case, v in one.items() if names.get(case) == group} for one in found] for group in groups
    }
    flat = [difference(part[0], other, successes=True) for part in parts.values() for other in part[1:]]
    adjusted = iter(corrected(flat))
    return [
        ComparedGroup(
            kind=kind,
            name=group,
            estimates=tuple(estimate_of(metric, one) for one in part),
            differences=tuple(next(adjusted) for _ in part[1:]),
        )
        for group, part in parts.items()
    ]


def _notes(runs: Sequence[ReadRun], main: ComparedMetric) -> list[str]:
    notes = []
    for other, found in zip(runs[1:], main.differences, strict=True):
        notes += _notes_of_pair(runs[0], other, found)
    for one in runs:
        unended = sum(result.outcome is Outcome.OPEN for result in one.results)
        skipped = sum(result.outcome is Outcome.SKIPPED for result in one.results)
        of_run = f"of {len(one.results)} sessions of {one.run.name}"
        if unended:
            notes.append(f"{unended} {of_run} have not ended yet.")
        if skipped:
            notes.append(f"{skipped} {of_run} are skipped: their stage is not run.")
    return notes


def _notes_of_pair(first: ReadRun, other: ReadRun, found: Difference) -> list[str]:
    pair = f"{first.run.name} and {other.run.name}"
    notes = []
    if found.n_cases < SETTLED_CASES:
        notes.append(
            f"{pair} have {_cases(found.n_cases)} in common. Below {SETTLED_CASES} hardly any difference can be told "
            "from chance, and intervals of costs are too narrow."
        )
    elif found.n_changed < TELLING_CASES:
        notes.append(
            f"{found.n_changed} of {_cases(found.n_cases)} differ between {pair}. With fewer than {TELLING_CASES}, "
            "chance is not excluded even if all differ in one direction."
        )
    apart = len({result.case for one in (first, other) for result in one.ended}) - found.n_cases
    if apart and found.n_cases:
        notes.append(f"Left out of the differences of {pair}: {_cases(apart)} that only one of them has ended.")
    if first.run.seeds != other.run.seeds:
        seeds = f"{_listed(first.run.seeds)} and {_listed(other.run.seeds)}"
        notes.append(f"The seeds of {pair} differ: {seeds}. Each case counts once all the same.")
    for package in sorted(first.run.versions.keys() & other.run.versions.keys()):
        if (before := first.run.versions[package]) != (after := other.run.versions[package]):
            notes.append(f"{pair} ran with different versions of {package}: {before} and {after}.")
    return notes


def _cases(n: int) -> str:
    return "one case" if n == 1 else f"{n} cases" if n else "no case"


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))
