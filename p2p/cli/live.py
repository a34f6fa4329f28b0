"""A session while it runs: one picture of its state."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from p2p.cli.formats import plan_in_words, share, sparkline
from p2p.cli.remedies import in_commands
from p2p.contracts.intent import Comparison, Criterion, needed, number, score_in_words
from p2p.contracts.job import in_words
from p2p.contracts.numbers import duration
from p2p.contracts.session import RunProgress, SessionView

STEPS = ("intent", "reward", "train", "judge", "revise")
STATES = {"completed": "green", "failed": "red", "lost": "red", "running": "cyan"}
STATES |= dict.fromkeys(("cancelled", "unreachable"), "yellow")
ENDED_BADLY = ("failed", "lost", "cancelled", "unreachable")
BAR_WIDTH, LEAST_BAR = 28, 8
SPARKS, LEAST_SPARKS = 20, 10
LEAST_TITLE = 22
"""Columns that the title of a criterion has at least; where the runs leave fewer, they are summed up in one column."""
GAP = 2
"""Columns between two of a table."""


class Detail(Enum):
    """How much of the criteria is shown."""

    WHOLE = "whole"
    LINES = "lines"
    """Each on one line."""
    OPEN = "open"
    """Only those that some run does not meet yet."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A session while it runs, drawn for the terminal it is shown on.

    Args:
        view: The session.
    """

    view: SessionView

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the most detailed of several pictures that fits into the lines of the terminal."""
        lines = options.size.height if console.is_terminal else None
        pictures = [Group(*_parts(self.view, options.max_width, detail)) for detail in Detail]
        free = options.update(height=None)
        fitting = (one for one in pictures if lines is None or len(console.render_lines(one, free, pad=False)) < lines)
        yield next(fitting, pictures[-1])


def picture(view: SessionView) -> Picture:
    """The step of the loop, the runs with their progress, and the criteria with what was last measured."""
    return Picture(view)


def _parts(view: SessionView, width: int, detail: Detail) -> Iterator[RenderableType]:
    yield heading(view)
    yield _steps(view, width)
    yield from waits(view)
    yield ""
    if view.runs:
        yield Text(plan_in_words(view), style="dim")
        yield _runs(view.runs, width)
        # Why runs ended before their time, one line each.
        badly = (run for run in view.runs if run.state in ENDED_BADLY)
        yield from [
            Text(f"{run.run_id} {run.state}: {in_commands(last_line(run.error))}", style="red") for run in badly
        ]
        yield from hints(view.runs)[:1]
        yield ""
    if view.criteria:
        yield _criteria(view, width, detail)
        yield ""
    if detail is not Detail.OPEN:
        yield from (_past(line.iteration, line.intent_score, line.success_rate) for line in view.history)
    yield Text("Ctrl-C leaves this view.", style="dim")


def waits(view: SessionView) -> list[Text]:
    """What is waited for, by the session or by some of its runs: one line each."""
    several = [view.waiting] if view.waiting is not None else [run.waiting for run in view.runs]
    words = dict.fromkeys(in_words(waiting) for waiting in several if waiting is not None)
    return [Text(in_commands(text), style="yellow") for text in words]


def hints(runs: Iterable[RunProgress]) -> list[Text]:
    """What to look at in trainings that go on, one line each."""
    return [Text(f"{run.run_id}: {run.hint}", style="yellow") for run in runs if run.hint is not None]


def heading(view: SessionView) -> Text:
    """Which session it is."""
    session = view.session
    text = Text(f"“{session.prompt}”" if session.prompt else "own reward", style="bold")
    return text.append(f"  {session.env_id}  {session.session_id}", style="not bold dim")


def _steps(view: SessionView, width: int) -> Text:
    """Where the loop is; the present step alone where all of them are too long for one line."""
    where = f"iteration {max(1, view.iteration)}/{view.session.max_iterations}   "
    text = Text(where)
    reached = STEPS.index(view.step) if view.step in STEPS else len(STEPS)
    for index, step in enumerate(STEPS):
        if index:
            text.append(" → ", style="dim")
        style = "green" if index < reached else "bold reverse cyan" if index == reached else "dim"
        text.append(f" {step} " if index == reached else step, style=style)
    return text if text.cell_len <= width else Text(where).append(f" {view.step} ", style="bold reverse cyan")


def _runs(runs: Sequence[RunProgress], width: int) -> Table:
    """One line for each run: always its name, share, time left and return; more where there is room."""
    columns = {
        "run": [run.run_id for run in runs],
        "": [share(_done(run)) for run in runs],
        "steps/s": ["–" if run.steps_per_second is None else f"{run.steps_per_second:,.0f}" for run in runs],
        "ETA": [time_left(run) for run in runs],
        "return": [number(run.episode_return) for run in runs],
    }
    widths = {name: max(len(name), *map(len, cells)) for name, cells in columns.items()}
    left = width - sum(widths.values()) - GAP * (len(widths) - 1)
    if left < 0:
        left += widths.pop("steps/s") + GAP
    both = left - LEAST_SPARKS - 2 * GAP
    bar = both if both >= LEAST_BAR else left - GAP if left - GAP >= LEAST_BAR else 0
    bar = min(BAR_WIDTH, bar)
    left -= bar + GAP if bar else 0
    sparks = min(SPARKS, left - GAP) if left - GAP >= LEAST_SPARKS else 0
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    for name in widths:
        table.add_column(name, justify="left" if name == "run" else "right", no_wrap=True, overflow="ellipsis")
        if name == "run" and bar:
            table.add_column("progress", width=bar)
    if sparks:
        table.add_column("", no_wrap=True)
    for index, run in enumerate(runs):
        cells: list[RenderableType] = [Text(columns[name][index]) for name in widths]
        cells[0] = Text(run.run_id, style=STATES.get(run.state, "dim"))
        if bar:
            cells.insert(1, ProgressBar(total=1.0, completed=_done(run), width=bar))
        table.add_row(*cells, *([sparkline(run.returns, sparks)] if sparks else []))
    return table


