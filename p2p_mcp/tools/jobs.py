"""Jobs: followed, listed and cancelled."""

from typing import Annotated, Any

from anyio import to_thread
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from p2p.service.progress import job_views
from p2p.service.sessions import background
from p2p.service.workspace import Workspace
from p2p_mcp.fields import SESSION_ID, JobId, WaitSeconds
from p2p_mcp.views.answer import Answer
from p2p_mcp.views.content import reply
from p2p_mcp.views.jobs import JobAnswer, answer, follow

PAGE = 20


class JobList(Answer):
    """Jobs, newest first."""

    jobs: tuple[JobAnswer, ...]
    next_offset: int | None
    """Pass it as `offset` for the rest; null at the end."""
    next_step: str


async def get_job(
    ws: Workspace, job_id: JobId, ctx: Context[Any, Any], wait_seconds: WaitSeconds = 0
) -> Annotated[CallToolResult, JobAnswer]:
    """How a training stands: state, steps, time left, each run's return. wait_seconds=45 is the way to wait.

    When it has completed: get_metrics, then judge_videos.
    """
    job = await to_thread.run_sync(job_views.get_job, ws, job_id)
    return reply(answer(await follow(ws, job, wait_seconds, ctx)))


def list_jobs(
    ws: Workspace,
    session_id: Annotated[
        str | None, Field(pattern=SESSION_ID, description="Only those of this session; null: all.")
    ] = None,
    offset: Annotated[int, Field(ge=0, description="How many of the newest to leave out.")] = 0,
) -> JobList:
    """List trainings and loops, newest first, also those that other clients started; follow one with get_job."""
    views = job_views.list_jobs(ws, session_id)
    page = views[offset : offset + PAGE]
    more = offset + PAGE if len(views) > offset + PAGE else None
    return JobList(
        jobs=tuple(answer(view).model_copy(update={"runs": ()}) for view in page),
        next_offset=more,
        next_step="get_job(job_id=...)" if page else "train_iteration(session_id=...)",
    )


def cancel_job(ws: Workspace, job_id: JobId) -> JobAnswer:
    """End a training or a loop and all it started. Finished runs stay; started again, it goes on from there."""
    return answer(background.cancel_job(ws, job_id))
