"""How a session ended: the verdict per criterion, what was changed, and where everything lies."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from p2p.cli.formats import interval, share, short_path
from p2p.cli.live import heading, last_line, title
from p2p.cli.remedies import in_commands
from p2p.cli.standing import standing
from p2p.cli.tables import table
from p2p.contracts.advice import Advice
from p2p.contracts.intent import needed, number, score_in_words
from p2p.contracts.job import JobState, in_words
from p2p.contracts.judgment import CriterionScore, Judgment, Verdict
from p2p.contracts.numbers import duration
from p2p.contracts.session import (
    FilmProgress,
    IterationData,
    RunProgress,
    SessionView,
    SettingsChange,
)

COLOURS = {Verdict.PASSED: "green", Verdict.FAILED: "red", Verdict.NO_VERDICT: "yellow"}
FILM_STATES = {
    JobState.QUEUED: "queued",
    JobState.SUBMITTING: "queued",
    JobState.RUNNING: "being made, at low priority",
    JobState.COMPLETED: "made",
    JobState.FAILED: "failed",
    JobState.CANCELLED: "cancelled",
    JobState.LOST: "lost, their process was killed",
    JobState.UNREACHABLE: "unknown, their machine does not answer",
}
NEXT_STEPS = {
    "intent": "say what is wanted",
    "reward": "write a reward",
    "train": "train it",
    "judge": "judge it",
    "revise": "revise it",
}
"""Step of a session -> what its caller is to do."""


def ending(
    view: SessionView, runs_dir: Path, report_returns: Sequence[float] = (), advice: Sequence[Advice] = ()
) -> list[RenderableType]:
    """All one wants to know about a session that has ended, or the little there is of one that has not."""
    words, style = standing(view.status, view.by_caller)
    who = f" to {NEXT_STEPS.get(view.step, 'go on')}" if view.by_caller else ""
    resume = f"{who}. To let p2p continue: p2p resume {view.session.session_id}"
    words += "" if view.alive or view.status.finished else resume
    count = max(view.iteration, len(view.history))
    seconds = sum(line.elapsed_time_s for line in view.history)
    spent = f" in {duration(seconds)}" if seconds else ""
    saved = sum(line.steps_saved for line in view.history)
    tried = f"{count} of {view.session.max_iterations} iterations{spent}{f', {saved:,} steps saved' if saved else ''}"
    headline = Text(words, style=style).append(f"  {tried}", style="not bold default")
    parts: list[RenderableType] = [heading(view), headline]
    if (origin := view.session.extends) is not None:
        parts.append(Text(f"extends iteration {origin.iteration} of {origin.session_id}", style="dim"))
    if view.waiting is not None:
        parts.append(Text(in_words(view.waiting), style="yellow"))
    if view.error:
        parts.append(Text(view.error, style="red"))
    if view.judgment is not None and view.criteria:
        parts += judged(view.judgment, view.best_iteration)
    parts += next_changes(advice)
    parts += [Text(words) for words in policy_cost(view)]
    if not view.session.prompt and view.runs:
        parts.append(runs(view.runs))
    if report_returns:
        parts.append(returns(report_returns))
    if any(line.changes or line.from_policy for line in view.history):
        parts.append(changes(view.history))
    if files := paths(view, runs_dir):
        parts += ["", *files]
    if view.film is not None:
        parts.append(film(view.film))
    return parts


def next_changes(advice: Sequence[Advice]) -> list[RenderableType]:
    """What the course of the trainings says to do next."""
    return [Text(f"next: {one.words}") for one in advice]


def policy_cost(view: SessionView) -> list[str]:
    """All steps that led to the best policy, where it went on from another; empty for one from zero."""
    lines = [line for line in view.history if line.iteration == view.best_iteration]
    return [f"policy: {line.from_policy.cost(line.best_checkpoint or 0)}" for line in lines if line.from_policy]


def film(progress: FilmProgress) -> Text:
    """How the videos of all checkpoints stand; p2p makes them when a session has ended, one session after another."""
    words = in_words(progress.waiting) if progress.waiting is not None else FILM_STATES[progress.state]
    why = f": {in_commands(progress.error)}" if progress.error else ""
    return Text(f"videos of all checkpoints: {words}{why}", style="dim")


def judged(judgment: Judgment, iteration: int | None = None) -> list[RenderableType]:
    """A judgment: one row per criterion, then the whole."""
    where = f"iteration {iteration}, " if iteration is not None else ""
    text = Text(str(judgment.verdict).replace("_", " "), style=f"bold {COLOURS[judgment.verdict]}")
    text.append(
        f"  {where}success {share(judgment.success_rate)}"
        f"{interval(judgment.success_low, judgment.success_high)} of {judgment.n_rollouts} rollouts, "
        f"score {score_in_words(judgment.intent_score)} (needs {score_in_words(judgment.pass_threshold)})",
        style="not bold default",
    )
    if judgment.measured_success_rate is not None:
        who = judgment.vetoed_by or "eyes"
        alone = interval(judgment.measured_success_low, judgment.measured_success_high)
        text.append(f"; refused by {who}, measured {share(judgment.measured_success_rate)}{alone}")
    criteria = [_criteria(judgment.criteria)] if judgment.criteria else []
    robust = [Text(judgment.robustness.words)] if judgment.robustness is not None else []
    return [*criteria, text, *robust, Text(judgment.diagnosis.partition("\n")[0])]


def _criteria(criteria: Iterable[CriterionScore]) -> Table:
    numbers = ("measured", "95 % interval", "needed", "met by", "pass")
    made = table("criterion", *numbers, right=numbers)
    for item in criteria:
        interval = "–" if item.low is None else f"{number(item.low)} … {number(item.high, item.unit)}"
        made.add_row(
            title(item.title, item.required),
            number(item.value, item.unit),
            interval,
            needed(item.comparison, item.threshold, item.upper, item.unit),
            share(item.met_share),
            Text("yes", style="green") if item.met else Text("no", style="red" if item.required else "yellow"),
        )
    return made


def returns(values: Sequence[float]) -> Text:
    """What the report rollouts of a checkpoint brought by the reward it was trained on."""
    between = f"{number(min(values))} … {number(max(values))}"
    return Text(f"return of {len(values)} report rollouts: mean {number(mean(values))}, {between}")


def runs(items: Iterable[RunProgress]) -> Table:
    """Runs, the failed ones with their error."""
    made = table("run", "state", "steps", "return", "success", "error", right=("steps", "return", "success"))
    for run in items:
        error = (
            Text(in_commands(last_line(run.error)), style="red")
            if run.state in ("failed", "lost", "unreachable")
            else ""
        )
        if run.waiting is not None:
            error = Text(in_commands(in_words(run.waiting)), style="dim")
        if run.resumed:
            times = "" if run.resumed == 1 else f", {run.resumed} times"
            error = Text(f"went on after an interruption{times}", style="dim")
        if run.early_stop is not None:
            error = Text(f"verdict clear, {run.early_stop.steps_saved:,} steps saved", style="dim")
        before = f" after {run.inherited_steps:,}" if run.inherited_steps else ""
        planning = f", {run.planned_steps:,} to plan" if run.planned_steps else ""
        steps = f"{run.step:,} / {run.total_timesteps:,}{before}{planning}"
        made.add_row(run.run_id, run.state, steps, number(run.episode_return), share(run.success_rate), error)
    return made


def changes(history: Iterable[IterationData]) -> Table:
    """The iterations with what each changed."""
    numbers = ("score", "success", "time")
    made = table("iteration", "verdict", *numbers, "changed", right=("iteration", *numbers))
    for line in history:
        verdict = Text(str(line.verdict).replace("_", " "), style=COLOURS[line.verdict])
        time = duration(line.elapsed_time_s)
        began = [f"from the policy of {line.from_policy.words}"] if line.from_policy is not None else []
        changed = "\n".join([*line.changes, *began]) or "–"
        made.add_row(
            str(line.iteration),
            verdict,
            score_in_words(line.intent_score),
            share(line.success_rate),
            time,
            Text(changed),
        )
    return made


def paths(view: SessionView, runs_dir: Path) -> list[str]:
    """Where what was made lies, one line each; none for what was not."""
    made = [(name.replace("_", " "), path) for name, path in view.artefacts if path is not None]
    return [f"{name:<15} {short_path(runs_dir / path)}" for name, path in made]


def changed_settings(changes: Sequence[SettingsChange]) -> list[Text]:
    """One line for each change of a session's settings."""
    return [
        Text(f"from iteration {one.from_iteration} on: {', '.join(one.words)} (by {one.by})", style="dim")
        for one in changes
    ]
