"""What a client offers while somebody types an id."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from p2p.contracts.errors import P2PError
from p2p.service.pictures.artefacts import media
from p2p.service.progress.job_views import list_jobs
from p2p.service.progress.listing import list_sessions
from p2p.service.progress.session_view import view_session
from p2p.service.training.environments import list_environments
from p2p.service.workspace import Workspace

Given = Mapping[str, str]
"""Arguments that are decided already."""


class Completions:
    """Completes ids of sessions, environments and jobs, numbers of iterations, and names of files.

    Args:
        ws: Where they are looked up.
    """

    def __init__(self, ws: Workspace) -> None:
        self._known: dict[str, Callable[[Given], Iterable[str]]] = {
            "session_id": lambda _: [view.session.session_id for view in list_sessions(ws)],
            "job_id": lambda _: [job.job_id for job in list_jobs(ws)],
            "env_id": lambda _: _environments(),
            "environment": lambda _: _environments(),
            "iteration": lambda given: _iterations(ws, given),
            "name": lambda given: _files(ws, given),
        }

    def __call__(self, argument: str, typed: str, given: Given) -> list[str]:
        """The values of an argument that begin with what is typed; none where there is nothing to choose from."""
        values: list[str] = []
        with suppress(P2PError, ValueError):  # nothing to offer for what does not exist
            values = list(self._known[argument](given)) if argument in self._known else []
        return [value for value in values if value.lower().startswith(typed.lower())]


def _environments() -> list[str]:
    return [spec.env_id for spec in list_environments()]


def _iterations(ws: Workspace, given: Given) -> list[str]:
    if "session_id" not in given:
        return []
    return [str(number + 1) for number in range(view_session(ws, given["session_id"]).iteration)]


def _files(ws: Workspace, given: Given) -> list[str]:
    if not {"session_id", "iteration"} <= given.keys():
        return []
    session_id = given["session_id"]
    number = int(given["iteration"])
    return [*media(ws, session_id, number, "frames"), *media(ws, session_id, number, "videos")]
