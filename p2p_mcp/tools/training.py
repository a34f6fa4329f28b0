"""Trainings: started in the background, followed by their job."""

from typing import Annotated, Any

from anyio import to_thread
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from p2p.contracts.background import JobView, StartTraining
from p2p.contracts.training import EffectiveConfig
from p2p.service.progress.details import view_iteration
from p2p.service.sessions.background import start_loop, start_training
from p2p.service.workspace import Workspace
from p2p_mcp.fields import Backend, IdempotencyKey, PriorityChoice, SessionId, WaitSeconds, argument
from p2p_mcp.live.tasks import TASK_HANDLE
from p2p_mcp.views.content import reply
from p2p_mcp.views.jobs import JobAnswer, TrainingAnswer, answer, follow


async def train_iteration(
    ws: Workspace,
    session_id: SessionId,
    ctx: Context[Any, Any],
    seeds: Annotated[
        tuple[int, ...] | None, argument(StartTraining, "seeds", "Training seeds, each below 1000.")
    ] = None,
    configs: Annotated[
        dict[str, dict[str, Any]] | None,
        argument(
            StartTraining,
            "configs",
            "Named variants trained side by side, each with training configuration fields.",
        ),
    ] = None,
    timesteps: Annotated[
        int | None, Field(ge=1000, le=1_000_000_000, description="Steps of each run; null: what suits.")
    ] = None,
    from_policy: Annotated[
        str | None,
        argument(
            StartTraining,
            "from_policy",
            'Go on from a kept policy of the same robot: ITERATION or SESSION:ITERATION, then @STEP; "0": from zero.',
        ),
    ] = None,
    resume_optimizer: Annotated[bool, Field(description="With that policy's optimiser.")] = False,
    backend: Backend = None,
    priority: PriorityChoice = None,
    idempotency_key: IdempotencyKey = None,
    wait_seconds: WaitSeconds = 0,
) -> Annotated[CallToolResult, TrainingAnswer]:
    """Train the newest reward in the background; returns a job at once, which goes on whatever happens to you.

    Follow it with get_job to its end; then get_metrics and judge_videos.
    """
    request = StartTraining(
        seeds=seeds,
        configs=configs,
        total_timesteps=timesteps,
        from_policy=from_policy,
        resume_optimizer=resume_optimizer or None,
        backend=backend,
        priority=priority,
        idempotency_key=idempotency_key,
    )
    job = await to_thread.run_sync(start_training, ws, session_id, request)
    job = await follow(ws, job, wait_seconds, ctx)
    number = job.iteration or 1
    trained = await to_thread.run_sync(view_iteration, ws, session_id, number)
    return started(job, trained.config)


async def run_session(
    ws: Workspace,
    session_id: SessionId,
    ctx: Context[Any, Any],
    priority: PriorityChoice = None,
    idempotency_key: IdempotencyKey = None,
    wait_seconds: WaitSeconds = 0,
) -> Annotated[CallToolResult, JobAnswer]:
    """Hand the loop to the session's author: reward, training, judgment and revision until it passes or stops.

    The built-in author needs a sentence it understands. No further calls are needed; follow it with get_job.
    """
    job = await to_thread.run_sync(start_loop, ws, session_id, idempotency_key, priority)
    return started(await follow(ws, job, wait_seconds, ctx))


def started(job: JobView, config: EffectiveConfig | None = None) -> CallToolResult:
    """The handle of a job; clients that know tasks follow it as one."""
    meta = None if job.state.finished else {TASK_HANDLE: job.job_id}
    told = answer(job)
    return reply(told if config is None else TrainingAnswer(**dict(told), config=config), meta=meta)
