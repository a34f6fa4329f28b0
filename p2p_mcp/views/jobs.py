"""Jobs as tools show them, and the bounded wait for one."""

from typing import Any

import anyio
from anyio import to_thread
from mcp.server.mcpserver import Context

from p2p.contracts.background import JobView
from p2p.contracts.job import in_words
from p2p.contracts.remedies import end_of
from p2p.contracts.training import EffectiveConfig
from p2p.service.progress import job_views
from p2p.service.workspace import Workspace
from p2p_mcp.views.answer import Answer
from p2p_mcp.views.next_steps import after_job

POLL_S = 0.5
"""Between two looks at a job [s]."""
POLL_AFTER_S = 15.0
"""How long a caller is told to wait before it looks again [s]."""


class JobAnswer(JobView, Answer):
    """How a job stands."""

    poll_after_s: float | None
    """When to look again [s]; null when it has ended."""
    uri: str
    next_step: str


class TrainingAnswer(JobAnswer):
    """How a training that was just started stands."""

    config: EffectiveConfig
    """What its first configuration is trained with: every field, by who set it."""


def answer(job: JobView) -> JobAnswer:
    """A job as tools show it: without the curves of its runs, which get_metrics gives."""
    shown = {name: getattr(job, name) for name in JobView.model_fields}
    shown["runs"] = tuple(
        run.model_copy(update={"returns": (), "error": _end_of_error(run.error, 300)}) for run in job.runs
    )
    shown["eta_s"] = round(job.eta_s, 1) if job.eta_s is not None else None
    shown["error"] = _end_of_error(job.error, 1000)
    return JobAnswer(
        **shown,
        poll_after_s=None if job.state.finished else min(POLL_AFTER_S, job.eta_s or POLL_AFTER_S),
        uri=f"p2p://jobs/{job.job_id}",
        next_step=after_job(job),
    )


def _end_of_error(error: str | None, length: int) -> str | None:
    return end_of(error, length) if error else None


async def follow(ws: Workspace, job: JobView, seconds: float, ctx: Context[Any, Any]) -> JobView:
    """The job when it has ended, or when the time is up; progress is reported meanwhile."""
    with anyio.move_on_after(seconds):
        while not job.state.finished:
            await ctx.report_progress(job.step, max(job.total, 1), progress_in_words(job))
            await anyio.sleep(POLL_S)
            job = await to_thread.run_sync(job_views.get_job, ws, job.job_id)
    return job


def progress_in_words(job: JobView) -> str:
    """State, steps and time left of a job in one line; of one that waits, what it waits for."""
    if job.waiting is not None:
        return in_words(job.waiting)
    eta = f", about {job.eta_s:.0f} s left" if job.eta_s is not None else ""
    return f"{job.state}: {job.step:,} of {job.total:,} steps{eta}"
