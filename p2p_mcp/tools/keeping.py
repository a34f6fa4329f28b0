"""Sessions named, sorted, thrown away, and allowed to go on."""

from typing import Annotated, Literal

from pydantic import Field

from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import MetadataChange, SessionView
from p2p.service import Service
from p2p_mcp.fields import SessionId
from p2p_mcp.toolbox import REPEATABLE, Toolbox
from p2p_mcp.views.sessions import ManagedSession, SessionState, managed, state

TOOLSET = "sessions"


Action = Annotated[
    Literal["delete", "restore", "rename", "star", "unstar", "tag", "untag"],
    Field(description="delete: into the trash, where no list shows it; rename: give it the alias in `value`."),
]
Value = Annotated[
    str, Field(max_length=64, description="For rename the alias, good wherever an id is; for tag and untag the tag.")
]
Iterations = Annotated[int, Field(ge=1, le=100, description="How many rewards may be tried, with those so far.")]


def add(toolbox: Toolbox) -> None:
    """Offer them."""
    service = toolbox.service

    def manage_session(session_id: SessionId, action: Action, value: Value = "") -> ManagedSession:
        """Delete a session into the trash, restore it, or give it an alias, a star or tags. Nothing is lost by it.

        What runs or waits is not deleted: cancel_job first. Only a person empties the trash.
        """
        return managed(_done(service, session_id, action, value))

    def extend_session(session_id: SessionId, iterations: Iterations) -> SessionState:
        """Allow a session that has used up its iterations more of them; then revise_reward or run_session goes on."""
        return state(service, service.extend_session(session_id, iterations))

    toolbox.add(manage_session, "Manage session", TOOLSET, REPEATABLE)
    toolbox.add(extend_session, "Extend session", TOOLSET, REPEATABLE)


def _done(service: Service, session_id: str, action: str, value: str) -> SessionView:
    if action == "delete":
        return service.delete_session(session_id)
    if action == "restore":
        return service.restore_session(session_id)
    if action in ("tag", "untag") and not value.strip():
        raise InvalidInput(f'Name the tag, for example: manage_session(action="{action}", value="paper").')
    changes = {
        "rename": MetadataChange(alias=value),
        "star": MetadataChange(starred=True),
        "unstar": MetadataChange(starred=False),
        "tag": MetadataChange(add_tags=(value,)),
        "untag": MetadataChange(remove_tags=(value,)),
    }
    return service.edit_session(session_id, changes[action])
