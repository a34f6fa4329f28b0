"""Jobs as tools show them, and the bounded wait for one."""

from collections.abc import Callable
from typing import Any, Protocol

import anyio
from anyio import to_thread
from mcp.server.mcpserver import Context

from p2p.contracts.background import JobView
from p2p.contracts.base import Contract
from p2p_mcp.errors import in_tools
from p2p_mcp.next_steps import after_job

POLL_S = 0.5
"""Between two looks at a job [s]."""
POLL_AFTER_S = 15.0
"""How long a caller is told to wait before it looks again [s]."""


class RunLine(Contract):
    """One run of a job."""

    run_id: str
    state: str
    step: int
    total_timesteps: int
    episode_return: float | None
    success_rate: float | None
    """On the selection rollouts of its last evaluation; None before one."""
    error: str | None


class JobAnswer(Contract):
    """How a job stands."""

    job_id: str
    kind: str
    session_id: str
    iteration: int | None
    state: str
    """"queued", "running", "completed", "failed", "cancelled" or "lost"."""
    queue_position: int | None
    step: int
    """Environment steps made, over all runs."""
    total: int
    eta_s: float | None
    """Until the runs are trained [s]; some seconds of rollouts and pictures follow."""
    poll_after_s: float | None
    """When to look again; null when it has ended."""
    runs: tuple[RunLine, ...]
    error: str | None
    uri: str
    next_step: str


class Jobs(Protocol):
    """What knows the jobs."""

    @property
    def get_job(self) -> Callable[[str], JobView]:
        """How a job stands."""
        ...


def answer(job: JobView) -> JobAnswer:
    """A job as tools show it."""
    return JobAnswer(
        job_id=job.job_id,
        kind=str(job.kind),
        session_id=job.session_id,
        iteration=job.iteration,
        state=str(job.state),
        queue_position=job.queue_position,
        step=job.step,
        total=job.total,
        eta_s=round(job.eta_s, 1) if job.eta_s is not None else None,
        poll_after_s=None if job.state.finished else min(POLL_AFTER_S, job.eta_s or POLL_AFTER_S),
        runs=tuple(
            RunLine(
                run_id=run.run_id,
                state=run.state,
                step=run.step,
                total_timesteps=run.total_timesteps,
                episode_return=run.episode_return,
                success_rate=run.success_rate,
                error=run.error[-300:] if run.error else None,
            )
            for run in job.runs
        ),
        error=in_tools(job.error[-1000:]) if job.error else None,
        uri=f"p2p://jobs/{job.job_id}",
        next_step=after_job(job),
    )


async def follow(service: Jobs, job: JobView, seconds: float, ctx: Context[Any, Any]) -> JobView:
    """The job when it has ended, or when the time is up; progress is reported meanwhile."""
    with anyio.move_on_after(seconds):
        while not job.state.finished:
            await ctx.report_progress(job.step, max(job.total, 1), _message(job))
            await anyio.sleep(POLL_S)
            job = await to_thread.run_sync(service.get_job, job.job_id)
    return job


def _message(job: JobView) -> str:
    if job.queue_position is not None:
        return f"queued, {job.queue_position} in line"
    eta = f", about {job.eta_s:.0f} s left" if job.eta_s is not None else ""
    return f"{job.state}: {job.step:,} of {job.total:,} steps{eta}"
