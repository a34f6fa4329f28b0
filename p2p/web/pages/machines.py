"""This machine and the others: cores and their owners, the queue, jobs with their logs, settings."""

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response

from p2p.contracts.node import NodeView, SetupReport
from p2p.redaction import redact_text
from p2p.service.machines.nodes import check_node
from p2p.service.machines.overview import machine
from p2p.service.machines.setup import check_setup
from p2p.service.progress.job_views import get_job, job_log, list_jobs
from p2p.service.sessions.background import cancel_job
from p2p.service.workspace import Workspace
from p2p.settings import keys_present
from p2p.web.arguments import Ws
from p2p.web.pages.actions import commands_of
from p2p.web.pages.rendering import PageRoute, back_to, command, page
from p2p.web.router import Router

router = Router(include_in_schema=False, route_class=PageRoute, default_response_class=Response)
JOBS = 100
"""Shown at most, the newest."""
LOG_BYTES = 200_000
"""Of a log that is shown at first: its end."""


@router.get("/monitor")
def monitor(ws: Ws, request: Request) -> Response:
    """Who has which core, who waits, what is free; the jobs of this runs directory."""
    return _monitor(ws, request, None)


@router.post("/monitor/nodes/{name}/check")
def check(ws: Ws, request: Request, name: str) -> Response:
    """The same, with how a node stands: whether a training could start there."""
    return _monitor(ws, request, check_node(ws, name))


def _monitor(ws: Workspace, request: Request, checked: NodeView | None) -> Response:
    jobs = list_jobs(ws)
    here = machine(ws)
    return page(
        request,
        "monitor.html",
        tab="monitor",
        command="p2p jobs",
        actions=commands_of("/monitor/nodes/{name}/check", "/monitor/jobs/{job_id}/cancel"),
        machine=here,
        nodes=[checked if checked and one.node.name == checked.node.name else one for one in here.nodes],
        runs_dir=str(ws.settings.runs_dir),
        jobs=jobs[:JOBS],
        n_jobs=len(jobs),
    )


@router.get("/monitor/jobs/{job_id}")
def job(ws: Ws, request: Request, job_id: str, offset: Annotated[int | None, Query(ge=0)] = None) -> Response:
    """A job with its log: the end of it, or from a byte on."""
    view = get_job(ws, job_id)
    text, end = job_log(ws, job_id, offset or 0)
    start = offset or 0
    if offset is None and len(text.encode()) > LOG_BYTES:
        start = end - LOG_BYTES
        text, end = job_log(ws, job_id, start)
    return page(
        request,
        "job.html",
        tab="monitor",
        command=command("p2p", "jobs", job_id),
        job=view,
        log=redact_text(text),
        start=start,
        end=end,
    )


@router.post("/monitor/jobs/{job_id}/cancel")
def cancel(ws: Ws, job_id: str) -> Response:
    """End a job and every process it started."""
    cancel_job(ws, job_id)
    return back_to(f"/monitor/jobs/{job_id}")


@router.get("/settings")
def settings(ws: Ws, request: Request) -> Response:
    """Settings, and whether each provider's key is set; no key is shown."""
    return _settings(ws, request, None)


@router.post("/settings")
def checked(ws: Ws, request: Request) -> Response:
    """The same, with what this machine has and lacks."""
    return _settings(ws, request, check_setup(ws))


def _settings(ws: Workspace, request: Request, report: SetupReport | None) -> Response:
    shown = ws.settings.model_dump(mode="json")
    return page(
        request,
        "settings.html",
        tab="settings",
        command="p2p doctor",
        settings=[(name, f"P2P_{name.upper()}", value) for name, value in shown.items()],
        keys=keys_present(),
        report=report,
    )
