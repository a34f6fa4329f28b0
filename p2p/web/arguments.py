"""Arguments that many routes share."""

import re
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Path, Query, Request, Response

from p2p.contracts.errors import UnknownName
from p2p.service.sessions.keeping import session_called
from p2p.service.workspace import Workspace

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_SUITE_RUN = re.compile(r"[a-z0-9][a-z0-9-]{0,19}")
_ITERATION = re.compile(r"(?:iter_)?([1-9][0-9]{0,3})")


def workspace(request: Request) -> Workspace:
    """The workspace that the application was built over."""
    found = request.app.state.workspace
    assert isinstance(found, Workspace)
    return found


Ws = Annotated[Workspace, Depends(workspace)]


def session_of(ws: Ws, session_id: Annotated[str, Path(description="Id or alias of a session.")]) -> str:
    """Id of the session that an address names.

    Raises:
        UnknownName: nothing can be called so.
    """
    if not _ID.fullmatch(session_id):
        raise UnknownName("session", session_id[:80], [])
    return session_called(ws, session_id)


def number_of(iteration_id: Annotated[str, Path(description="`iter_3` or `3`.")]) -> int:
    """Number of the iteration that an address names.

    Raises:
        UnknownName: it is no number.
    """
    found = _ITERATION.fullmatch(iteration_id)
    if found is None:
        raise UnknownName("iteration", iteration_id[:80], [])
    return int(found[1])


def globally(ws: Ws, iteration_id: Annotated[str, Path(description="`<session>.iter_3`.")]) -> tuple[str, int]:
    """Session and number of an iteration that is named by itself.

    Raises:
        UnknownName: nothing can be called so.
    """
    session, _, number = iteration_id.partition(".")
    return session_of(ws, session), number_of(number)


def suite_run_of(benchmark_id: Annotated[str, Path(description="Name of a run of a suite.")]) -> str:
    """Name of the run of a suite that an address names.

    Raises:
        UnknownName: nothing can be called so.
    """
    if not _SUITE_RUN.fullmatch(benchmark_id):
        raise UnknownName("run of a suite", benchmark_id[:80], [])
    return benchmark_id


def link_next(request: Request, response: Response, cursor: str | None) -> None:
    """Name the next page of a list in its `Link` header (RFC 8288).

    Args:
        request: For the page at hand.
        response: Its answer.
        cursor: Of the next page; None after the last.
    """
    if cursor is not None:
        query = [(name, value) for name, value in request.query_params.multi_items() if name != "cursor"]
        response.headers["link"] = f'<{request.url.path}?{urlencode([*query, ("cursor", cursor)])}>; rel="next"'


def other_session_of(
    ws: Ws, other_session_id: Annotated[str, Path(description="Id of the other session, or its alias.")]
) -> str:
    """Id of the second session that an address names.

    Raises:
        UnknownName: nothing can be called so.
    """
    return session_of(ws, other_session_id)


SessionId = Annotated[str, Depends(session_of)]
OtherSessionId = Annotated[str, Depends(other_session_of)]


def existing_session(ws: Ws, session_id: SessionId) -> str:
    """Id of a session that there is: a stream that has begun can no longer say that there is none.

    Raises:
        UnknownName: there is no such session.
    """
    return ws.record(session_id).session_id


Number = Annotated[int, Depends(number_of)]
GlobalId = Annotated[tuple[str, int], Depends(globally)]
SuiteRunName = Annotated[str, Depends(suite_run_of)]
Version = Annotated[str | None, Query(alias="v", description="ETag of the file; where it is right, it never changes.")]
Checkpoint = Annotated[
    int | None,
    Query(ge=0, description="Step of a checkpoint, for a rollout made while training; else the judged one."),
]
Run = Annotated[str | None, Query(max_length=200, description="The checkpoint's run; else the best one.")]
