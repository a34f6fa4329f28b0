"""`p2p list`: the sessions at a glance."""

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from p2p.cli.formats import age, share, short_path
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.standing import standing
from p2p.cli.tables import table
from p2p.contracts.metadata import EntityMetadata
from p2p.contracts.numbers import score_in_words
from p2p.contracts.status import SessionStatus
from p2p.service.progress.listing import SessionRow, list_rows

LIST_EXAMPLES = examples("p2p list", "p2p list --starred --tag paper", "p2p list --json | jq '.sessions | length'")

Starred = Annotated[bool, typer.Option("--starred", help="Only those with a star.")]
WithTags = Annotated[list[str] | None, typer.Option("--tag", help="Only those with this tag; repeatable.")]


def list_sessions(
    starred: Starred = False, tags: WithTags = None, as_json: AsJson = False, runs_dir: RunsDir = None
) -> None:
    """List the sessions, the newest first; those in the trash are shown by `p2p trash`."""
    ws = open_workspace(runs_dir)
    rows = list_rows(ws, starred=starred, tags=tags or ())
    empty = f'No sessions in {short_path(ws.settings.runs_dir)} yet. To start one: p2p run "run forward"'
    if starred or tags:
        empty = "No session has these marks. To see all: p2p list"
    interrupted = sum(row.status is SessionStatus.INTERRUPTED for row in rows)
    told = f"{interrupted} interrupted. To resume them: p2p resume --all" if interrupted else ""
    Output(as_json).result(
        {"sessions": [row.view for row in rows]},
        session_table(rows) if rows else empty,
        *filter(None, [told]),
    )


def session_table(rows: tuple[SessionRow, ...]) -> Table:
    """One line per session."""
    numbers = ("iterations", "score", "success", "age")
    named = ("name",) if any(marks(row.metadata) for row in rows) else ()
    made = table("session", "status", "sentence", "environment", *numbers, *named, right=("session", *numbers))
    made.columns[0].justify = "left"
    for row in rows:
        words, style = standing(row.status, row.by_caller)
        sentence = Text(row.prompt or "own reward")
        if row.extends is not None:
            origin, iteration = row.extends
            sentence.append(f" (extends iteration {iteration} of …{origin[-8:]})", style="dim")
        made.add_row(
            row.session_id,
            Text(words, style=style),
            sentence,
            row.env_id,
            f"{row.iteration}/{row.max_iterations}",
            score_in_words(row.score),
            share(row.success_rate),
            age(row.created_at),
            *([Text(marks(row.metadata))] if named else []),
        )
    return made


def marks(kept: EntityMetadata) -> str:
    """A session's star, alias and tags: "★ runner #paper"."""
    return " ".join([*(["★"] if kept.starred else []), *filter(None, [kept.alias]), *(f"#{t}" for t in kept.tags)])
