"""`p2p tag`, `delete` and `trash`: sessions named, sorted and thrown away."""

from typing import Annotated

import typer

from p2p.cli.formats import age
from p2p.cli.listing import marks
from p2p.cli.options import AsJson, RunsDir, SessionName, examples, open_workspace
from p2p.cli.output import Output
from p2p.cli.tables import table
from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import MetadataChange
from p2p.service.progress.listing import find_session
from p2p.service.sessions.keeping import (
    delete_session,
    edit_session,
    empty_trash,
    find_deleted,
    list_trash,
    restore_session,
)

TAG_EXAMPLES = examples(
    "p2p tag latest --alias runner --star", "p2p tag runner --tag paper --tag cheetah", "p2p tag runner --untag paper"
)
DELETE_EXAMPLES = examples("p2p delete 1a2b3c4d", "p2p trash --restore 1a2b3c4d")
TRASH_EXAMPLES = examples("p2p trash", "p2p trash --restore latest", "p2p trash --delete 1a2b3c4d", "p2p trash --empty")

Alias = Annotated[str | None, typer.Option(help="Another name to use in place of the id; an empty one removes it.")]
Star = Annotated[bool | None, typer.Option("--star/--unstar", help="Add or remove the star.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="Add a tag; repeatable.")]
Untag = Annotated[list[str] | None, typer.Option("--untag", help="Remove a tag; repeatable.")]
Chosen = Annotated[str, typer.Argument(metavar="SESSION", help="Its id, alias, the start or end of its id, or latest.")]
Restore = Annotated[str | None, typer.Option(metavar="SESSION", help="Restore a session from the trash.")]
Delete = Annotated[str | None, typer.Option(metavar="SESSION", help="Delete a session in the trash for good.")]
Empty = Annotated[bool, typer.Option("--empty", help="Delete everything in the trash for good.")]


def tag(
    session: SessionName = "latest",
    alias: Alias = None,
    star: Star = None,
    tags: Tags = None,
    untag: Untag = None,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """Give a session an alias, a star or tags, or show those it has; `p2p list` shows and filters by them."""
    ws = open_workspace(runs_dir)
    change = MetadataChange(alias=alias, starred=star, add_tags=tuple(tags or ()), remove_tags=tuple(untag or ()))
    view = edit_session(ws, find_session(ws, session), change)
    Output(as_json).result(view, f"{view.session.session_id}: {marks(view.metadata) or 'no alias, star or tag'}")


def delete(session: Chosen, as_json: AsJson = False, runs_dir: RunsDir = None) -> None:
    """Move a session to the trash; its files stay until `p2p trash --empty`."""
    ws = open_workspace(runs_dir)
    view = delete_session(ws, find_session(ws, session))
    name = view.session.session_id
    Output(as_json).result(view, f"{name} is in the trash. To restore it: p2p trash --restore {name}")


def trash(
    restore: Restore = None,
    delete: Delete = None,
    empty: Empty = False,
    as_json: AsJson = False,
    runs_dir: RunsDir = None,
) -> None:
    """List the sessions in the trash, last deleted first; restore one, or delete them for good."""
    if sum(map(bool, (restore, delete, empty))) > 1:
        raise InvalidInput("Give one of --restore, --delete and --empty.")
    ws = open_workspace(runs_dir)
    output = Output(as_json)
    if restore is not None:
        view = restore_session(ws, find_deleted(ws, restore))
        output.result(view, f"{view.session.session_id} is restored. To see it: p2p show {view.session.session_id}")
    elif delete is not None or empty:
        chosen = (find_deleted(ws, delete),) if delete is not None else None
        removed = empty_trash(ws, chosen)
        output.result({"removed": list(removed)}, *(f"Removed {name}." for name in removed or ("nothing",)))
    else:
        views = list_trash(ws)
        made = table("session", "name", "sentence", "environment", "deleted", right=("session", "deleted"))
        made.columns[0].justify = "left"
        for view in views:
            session = view.session
            deleted = f"{age(view.metadata.deleted_at or session.created_at)} ago"
            made.add_row(
                session.session_id, marks(view.metadata), session.prompt or "own reward", session.env_id, deleted
            )
        found = {"sessions": [view.model_dump(mode="json") for view in views]}
        output.result(found, made if views else "The trash is empty.")
