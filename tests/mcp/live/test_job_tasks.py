from collections.abc import Callable
from pathlib import Path

import pytest
from mcp.types import CallToolResult, TextContent
from replacing import replace_function

from p2p.contracts.background import JobKind, JobView
from p2p.contracts.job import JobState
from p2p.service.progress.job_views import get_job
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p_mcp.live.job_tasks import JobTasks
from p2p_mcp.live.tasks import TaskStatus

WAITS = {
    "waits_for": "turn",
    "holders": [{"runs_dir": "/runs", "session_id": "s0", "job": f"job_{0:032x}"}],
    "since": "2026-01-01T03:52:00Z",
    "estimate_s": 300.0,
}
JOB_ID = f"job_{1:032x}"


MakeTasks = Callable[..., JobTasks]


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeTasks:
    """Tasks of a workspace with one job, in a state of the test's choosing."""

    def make(**fields: object) -> JobTasks:
        job = {
            "job_id": JOB_ID,
            "kind": JobKind.TRAINING,
            "session_id": "s1",
            "iteration": 1,
            "state": JobState.RUNNING,
            "queue_position": None,
            "step": 1500,
            "total": 20_000,
            "eta_s": 12.4,
            "runs": (),
            "error": None,
            "created_at": "2026-01-01T00:00:00Z",
        }
        view = JobView.model_validate(job | fields)
        replace_function(monkeypatch, get_job, lambda ws, job_id: view if job_id == JOB_ID else get_job(ws, job_id))
        return JobTasks(Workspace(Settings(runs_dir=tmp_path)), _tell)

    return make


def _tell(job: JobView) -> CallToolResult:
    text = TextContent(type="text", text=job.model_dump_json())
    return CallToolResult(content=[text], structured_content=job.model_dump(mode="json"))


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({}, TaskStatus.WORKING, "running: 1,500 of 20,000 steps, about 12 s left"),
        (
            {"state": JobState.WAITING, "waiting": {**WAITS, "place": 2}},
            TaskStatus.WORKING,
            "waits for its turn held by s0 in /runs, 2 in line, since 03:52 UTC, about 5 min more",
        ),
        ({"state": JobState.UNREACHABLE}, TaskStatus.WORKING, "unreachable"),
        ({"state": JobState.COMPLETED, "eta_s": None}, TaskStatus.COMPLETED, "completed: 1,500 of 20,000 steps"),
        ({"state": JobState.FAILED, "error": "out of memory"}, TaskStatus.COMPLETED, "12 s left; its result says why"),
        ({"state": JobState.LOST, "error": "killed"}, TaskStatus.COMPLETED, "lost: 1,500 of 20,000 steps"),
        ({"state": JobState.CANCELLED}, TaskStatus.CANCELLED, "cancelled"),
    ],
)
def test_a_job_is_told_as_a_task(tasks: MakeTasks, fields: dict[str, object], status: TaskStatus, message: str) -> None:
    task = tasks(**fields).look(JOB_ID)
    assert task is not None
    assert task.status is status
    assert message in (task.status_message or "")
    assert (task.result is not None) is (status is TaskStatus.COMPLETED)


@pytest.mark.parametrize(("state", "is_error"), [(JobState.COMPLETED, False), (JobState.FAILED, True)])
def test_a_training_that_failed_is_an_error_of_the_tool_and_not_of_the_protocol(
    tasks: MakeTasks, state: JobState, is_error: bool
) -> None:
    task = tasks(state=state).look(JOB_ID)
    assert task is not None
    assert task.error is None
    result = CallToolResult.model_validate(task.result)
    assert result.is_error is is_error
    assert result.structured_content is not None
    assert result.structured_content["job_id"] == JOB_ID


@pytest.mark.parametrize("task_id", ["job_2", "", "../../etc/passwd", "job_" + "f" * 32, "a\x00b"])
def test_what_is_no_job_is_no_task(tasks: MakeTasks, task_id: str) -> None:
    assert tasks().look(task_id) is None
