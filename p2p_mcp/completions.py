"""What a client offers while somebody types an id."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from p2p.contracts.errors import P2PError
from p2p.service import Service

Given = Mapping[str, str]
"""Arguments that are decided already."""


class Completions:
    """Completes ids of sessions, environments and jobs, numbers of iterations, and names of files.

    Args:
        service: Where they are looked up.
    """

    def __init__(self, service: Service) -> None:
        self._known: dict[str, Callable[[Given], Iterable[str]]] = {
            "session_id": lambda _: [view.session.session_id for view in service.list_sessions()],
            "job_id": lambda _: [job.job_id for job in service.list_jobs()],
            "env_id": lambda _: _environments(service),
            "environment": lambda _: _environments(service),
            "iteration": lambda given: _iterations(service, given),
            "name": lambda given: _files(service, given),
        }

    def __call__(self, argument: str, typed: str, given: Given) -> list[str]:
        """The values of an argument that begin with what is typed; none where there is nothing to choose from."""
        values: list[str] = []
        with suppress(P2PError, ValueError):  # nothing to offer for what does not exist
            values = list(self._known[argument](given)) if argument in self._known else []
        return [value for value in values if value.lower().startswith(typed.lower())]


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
