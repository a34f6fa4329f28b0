"""`p2p list`: the sessions at a glance."""

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from p2p.cli.formats import age, share, short_path
from p2p.cli.options import AsJson, RunsDir, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.tables import table
from p2p.cli.verdict import standing
from p2p.contracts.intent import score_in_words
from p2p.contracts.session import Session, SessionStatus, SessionView
from p2p.service.progress import listing

LIST_EXAMPLES = examples("p2p list", "p2p list --starred --tag paper", "p2p list --json | jq '.sessions | length'")

Starred = Annotated[bool, typer.Option("--starred", help="Only those with a star.")]
WithTags = Annotated[list[str] | None, typer.Option("--tag", help="Only those with this tag; may be repeated.")]


def list_sessions(
    starred: Starred = False, tags: WithTags = None, as_json: AsJson = False, runs_dir: RunsDir = None
) -> None:
    """List the sessions, the newest first; those in the trash are shown by `p2p trash`."""
    ws = open_workspace(runs_dir)
    views = listing.list_sessions(ws, starred=starred, tags=tags or ())
    empty = f'No sessions in {short_path(ws.runs.path)} yet. To start one: p2p run "run forward"'
    if starred or tags:
        empty = "No session is marked so. To see all: p2p list"
    interrupted = sum(view.status is SessionStatus.INTERRUPTED for view in views)
    told = f"{interrupted} interrupted; to go on with them: p2p resume --all" if interrupted else ""
    Output(as_json).result(
        {"sessions": [view.model_dump(mode="json") for view in views]},
        session_table(views) if views else empty,
        *filter(None, [told]),
    )


def session_table(views: tuple[SessionView, ...]) -> Table:
    """One row per session."""
    numbers = ("iterations", "score", "success", "age")
    named = ("name",) if any(marks(view) for view in views) else ()
    made = table("session", "status", "sentence", "environment", *numbers, *named, right=("session", *numbers))
    made.columns[0].justify = "left"
    for view in views:
        judgment = view.judgment
        session = view.session
        words, style = standing(view)
        made.add_row(
            session.session_id,
            Text(words, style=style),
            _asked(session),
            session.env_id,
            f"{view.iteration}/{session.max_iterations}",
            score_in_words(judgment.intent_score if judgment else None),
            share(judgment.success_rate if judgment else None),
            age(session.created_at),
            *([Text(marks(view))] if named else []),
        )
    return made


def marks(view: SessionView) -> str:
    """A session's star, alias and tags: "★ runner #paper"."""
    kept = view.metadata
    return " ".join([*(["★"] if kept.starred else []), *filter(None, [kept.alias]), *(f"#{t}" for t in kept.tags)])


def _asked(session: Session) -> Text:
    """What a session is about, and what it goes on from."""
    text = Text(session.prompt or "own reward")
    if (origin := session.extends) is not None:
        text.append(f" (goes on from iteration {origin.iteration} of …{origin.session_id[-8:]})", style="dim")
    return text
