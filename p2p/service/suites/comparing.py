"""Runs of a suite compared with one another, and judges with the exams of one run."""

from collections.abc import Sequence
from typing import NamedTuple

from p2p.analysis.suite_comparison import ReadRun, compare_runs, groups_of, main_metric, metrics_of, run_estimate
from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.numbers import interval_in_words, number, share_in_words
from p2p.contracts.suite import Tally
from p2p.contracts.suite_comparison import (
    IN_POINTS,
    SHARES,
    Difference,
    Estimate,
    ForestRequest,
    ForestRow,
    Metric,
    SuiteComparison,
)
from p2p.service.jobs.worker_jobs import run_to_end
from p2p.service.pictures.picturing import relative_path
from p2p.service.suites.results import opened, view_suite_run
from p2p.service.workspace import Workspace
from p2p.store.suite_comparisons import forest_record
from p2p.store.suites import SuiteRuns

TITLES = {
    Metric.EXAM: "passed the exam",
    Metric.ITSELF: "passed by itself",
    Metric.FLATTERY: "passed by itself less passed the exam",
    Metric.EXAM_SUCCESS: "success in the exam",
    Metric.EXAM_SCORE: "score in the exam",
    Metric.SUCCESS: "success by its own criteria",
    Metric.SCORE: "score by its own criteria",
    Metric.ITERATIONS: "iterations",
    Metric.STEPS: "environment steps",
    Metric.SECONDS: "seconds at work",
    Metric.DOLLARS: "dollars",
}
"""Metrics in words."""
SURE = 0.05
"""A difference with a larger p is not told from chance."""


def estimate_in_words(metric: Metric, found: Estimate) -> tuple[str, str]:
    """A mean over cases and its 95 % interval, such as ("81 %", "62 % to 94 %"); an empty interval for none."""
    if found.mean is None:
        return "–", ""
    if metric in SHARES:
        interval = "" if found.low is None else interval_in_words(found.low, found.high).replace("%", " %")
        return share_in_words(found.mean).replace("%", " %"), interval
    mean, low, high = (_in_unit(metric, value) for value in (found.mean, found.low, found.high))
    return mean, f"{low} to {high}" if found.low is not None else ""


def _in_unit(metric: Metric, value: float | None) -> str:
    if value is None:
        return "–"
    if metric is Metric.FLATTERY:
        return f"{100 * value:.0f} %"
    return f"${value:.2f}" if metric is Metric.DOLLARS else number(value)


def compare_suite_runs(ws: Workspace, names: Sequence[str], *, chart: bool = True) -> SuiteComparison:
    """Compare runs of one suite with the first of them.

    Args:
        ws: The workspace.
        names: Of two runs or more.
        chart: Whether a forest plot is drawn; without the packages that draw there is none.

    Raises:
        UnknownName: there is no such run.
        InvalidInput: the runs are of different suites, versions or digests.
    """
    comparison = compare_runs([read_run(ws, name) for name in names])
    request = forest_of(comparison)
    if not chart or not request.rows:
        return comparison
    record = forest_record(SuiteRuns(ws.runs.path).known(names[0]).path, request)
    if not record.plot_path.exists():
        record.save_request(request)
        try:
            run_to_end(ws.backend, "forest", record.path)
        except EnvironmentProblem as error:
            return comparison.model_copy(update={"notes": (*comparison.notes, str(error))})
    return comparison.model_copy(update={"chart": relative_path(ws, record.plot_path)})


def read_run(ws: Workspace, name: str) -> ReadRun:
    """A run with its suite and its results as the sessions stand.

    Raises:
        UnknownName: there is no such run.
    """
    record = SuiteRuns(ws.runs.path).known(name)
    suite, run = opened(record)
    return ReadRun(run, suite, view_suite_run(ws, name).results)


class RunEstimate(NamedTuple):
    """One metric of a run in words."""

    title: str
    mean: str
    interval: str
    """95 % over cases; empty where there is none."""
    main: bool
    """Whether it decides."""


class RunGroup(NamedTuple):
    """The sessions of one category, difficulty or environment."""

    kind: str
    name: str
    tally: Tally


def run_estimates(ws: Workspace, name: str) -> tuple[RunEstimate, ...]:
    """Means over the cases of a run, by metric.

    Raises:
        UnknownName: there is no such run.
    """
    one = read_run(ws, name)
    main = main_metric(one.suite)
    return tuple(
        RunEstimate(TITLES[metric], *estimate_in_words(metric, run_estimate(metric, one)), metric is main)
        for metric in metrics_of([one])
    )


def run_groups(ws: Workspace, name: str) -> tuple[RunGroup, ...]:
    """How many sessions of each category, difficulty and environment of a run passed.

    Raises:
        UnknownName: there is no such run.
    """
    one = read_run(ws, name)
    found = []
    for kind, of_case in groups_of(one.suite).items():
        for group in sorted(set(of_case.values())):
            results = [result for result in one.results if of_case.get(result.case) == group]
            if results:
                found.append(RunGroup(kind, group, Tally.of(results, one.suite.examined)))
    return tuple(found)


def forest_of(comparison: SuiteComparison) -> ForestRequest:
    """Differences of a comparison that lie in [-1, 1], as a forest plot."""
    first, *others = comparison.runs
    rows: list[ForestRow] = []
    for index, run in enumerate(others):
        against = f"{run} less {first}"
        for one in comparison.metrics:
            if one.metric in IN_POINTS:
                main = one.metric is comparison.main
                rows += _row(TITLES[one.metric], against, one.differences[index], main=main)
        for group in comparison.groups:
            rows += _row(group.name, f"{against}: {TITLES[comparison.main]}, by {group.kind}", group.differences[index])
    return ForestRequest(
        title=f"{comparison.suite} version {comparison.version} ({comparison.digest[:12]}), each against {first}",
        axis="difference in points, with its 95 % interval; to the right: more than " + first,
        rows=tuple(rows),
    )


def _row(label: str, group: str, found: Difference, *, main: bool = False) -> list[ForestRow]:
    if found.mean is None or found.low is None or found.high is None:
        return []
    cases = found.n_cases
    return [
        ForestRow(label=label, group=group, mean=found.mean, low=found.low, high=found.high, n_cases=cases, main=main)
    ]


def verdict_in_words(comparison: SuiteComparison, index: int) -> str:
    """What a comparison says, in a sentence."""
    first, run = comparison.runs[0], comparison.runs[index + 1]
    found = comparison.metric(comparison.main)
    assert found is not None, "what decides is always among the metrics"
    one = found.differences[index]
    title = TITLES[comparison.main]
    if one.mean is None or one.p_holm is None:
        return f"{run} and {first} have too few cases in common to compare."
    if one.p_holm > SURE:
        return f"No difference between {run} and {first} can be told from chance ({title}, p = {one.p_holm:.2g})."
    better = "more" if one.mean > 0 else "less"
    return f"{run} {title} {better} often than {first}: {in_points(one)} points (p = {one.p_holm:.2g})."


def in_points(one: Difference) -> str:
    """A difference of shares with its interval, in points of 100."""
    assert one.mean is not None
    interval = "" if one.low is None or one.high is None else f" [{100 * one.low:+.0f}, {100 * one.high:+.0f}]"
    return f"{100 * one.mean:+.0f}{interval}"