def _done(run: RunProgress) -> float:
    """Share of its steps that a run has made."""
    return run.step / run.total_timesteps if run.total_timesteps else 0.0


def time_left(run: RunProgress) -> str:
    """When a run will be trained, or why that is not told."""
    if run.state in ENDED_BADLY:
        return run.state
    if run.waiting is not None:
        return "waits"
    if run.early_stop is not None:
        return "clear"
    if run.state == "completed":
        return "done"
    if run.state == "running" and run.total_timesteps and run.step >= run.total_timesteps:
        return "evaluating"
    if run.planning:
        return "planning"
    if run.state == "running" and run.eta_s is None:
        return "estimating"
    return duration(run.eta_s)


def _criteria(view: SessionView, width: int, detail: Detail) -> Table:
    """What is asked for and what each run has reached; of many runs, what they have reached together."""
    shown = [one for one in view.criteria if detail is not Detail.OPEN or not _met_by_all(one, view.runs)]
    wanted = [threshold(one) for one in shown]
    # The runs by their names, without the configuration's where all have the same.
    configs = {run.run_id.rpartition("seed_")[0] for run in view.runs}
    prefix = configs.pop() if len(configs) == 1 else ""
    named = {run.run_id.removeprefix(prefix): run for run in view.runs}
    columns = {name: [_measured(one, run) for one in shown] for name, run in named.items()}
    rates = [share(run.success_rate) for run in view.runs]
    taken = max(map(len, ["needed", *wanted])) + GAP
    taken += sum(max([len(name), *(cell.cell_len for cell in cells)]) + GAP for name, cells in columns.items())
    if width - taken < LEAST_TITLE:
        columns = {"runs so far": [_together(one, view.runs) for one in shown]}
        rates = [f"at most {share(max((run.success_rate or 0.0 for run in view.runs), default=None))}"]
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    table.add_column("criterion", no_wrap=detail is not Detail.WHOLE, overflow="ellipsis")
    table.add_column("needed", justify="right", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for index, one in enumerate(shown):
        cells = [column[index] for column in columns.values()]
        table.add_row(title(one.title, one.required), wanted[index], *cells)
    if len(shown) < len(view.criteria):
        table.add_row(Text(f"{len(view.criteria) - len(shown)} more are met", style="dim"))
    if any(run.success_rate is not None for run in view.runs):
        table.add_row(Text("rollouts that do all of it", style="dim"), "", *rates)
    return table


def _met(criterion: Criterion, run: RunProgress) -> bool | None:
    """Whether a run met a criterion when it was last measured; None where it was not."""
    value = run.criteria.get(criterion.key)
    wanted = criterion.predicate
    return None if value is None or wanted is None else meets(value, wanted.comparison, wanted.threshold, wanted.upper)


def meets(value: float, comparison: Comparison, threshold: float, upper: float | None) -> bool:
    """Whether a value does what is asked for."""
    if comparison is Comparison.AT_LEAST:
        return value >= threshold
    if comparison is Comparison.AT_MOST:
        return value <= threshold
    return threshold <= value <= (upper if upper is not None else threshold)


def _met_by_all(criterion: Criterion, runs: Sequence[RunProgress]) -> bool:
    return bool(runs) and all(_met(criterion, run) for run in runs)


def _measured(criterion: Criterion, run: RunProgress) -> Text:
    met = _met(criterion, run)
    if met is None or criterion.predicate is None:
        return Text("–", style="dim")
    value = number(run.criteria[criterion.key], criterion.predicate.unit)
    return Text(f"{value} {'✓' if met else '✗'}", style="green" if met else "yellow")


def _together(criterion: Criterion, runs: Sequence[RunProgress]) -> Text:
    """The least and the most that runs have reached, and how many of those measured meet it."""
    met = [found for run in runs if (found := _met(criterion, run)) is not None]
    values = [value for run in runs if (value := run.criteria.get(criterion.key)) is not None]
    if not met or not values:
        return Text("–", style="dim")
    least = number(min(values))
    most = number(max(values))
    between = least if least == most else f"{least} … {most}"
    return Text(f"{between}  {sum(met)}/{len(met)} ✓", style="green" if all(met) else "yellow")


def threshold(criterion: Criterion) -> str:
    """What a criterion asks for; one without a predicate needs eyes."""
    wanted = criterion.predicate
    if wanted is None:
        return "needs eyes"
    return needed(wanted.comparison, wanted.threshold, wanted.upper, wanted.unit)


def title(text: str, required: bool) -> Text:
    """The name of a criterion."""
    return Text(text) if required else Text(text).append(" (optional)", style="dim")


def last_line(error: str | None) -> str:
    """The line of an error that says what it is."""
    lines = [line for line in (error or "").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no message"


def _past(iteration: int, score: float | None, success: float | None) -> Text:
    return Text(f"iteration {iteration}: score {score_in_words(score)}, success {share(success)}", style="dim")
