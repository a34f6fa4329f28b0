"""What the host itself reads in the result of a tool."""

from typing import Any

from mcp.types import CallToolResult
from pydantic import ValidationError

from p2p.contracts.agent import JobProgress


def running_job(result: CallToolResult, final_too: bool = False) -> JobProgress | None:
    """The job that a result is about, where it has not ended; None where it is about none.

    Args:
        result: of a tool.
        final_too: also one that has ended.
    """
    content = result.structured_content
    if result.is_error or not isinstance(content, dict):
        return None
    for candidate in (content, content.get("job")):
        job = _job(candidate)
        if job is not None and (final_too or not job.state.finished):
            return job
    return None


def session_of(tool: str, result: CallToolResult) -> str | None:
    """The id of the session that a tool has created; None for every other tool."""
    content = result.structured_content
    if tool != "create_session" or result.is_error or not isinstance(content, dict):
        return None
    inner = content.get("session")
    value = content.get("session_id") or (inner.get("session_id") if isinstance(inner, dict) else None)
    return value if isinstance(value, str) else None


def _job(value: Any) -> JobProgress | None:
    if not isinstance(value, dict) or "job_id" not in value:
        return None
    try:
        return JobProgress.model_validate({name: value[name] for name in JobProgress.model_fields if name in value})
    except ValidationError:
        return None
