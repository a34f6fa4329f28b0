"""What can be read under `p2p://`: environments, sessions, iterations with all they left behind, and jobs."""

import json
from collections.abc import Callable, Iterator
from functools import wraps
from textwrap import shorten
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.types import Resource
from pydantic import BaseModel

from p2p.contracts.errors import InvalidInput, P2PError
from p2p.contracts.session import SessionView
from p2p.service.pictures.artefacts import media, metrics_table, read_media, read_reward
from p2p.service.progress import job_views
from p2p.service.progress.details import view_iteration
from p2p.service.progress.job_views import get_job, list_jobs
from p2p.service.progress.listing import list_sessions
from p2p.service.progress.session_view import view_session
from p2p.service.training.environments import list_environments, list_robots
from p2p.service.workspace import Workspace
from p2p_mcp.remedies import data_in_tools, in_tools
from p2p_mcp.views.answer import untrusted_text

JSON = "application/json"
LISTED_SESSIONS = 20
"""Newest sessions whose resources are listed; all others can be read too."""
LISTED_JOBS = 20
TITLE = 80
"""Characters of a sentence that stand for its session in a list."""
LOG_BYTES = 64_000
"""Of a log, from its end."""
SESSION = "p2p://sessions/{session_id}"
ITERATION = SESSION + "/iterations/{iteration}"


def add_resources(server: MCPServer[Any], ws: Workspace) -> None:
    """Offer everything that can be read."""
    _add_nouns(server, ws)
    _add_files(server, ws)

    @_resource(server, "p2p://jobs/{job_id}", "How a job stands", JSON)
    def job(job_id: str) -> str:
        """State, steps, time left and runs of a training or a loop."""
        return _json(get_job(ws, job_id))

    @_resource(server, "p2p://jobs/{job_id}/log", "Log of a job", "text/plain")
    def job_log(job_id: str) -> str:
        """What a job printed, the last 64 kB."""
        _, size = job_views.job_log(ws, job_id, 0)
        return in_tools(job_views.job_log(ws, job_id, max(0, size - LOG_BYTES))[0])


def list_instances(ws: Workspace) -> Iterator[Resource]:
    """Existing resources, the newest of each kind first."""
    for spec in list_environments():
        yield Resource(
            uri=f"p2p://environments/{spec.env_id}", name=spec.env_id, description=spec.description, mime_type=JSON
        )
    for view in list_sessions(ws)[:LISTED_SESSIONS]:
        yield from _of_session(ws, view)
    for job in list_jobs(ws)[:LISTED_JOBS]:
        uri = f"p2p://jobs/{job.job_id}"
        what = f"{job.kind} of {job.session_id}"
        yield Resource(uri=uri, name=job.job_id, title=what, description=str(job.state), mime_type=JSON)
        yield Resource(uri=f"{uri}/log", name=f"{job.job_id} log", title=f"Log: {what}", mime_type="text/plain")


def _add_nouns(server: MCPServer[Any], ws: Workspace) -> None:
    @_resource(server, "p2p://environments/{env_id}", "Facts of an environment", JSON)
    def environment(env_id: str) -> str:
        """Observations, actions, joints, bodies, features and info keys of an environment that is known."""
        known = {spec.env_id: spec for spec in (*list_environments(), *list_robots(ws))}
        if env_id not in known:
            raise InvalidInput(f"No environment {env_id!r} is known. Known: {', '.join(known)}.")
        return _json(known[env_id], ours=known[env_id].robot is None)

    @_resource(server, SESSION, "A session", JSON)
    def session(session_id: str) -> str:
        """What was asked for, how it stands, its criteria, iterations and best judgment."""
        return _json(view_session(ws, session_id))

    @_resource(server, ITERATION, "An iteration", JSON)
    def iteration(session_id: str, iteration: str) -> str:
        """Report of its reward, its runs, their aggregation, judgment and revision."""
        return _json(view_iteration(ws, session_id, _number(iteration)))

    @_resource(server, f"{ITERATION}/judgment", "A judgment", JSON)
    def judgment(session_id: str, iteration: str) -> str:
        """The verdict with every rollout, by code and whoever looked."""
        found = view_iteration(ws, session_id, _number(iteration)).judgment
        if found is None:
            raise InvalidInput(
                f"Iteration {iteration} of {session_id} is not judged yet. Judge it first: judge_videos."
            )
        return _json(found)


