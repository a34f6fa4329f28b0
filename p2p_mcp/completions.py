"""What a client offers while somebody types an id."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from anyio import to_thread
from mcp.server import MCPServer
from mcp.types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from p2p.contracts.errors import P2PError
from p2p.service import Service

MOST = 100
"""Values of one answer; the protocol allows no more."""
Given = Mapping[str, str]
"""Arguments that are decided already."""


def add_completions(server: MCPServer[Any], service: Service) -> None:
    """Complete ids of sessions, environments and jobs, numbers of iterations, and names of files."""
    known: dict[str, Callable[[Given], Iterable[str]]] = {
        "session_id": lambda _: [view.session.session_id for view in service.list_sessions()],
        "job_id": lambda _: [job.job_id for job in service.list_jobs()],
        "env_id": lambda _: _environments(service),
        "environment": lambda _: _environments(service),
        "iteration": lambda given: _iterations(service, given),
        "name": lambda given: _files(service, given),
    }

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]  # as the SDK left it
    async def complete(
        _ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        if argument.name not in known:
            return None
        given = (context.arguments if context is not None else None) or {}
        values: list[str] = []
        with suppress(P2PError, ValueError):  # nothing to offer for what does not exist
            values = await to_thread.run_sync(lambda: list(known[argument.name](given)))
        fitting = [value for value in values if value.lower().startswith(argument.value.lower())]
        return Completion(values=fitting[:MOST], total=len(fitting), has_more=len(fitting) > MOST)


def _environments(service: Service) -> list[str]:
    return [spec.env_id for spec in service.list_environments()]


def _iterations(service: Service, given: Given) -> list[str]:
    if "session_id" not in given:
        return []
    return [str(number + 1) for number in range(service.view_session(given["session_id"]).iteration)]


def _files(service: Service, given: Given) -> list[str]:
    if not {"session_id", "iteration"} <= given.keys():
        return []
    session_id, number = given["session_id"], int(given["iteration"])
    return [*service.media(session_id, number, "frames"), *service.media(session_id, number, "videos")]
