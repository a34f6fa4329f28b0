"""`p2p diff`: what two iterations, or two sessions, reached, and how they differ."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from p2p.cli.options import AsJson, RunsDir, SessionName, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.tables import table
from p2p.contracts.errors import InvalidInput
from p2p.contracts.metrics import CriterionPair, IterationComparison, IterationOutcome, SessionComparison
from p2p.contracts.numbers import interval_in_words, number, score_in_words, share_in_words
from p2p.service.progress.comparing import compare_iterations, compare_sessions
from p2p.service.progress.listing import find_session

DIFF_EXAMPLES = examples(
    "p2p diff latest 1 3   (two iterations)",
    "p2p diff 1a2b3c4d 5e6f7a8b   (the best iterations of two sessions)",
)

First = Annotated[str, typer.Argument(metavar="FIRST", help="Number of an iteration, or another session.")]
Second = Annotated[int | None, typer.Argument(metavar="[SECOND]", help="Number of the other iteration.", min=1)]


def diff(
    session: SessionName, first: First, second: Second = None, as_json: AsJson = False, runs_dir: RunsDir = None
) -> None:
    """Show what two iterations, or the best ones of two sessions, reached, and how they differ; no model is asked."""
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    session_id = find_session(ws, session)
    if second is None:
        between = compare_sessions(ws, session_id, find_session(ws, first))
        output.result(between, *_of_sessions(between))
        return
    if not first.isdecimal():
        raise InvalidInput(f"{first!r} is no number of an iteration. Two sessions are compared without a third word.")
    found = compare_iterations(ws, session_id, int(first), second)
    output.result(found, *_of_iterations(found))


def _of_sessions(found: SessionComparison) -> list[RenderableType]:
    sides = (found.first, found.second)
    lines: list[RenderableType] = [Text(f"{side.session_id}  {side.env_id}  {side.prompt}") for side in sides]
    names = [
        f"{side.session_id[-8:]}, {f'iteration {side.best.iteration}' if side.best else 'unjudged'}" for side in sides
    ]
    lines.append(_results(names, [side.best for side in sides], found.criteria))
    if not found.comparable:
        lines.append(Text("They were not judged by the same criteria: their scores say nothing of each other."))
    elif found.better is not None:
        lines.append(Text(f"Better: {found.better}."))
    if found.hyperparameters:
        settings = table("hyperparameter", *names)
        for field in found.hyperparameters:
            settings.add_row(field.name, *(str(value) for value in field.values))
        lines.append(settings)
    return [*lines, Text(found.reward_diff or "Their rewards are equal.")]


def _of_iterations(found: IterationComparison) -> list[RenderableType]:
    sides = (found.first, found.second)
    lines: list[RenderableType] = [_results([f"iteration {side.iteration}" for side in sides], sides, found.criteria)]
    if found.better is not None:
        lines.append(Text(f"Better: iteration {found.better}."))
    lines += [Text(f"{change.name}: {change.old} → {change.new}  {change.reason}".rstrip()) for change in found.changes]
    return [*lines, Text(found.reward_diff or "Their rewards are equal.")]


def _results(
    names: Sequence[str], sides: Sequence[IterationOutcome | None], criteria: Sequence[CriterionPair]
) -> RenderableType:
    made = table("", *names, right=tuple(names))
    made.add_row("score", *(score_in_words(side.score) if side and side.score is not None else "–" for side in sides))
    made.add_row("rollouts that meet all", *map(_success, sides))
    for one in criteria:
        cells = (
            f"{number(value, one.unit)}, met by {share_in_words(share)}"
            if value is not None and share is not None
            else "–"
            for value, share in zip(one.values, one.met_shares, strict=True)
        )
        made.add_row(one.title, *cells)
    return made


def _success(side: IterationOutcome | None) -> str:
    if side is None or side.success_rate is None:
        return "–"
    if side.success_low is None or side.success_high is None:
        return share_in_words(side.success_rate)
    return f"{share_in_words(side.success_rate)} [{interval_in_words(side.success_low, side.success_high, ', ')}]"