def _add_files(server: MCPServer[Any], ws: Workspace) -> None:
    @_resource(server, f"{ITERATION}/reward.py", "A reward", "text/x-python")
    def reward(session_id: str, iteration: str) -> str:
        """Source of the reward of an iteration."""
        return read_reward(ws, session_id, _number(iteration))

    @_resource(server, f"{ITERATION}/metrics.csv", "Metrics", "text/csv")
    def metrics(session_id: str, iteration: str) -> str:
        """Every update and evaluation of every run."""
        return metrics_table(ws, session_id, _number(iteration))

    @_resource(server, f"{ITERATION}/videos/{{name}}", "A video", "video/mp4")
    def video(session_id: str, iteration: str, name: str) -> bytes:
        """Video of a judged rollout."""
        return read_media(ws, session_id, _number(iteration), "videos", name)

    @_resource(server, f"{ITERATION}/frames/{{name}}", "A picture", "image/jpeg")
    def frame(session_id: str, iteration: str, name: str) -> bytes:
        """The contact sheet, one of its moments, or the learning curve."""
        return read_media(ws, session_id, _number(iteration), "frames", name)


def _resource(
    server: MCPServer[Any], uri: str, title: str, mime_type: str
) -> Callable[[Callable[..., str | bytes]], Callable[..., str | bytes]]:
    """Offers a function as a template; what it does not find is told as what does not exist."""

    def offer(function: Callable[..., str | bytes]) -> Callable[..., str | bytes]:
        @wraps(function)
        def read(*args: Any, **kwargs: Any) -> str | bytes:
            try:
                return function(*args, **kwargs)
            except InvalidInput as error:
                raise ResourceNotFoundError(in_tools(str(error))) from error
            except (P2PError, OSError) as error:
                raise ResourceNotFoundError(f"It cannot be read: {in_tools(str(error))}") from error

        description = (function.__doc__ or "").strip()
        server.resource(uri, name=function.__name__, title=title, description=description, mime_type=mime_type)(read)
        return read

    return offer


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 4):
        raise InvalidInput(f"{text[:20]!r} is not the number of an iteration: expected 1, 2, 3 …")
    return int(text)


def _of_session(ws: Workspace, view: SessionView) -> Iterator[Resource]:
    name = view.session.session_id
    asked = " ".join(view.session.prompt.split())
    about = f"“{shorten(asked, TITLE)}”" if asked else "a reward handed in"
    root = f"p2p://sessions/{name}"
    yield Resource(uri=root, name=name, title=about, description=str(view.status), mime_type=JSON)
    for number in range(1, view.iteration + 1):
        place = f"{root}/iterations/{number}"
        title = f"{about}, iteration {number}"
        kinds = [("", JSON), ("/reward.py", "text/x-python"), ("/metrics.csv", "text/csv")]
        kinds += [("/judgment", JSON)] if any(line.iteration == number for line in view.history) else []
        kinds += [(f"/videos/{file}", "video/mp4") for file in media(ws, name, number, "videos")]
        kinds += [
            (f"/frames/{file}", "image/png" if file.endswith(".png") else "image/jpeg")
            for file in media(ws, name, number, "frames")
        ]
        for path, kind in kinds:
            yield Resource(uri=f"{place}{path}", name=f"{name}/{number}{path}", title=f"{title}{path}", mime_type=kind)


def _json(value: BaseModel, *, ours: bool = False) -> str:
    """A value as text; first comes which of its texts others wrote, unless all are p2p's own."""
    data = data_in_tools(value.model_dump(mode="json"))
    if not ours and (others := untrusted_text(data)):
        data = {"untrusted_text": others, **data}
    return json.dumps(data, ensure_ascii=False, indent=1)
