"""The jobs of the service, told as tasks."""

from collections.abc import Callable
from typing import Any

from mcp.types import CallToolResult

from p2p.contracts.background import JobView
from p2p.contracts.errors import InvalidInput
from p2p.contracts.job import JobState, in_words
from p2p.service.progress.job_views import get_job
from p2p.service.sessions.background import cancel_job
from p2p.service.workspace import Workspace
from p2p_mcp.live.tasks import Task, TaskStatus

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
        status = _status(job.state)
        return Task(
            task_id=job.job_id,
            status=status,
            status_message=_message(job),
            created_at=job.created_at,
            result=self._result(job) if status is TaskStatus.COMPLETED else None,
        )

    def cancel(self, task_id: str) -> None:
        """Stop a job."""
        cancel_job(self._ws, task_id)

    def answer(self, task_id: str, responses: dict[str, Any]) -> None:
        """Nothing: a job asks no questions."""

    def _result(self, job: JobView) -> dict[str, Any]:
        result = self._tell(job).model_copy(update={"is_error": job.state in FAILED})
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)


def _status(state: JobState) -> TaskStatus:
    if state is JobState.CANCELLED:
        return TaskStatus.CANCELLED
    return TaskStatus.COMPLETED if state.finished else TaskStatus.WORKING


def _message(job: JobView) -> str:
    if job.waiting is not None:
        return in_words(job.waiting)
    eta = f", about {job.eta_s:.0f} s left" if job.eta_s is not None else ""
    why = "; its result says why" if job.error else ""
    return f"{job.state}: {job.step:,} of {job.total:,} steps{eta}{why}"
