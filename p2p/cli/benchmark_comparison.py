"""`p2p benchmark compare`: runs of a suite against one another, judges against the exams."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from p2p.cli.formats import short_path
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.tables import table
from p2p.contracts.errors import InvalidInput
from p2p.contracts.suite_comparison import (
    IN_POINTS,
    Difference,
    Estimate,
    JudgeComparison,
    Metric,
    SuiteComparison,
)
from p2p.service.suites.comparing import TITLES, compare_suite_runs, estimate_in_words, in_points, verdict_in_words
from p2p.service.suites.comparing_judges import compare_judges

COMPARE_EXAMPLES = examples(
    "p2p benchmark compare before after",
    "p2p benchmark compare basic basic-claude-opus-5-5 basic-gemini-3-1-pro --no-chart",
    "p2p benchmark compare basic --judges",
)
WIDTH = 31
"""Of an interval drawn with characters; odd, so that 0 is in the middle."""

RunNames = Annotated[
    list[str], typer.Argument(metavar="RUN...", help="Runs of one suite; each is compared with the first.")
]
Judges = Annotated[
    bool, typer.Option("--judges", help="Compare the judges of one RUN with its exams; nothing is simulated.")
]
Chart = Annotated[bool, typer.Option("--chart/--no-chart", help="Draw the forest plot as a PNG too.")]


def compare(
    runs: RunNames, judges: Judges = False, chart: Chart = True, as_json: AsJson = False, runs_dir: RunsDir = None
) -> None:
    """Compare runs of one suite over the cases that both have, with 95 % intervals; or the judges of one run."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    if judges:
        if len(runs) != 1:
            raise InvalidInput("--judges compares the judges of one run: give one RUN.")
        found = compare_judges(ws, runs[0])
        output.result(found, *judges_text(found))
        return
    if len(runs) < 2:
        raise InvalidInput("Expected two runs or more to compare. For the judges of one run: --judges.")
    comparison = compare_suite_runs(ws, runs, chart=chart)
    text = comparison_text(comparison)
    if comparison.chart is not None:
        text.append(f"forest plot: {short_path(ws.runs.path / comparison.chart)}")
    output.result(comparison, *text)


def comparison_text(comparison: SuiteComparison) -> list[RenderableType]:
    """A comparison for people: what each run reached, the differences drawn, what limits them."""
    first, *others = comparison.runs
    text: list[RenderableType] = [
        f"{comparison.suite} version {comparison.version} ({comparison.digest[:12]}); what decides: "
        f"{TITLES[comparison.main]}",
        _estimates_table(comparison),
    ]
    for index, run in enumerate(others):
        text += [Text(f"{run} less {first}", style="bold"), _differences_table(comparison, index)]
        text.append(verdict_in_words(comparison, index))
    return [*text, *(Text(f"Note: {note}", style="yellow") for note in comparison.notes)]


def _estimates_table(comparison: SuiteComparison) -> Table:
    made = table("mean over cases [95 %]", *comparison.runs, right=comparison.runs)
    for one in comparison.metrics:
        style = "bold" if one.metric is comparison.main else ""
        made.add_row(TITLES[one.metric], *(_estimate(one.metric, found) for found in one.estimates), style=style)
    return made


def _differences_table(comparison: SuiteComparison, index: int) -> Table:
    numbers = ("difference [95 %]", "p", "cases", "differ")
    made = table("", f"less{' ' * (WIDTH - 8)}more", *numbers, right=numbers)
    for one in comparison.metrics:
        style = "bold" if one.metric is comparison.main else ""
        made.add_row(TITLES[one.metric], *_row(one.metric, one.differences[index]), style=style)
    kind = ""
    for group in comparison.groups:
        if not group.differences[index].n_cases:
            continue
        if group.kind != kind:
            made.add_section()
            kind = group.kind
        made.add_row(f"{group.kind} {group.name}", *_row(comparison.main, group.differences[index]))
    return made


def _row(metric: Metric, one: Difference) -> tuple[RenderableType, ...]:
    p = "–" if one.p_holm is None else f"{one.p_holm:.2g}"
    bar = draw_interval(one) if metric in IN_POINTS else Text()
    return bar, _difference(metric, one), p, str(one.n_cases), str(one.n_changed)


def draw_interval(one: Difference) -> Text:
    """An interval in [-1, 1] as a line of characters with its mean, and a mark at 0."""
    cells = [" "] * WIDTH
    middle = WIDTH // 2
    if one.mean is not None:
        if one.low is not None and one.high is not None:
            for place in range(_place(one.low), _place(one.high) + 1):
                cells[place] = "─"
        cells[_place(one.mean)] = "●"
    if cells[middle] != "●":
        cells[middle] = "│" if cells[middle] == " " else "┼"
    colour = "green" if one.low is not None and one.low > 0 else "red" if one.high is not None and one.high < 0 else ""
    return Text("".join(cells), style=colour)


def _place(value: float) -> int:
    return round((min(1.0, max(-1.0, value)) + 1) / 2 * (WIDTH - 1))


def _estimate(metric: Metric, found: Estimate) -> str:
    mean, interval = estimate_in_words(metric, found)
    return f"{mean} [{interval}]" if interval else mean


def _difference(metric: Metric, found: Difference) -> str:
    """A mean difference with its interval, in the unit of its metric."""
    if found.mean is None:
        return "–"
    if metric in IN_POINTS:
        return in_points(found).replace(" [", " points [") if found.low is not None else f"{in_points(found)} points"
    digits = 2 if metric in (Metric.DOLLARS, Metric.ITERATIONS) else 0
    interval = "" if found.low is None else f" [{found.low:+,.{digits}f}, {found.high:+,.{digits}f}]"
    return f"{found.mean:+,.{digits}f}{interval}"


def judges_text(found: JudgeComparison) -> list[RenderableType]:
    """Judges compared, for people."""
    numbers = ("policies", "agree with the exam [95 %]", "false passes", "false fails", "kappa", "AUROC", "dollars")
    made = table("judge", *numbers, right=numbers)
    for one in found.judges:
        made.add_row(
            one.judge,
            str(one.n_policies) + (f" ({one.without_verdict} without verdict)" if one.without_verdict else ""),
            _estimate(Metric.EXAM, one.agreement),
            str(one.false_passes),
            str(one.false_fails),
            _number(one.kappa),
            _number(one.auroc),
            f"{one.dollars:.2f}",
        )
    text: list[RenderableType] = [f"{found.run}: {found.suite} version {found.version} ({found.digest[:12]})", made]
    names: Sequence[str] = [one.judge for one in found.judges]
    for judge, less in zip(names[1:], found.differences, strict=True):
        p = "" if less.p_holm is None else f" (p = {less.p_holm:.2g})"
        points = in_points(less) if less.mean is not None else "–"
        text.append(f"agreement of {judge} less that of {names[0]}: {points} points{p}")
    return [*text, *(Text(f"Note: {note}", style="yellow") for note in found.notes)]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
