"""The jobs of the service, told as tasks."""

from collections.abc import Callable
from typing import Any

from mcp.types import CallToolResult

from p2p.contracts.background import JobView
from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobState
from p2p.service.progress.job_views import get_job
from p2p.service.sessions.background import cancel_job
from p2p.service.workspace import Workspace
from p2p_mcp.live.tasks import Task, TaskStatus
from p2p_mcp.views.jobs import progress_in_words

FAILED = (JobState.FAILED, JobState.LOST)


class JobTasks:
    """Jobs, followed by their ids; a job has the same id as its task."""

    def __init__(self, ws: Workspace, tell: Callable[[JobView], CallToolResult]) -> None:
        """Follow the jobs of `ws`; `tell` makes a tool's result of one."""
        self._ws = ws
        self._tell = tell

    def look(self, task_id: str) -> Task | None:
        """How a job stands, as a task; None where there is no such job."""
        try:
            job = get_job(self._ws, task_id)
        except InvalidInput:
            return None
        status = TaskStatus.COMPLETED if job.state.finished else TaskStatus.WORKING
        if job.state is JobState.CANCELLED:
            status = TaskStatus.CANCELLED
        result = None
        if status is TaskStatus.COMPLETED:
            told = self._tell(job).model_copy(update={"is_error": job.state in FAILED})
            result = told.model_dump(mode="json", by_alias=True, exclude_none=True)
        why = "; its result says why" if job.error and job.waiting is None else ""
        return Task(
            task_id=job.job_id,
            status=status,
            status_message=f"{progress_in_words(job)}{why}",
            created_at=job.created_at,
            result=result,
        )

    def cancel(self, task_id: str) -> None:
        """Stop a job."""
        cancel_job(self._ws, task_id)

    def answer(self, task_id: str, responses: dict[str, Any]) -> None:
        """Nothing: a job asks no questions."""
