"""A session while it runs: one picture of its state."""

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from p2p.cli.formats import duration, meets, needed, number, plan_in_words, share, sparkline
from p2p.contracts.intent import Criterion
from p2p.contracts.session import RunProgress, SessionView
from p2p.contracts.waiting import in_words

STEPS = ("intent", "reward", "train", "judge", "revise")
STATES = {"completed": "green", "failed": "red", "lost": "red", "running": "cyan"}
STATES |= dict.fromkeys(("cancelled", "unreachable"), "yellow")
BAR_WIDTH = 28


def picture(view: SessionView) -> RenderableType:
    """The step of the loop, the runs with their progress, and the criteria with what was last measured."""
    parts: list[RenderableType] = [heading(view), _steps(view), *waits(view), ""]
    if view.runs:
        parts += [Text(plan_in_words(view), style="dim"), _runs(view.runs), *hints(view.runs), ""]
    if view.criteria:
        parts += [_criteria(view), ""]
    parts += [_past(line.iteration, line.intent_score, line.success_rate) for line in view.history]
    parts.append(Text("Ctrl-C leaves this view.", style="dim"))
    return Group(*parts)


def waits(view: SessionView) -> list[Text]:
    """What is waited for, by the session or by some of its runs: one line each."""
    several = [view.waiting] if view.waiting is not None else [run.waiting for run in view.runs]
    words = dict.fromkeys(in_words(waiting) for waiting in several if waiting is not None)
    return [Text(text, style="yellow") for text in words]


def hints(runs: Iterable[RunProgress]) -> list[Text]:
    """What to look at in trainings that go on, one line each."""
    return [Text(f"{run.run_id}: {run.hint}", style="yellow") for run in runs if run.hint is not None]


def heading(view: SessionView) -> Text:
    """Which session it is."""
    session = view.session
    text = Text(f"“{session.prompt}”" if session.prompt else "a reward of one's own", style="bold")
    return text.append(f"  {session.env_id}  {session.session_id}", style="not bold dim")


def _steps(view: SessionView) -> Text:
    text = Text(f"iteration {max(1, view.iteration)}/{view.session.max_iterations}   ")
    reached = STEPS.index(view.step) if view.step in STEPS else len(STEPS)
    for index, step in enumerate(STEPS):
        if index:
            text.append(" → ", style="dim")
        style = "green" if index < reached else "bold reverse cyan" if index == reached else "dim"
        text.append(f" {step} " if index == reached else step, style=style)
    return text


def _runs(runs: tuple[RunProgress, ...]) -> Table:
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("run", no_wrap=True)
    table.add_column("progress", min_width=8, max_width=BAR_WIDTH)
    for name in ("", "steps/s", "ETA"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("return")
    table.add_column("", no_wrap=True)
    for run in runs:
        table.add_row(*_run(run))
    return table


def _run(run: RunProgress) -> tuple[RenderableType, ...]:
    done = run.step / run.total_timesteps if run.total_timesteps else 0.0
    name = Text(run.run_id, style=STATES.get(run.state, "dim"))
    bar = ProgressBar(total=1.0, completed=done)
    if run.state in ("failed", "lost", "cancelled", "unreachable"):
        return name, bar, share(done), "", "", Text(f"{run.state}: {last_line(run.error)}", style="red"), ""
    rate = "–" if run.steps_per_second is None else f"{run.steps_per_second:,.0f}"
    if run.waiting is not None:
        return name, bar, share(done), "", "", Text("waits for cores", style="dim"), ""
    eta = "clear" if run.early_stop is not None else "done" if run.state == "completed" else duration(run.eta_s)
    return name, bar, share(done), rate, eta, number(run.episode_return), sparkline(run.returns)


def _criteria(view: SessionView) -> Table:
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("criterion")
    table.add_column("needed", justify="right", no_wrap=True)
    for run in view.runs:
        table.add_column(run.run_id, justify="right", no_wrap=True)
    for criterion in view.criteria:
        cells = [_measured(criterion, run) for run in view.runs]
        table.add_row(title(criterion.title, criterion.required), threshold(criterion), *cells)
    if any(run.success_rate is not None for run in view.runs):
        rates = [share(run.success_rate) for run in view.runs]
        table.add_row(Text("rollouts that do all of it", style="dim"), "", *rates)
    return table


def _measured(criterion: Criterion, run: RunProgress) -> Text:
    value = run.criteria.get(criterion.key)
    if value is None or criterion.predicate is None:
        return Text("–", style="dim")
    wanted = criterion.predicate
    met = meets(value, wanted.comparison, wanted.threshold, wanted.upper)
    return Text(f"{number(value, wanted.unit)} {'✓' if met else '✗'}", style="green" if met else "yellow")


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
    return Text(f"iteration {iteration}: score {number(score)}, success {share(success)}", style="dim")
