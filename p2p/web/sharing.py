"""What readers see, who were given the address of `p2p web --share`: no logs, calls, paths or machines."""

import re
import socket
from collections.abc import Collection
from typing import Any

from fastapi import HTTPException, Request

from p2p.redaction import for_others
from p2p.service.workspace import Workspace
from p2p.web.gate import VISITOR
from p2p.web.visitors import OWNER, Visitor

SHARED: dict[str, Any] = {"x-shared": True}
"""Marks a route that readers may use (`openapi_extra`); every other is for the owner alone."""
HIDDEN = frozenset({"waiting", "backend", "plan", "directory", "iteration_dir", "artefacts", "film", "next", "pid"})
"""Fields that name directories, machines or processes."""


def admit(request: Request) -> None:
    """Let a reader use what is shared, and nothing else.

    Raises:
        HTTPException: 403.
    """
    visitor: Visitor = request.scope.get(VISITOR, OWNER)
    if visitor.may_change:
        return
    route = request.scope.get("route")
    shared = bool((getattr(route, "openapi_extra", None) or {}).get("x-shared"))
    given = request.path_params.get("session_id") or str(request.path_params.get("iteration_id", "")).partition(".")[0]
    asked = {given, request.path_params.get("other_session_id", given)}
    if not shared or (visitor.session_id is not None and asked != {visitor.session_id}):
        raise HTTPException(403, "This address is for readers, and this is not for them.")


class Curtain:
    """Takes from answers what readers do not see.

    Args:
        machines: Names and addresses of other machines.
    """

    def __init__(self, machines: Collection[str] = ()) -> None:
        names = "|".join(re.escape(name) for name in sorted(machines) if name)
        self._machines = re.compile(rf"(?<![\w.-])(?:{names})(?![\w-])") if names else None

    def __call__(self, data: Any) -> Any:
        """Plain data without it."""
        if isinstance(data, dict):
            return {name: self(value) for name, value in data.items() if name not in HIDDEN}
        if isinstance(data, list):
            return [self(value) for value in data]
        if not isinstance(data, str):
            return data
        return for_others(data if self._machines is None else self._machines.sub("…", data))


def curtain_of(ws: Workspace) -> Curtain:
    """What hides this machine and the others, as they are known now."""
    nodes = ws.node_store.all().values()
    return Curtain(
        {socket.gethostname(), *(node.name for node in nodes), *(node.host for node in nodes)} - {"localhost"}
    )
