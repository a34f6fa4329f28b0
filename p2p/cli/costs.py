"""Where the tokens, dollars and seconds of a session went: `p2p show SESSION --costs`."""

from collections.abc import Iterable

from rich.console import RenderableType
from rich.text import Text

from p2p.cli.tables import table
from p2p.contracts.inference import SessionCosts
from p2p.contracts.numbers import duration
from p2p.contracts.spending import Caps

NUMBERS = ("calls", "read", "cached", "thought", "written", "dollars", "waited")


def costs(found: SessionCosts) -> list[RenderableType]:
    """A row for each role and iteration, the trainings, and the caps."""
    made = table("role", "iteration", *NUMBERS, right=NUMBERS)
    for cost in (*found.rows, found.total):
        usage = cost.usage
        style = "bold" if cost is found.total else ""
        calls = f"{cost.calls} ({cost.failed} failed)" if cost.failed else str(cost.calls)
        made.add_row(
            cost.role,
            "" if cost.iteration is None else str(cost.iteration),
            calls,
            f"{usage.input:,}",
            f"{usage.cached:,}",
            f"{usage.thinking:,}",
            f"{usage.output - usage.thinking:,}",
            dollars(cost.dollars),
            duration(cost.seconds),
            style=style,
        )
    parts: list[RenderableType] = [made] if found.rows else [Text("No model was called.")]
    for training in found.trainings:
        steps = f"{training.environment_steps:,} environment steps"
        short = f", short trainings of {training.candidates} candidates" if training.candidates else ""
        parts.append(Text(f"iteration {training.iteration}{short}: {steps}, {duration(training.seconds)} of training"))
    parts.append(Text(f"at work: {duration(found.seconds_at_work)}   caps: {', '.join(caps(found.caps)) or 'none'}"))
    if found.open_calls:
        parts.append(Text(f"{found.open_calls} calls have not ended; each is counted at the most it can cost."))
    return parts


def dollars(value: float | None) -> str:
    """An amount; "–" where the price is not known."""
    return "–" if value is None else f"${value:,.4f}" if value < 1 else f"${value:,.2f}"


def caps(limits: Caps) -> Iterable[str]:
    """The caps in words."""
    for name, value in limits.model_dump().items():
        if value is not None:
            yield f"{value:,g} {name.replace('_', ' ')}"
