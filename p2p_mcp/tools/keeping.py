"""Sessions named, sorted, thrown away, and allowed to go on."""

from typing import Annotated, Literal

from pydantic import Field

from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import ExtendSession, MetadataChange
from p2p.service.progress.session_view import view_session
from p2p.service.rewards.writing import write_reward
from p2p.service.sessions import driving
from p2p.service.sessions.extending import continue_session
from p2p.service.sessions.keeping import delete_session, edit_session, restore_session
from p2p.service.workspace import Workspace
from p2p_mcp.fields import OtherCriteria, SessionId, Wish, argument
from p2p_mcp.views.sessions import ManagedSession, SessionState, managed, state

Action = Annotated[
    Literal["delete", "restore", "rename", "star", "unstar", "tag", "untag"],
    Field(description="delete: into the trash, where no list shows it; rename: give it the alias in `value`."),
]
Value = Annotated[
    str, Field(max_length=64, description="For rename the alias, usable in place of the id; for tag and untag the tag.")
]
Iterations = Annotated[
    int | None, argument(ExtendSession, "max_iterations", "How many rewards may be tried; alone, with those so far.")
]
NewAuthor = Annotated[str, Field(max_length=200, description="provider:model that writes from now on in run_session.")]


def manage_session(ws: Workspace, session_id: SessionId, action: Action, value: Value = "") -> ManagedSession:
    """Delete a session into the trash, restore it, or give it an alias, a star or tags. Nothing is lost by it.

    What runs or waits is not deleted: cancel_job first. Only a person empties the trash.
    """
    if action == "delete":
        return managed(delete_session(ws, session_id))
    if action == "restore":
        return managed(restore_session(ws, session_id))
    if action in ("tag", "untag") and not value.strip():
        raise InvalidInput(f'Name the tag, for example: manage_session(action="{action}", value="paper").')
    changes = {
        "rename": MetadataChange(alias=value),
        "star": MetadataChange(starred=True),
        "unstar": MetadataChange(starred=False),
        "tag": MetadataChange(add_tags=(value,)),
        "untag": MetadataChange(remove_tags=(value,)),
    }
    return managed(edit_session(ws, session_id, changes[action]))


def extend_session(
    ws: Workspace,
    session_id: SessionId,
    iterations: Iterations = None,
    wish: Wish = "",
    criteria: OtherCriteria = None,
    author: NewAuthor = "",
) -> SessionState:
    """Go on with an ended session: by iterations alone it is allowed more of them, and revise_reward goes on.

    With a wish, or stricter or further criteria, a linked new session begins with its best reward: train_iteration,
    or run_session. Its criteria are never looser.
    """
    if not wish.strip() and not criteria and not author and iterations is not None:
        return state(ws, driving.extend_session(ws, session_id, iterations))
    request = ExtendSession(wish=wish, criteria=criteria or (), max_iterations=iterations, author=author)
    name = continue_session(ws, session_id, request, driven=False).session_id
    write_reward(ws, name, 1)
    return state(ws, view_session(ws, name))
