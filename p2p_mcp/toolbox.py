"""How a tool is put on the server: with all four annotations, its toolset, and its failures in words."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from anyio import to_thread
from mcp.server import MCPServer
from mcp.types import Result, ToolAnnotations
from pydantic import BaseModel

from p2p.contracts.base import Contract
from p2p.service.sessions.keeping import session_called
from p2p.service.workspace import Workspace
from p2p_mcp.errors import telling
from p2p_mcp.filters import ServerOptions
from p2p_mcp.patience import Patience
from p2p_mcp.views.content import reply


class Nature(Contract):
    """What calling a tool may do; the annotations of the protocol."""

    read_only: bool = False
    destructive: bool = False
    """It may end or overwrite something."""
    idempotent: bool = False
    """Called again with the same arguments, it changes nothing more."""
    open_world: bool = False
    """It may reach a model provider or another machine."""


READS = Nature(read_only=True, idempotent=True)
WRITES = Nature()
REPEATABLE = Nature(idempotent=True)
ENDS = Nature(destructive=True, idempotent=True)


def by_id(function: Callable[..., Any], ws: Workspace) -> Callable[..., Any]:
    """The same function, which may be given a session's alias where it takes its id."""
    if "session_id" not in inspect.signature(function).parameters:
        return function

    def canonical(arguments: dict[str, Any]) -> dict[str, Any]:
        given = arguments.get("session_id")
        return arguments if given is None else {**arguments, "session_id": session_called(ws, given)}

    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def call_later(*args: Any, **kwargs: Any) -> Any:
            return await function(*args, **await to_thread.run_sync(canonical, kwargs))

        return call_later

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **canonical(kwargs))

    return call


def replying(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose result is compact text and structure; see `reply`."""

    def compact(answer: Any) -> Any:
        return reply(answer) if isinstance(answer, BaseModel) and not isinstance(answer, Result) else answer

    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def call_later(*args: Any, **kwargs: Any) -> Any:
            return compact(await function(*args, **kwargs))

        return call_later

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return compact(function(*args, **kwargs))

    return call


class Toolbox:
    """Takes the tools that the options allow.

    Args:
        server: Where they are offered.
        ws: What they are a door to.
        options: Which are wanted.
    """

    def __init__(self, server: MCPServer[Any], ws: Workspace, options: ServerOptions) -> None:
        self.server, self.ws, self._options = server, ws, options
        self._patience = Patience()
        self.offered: list[str] = []
        self.refused: list[str] = []

    def add(
        self,
        function: Callable[..., Any],
        title: str,
        toolset: str,
        nature: Nature,
        *,
        heavy: bool = False,
        **more: Any,
    ) -> None:
        """Offer `function` under its own name, unless the options leave it out; its docstring is the description.

        One that is no coroutine may block: it runs in a thread, and its caller hears of it within 40 s. A heavy one
        keeps a processor busy, or starts a process that does: over HTTP few of them run at a time.
        """
        name = function.__name__
        if not self._options.admit(name, toolset, read_only=nature.read_only):
            self.refused.append(name)
            return
        self.offered.append(name)
        told = telling(replying(by_id(function, self.ws)))
        self.server.add_tool(
            told if inspect.iscoroutinefunction(told) else self._patience.within_limit(told, heavy=heavy),
            title=title,
            description=inspect.getdoc(function),  # without its indentation, which models would read 30 times
            annotations=ToolAnnotations(
                title=title,
                read_only_hint=nature.read_only,
                destructive_hint=nature.destructive,
                idempotent_hint=nature.idempotent,
                open_world_hint=nature.open_world,
            ),
            **more,
        )
