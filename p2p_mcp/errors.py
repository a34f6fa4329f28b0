"""What went wrong, told to a model: what happened, what exists, and which tool to call next."""

import inspect
import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from p2p.contracts.errors import P2PError

_REMEDIES = (
    (r"p2p resume --all", "run_session, for each of them"),
    (r"p2p extend (\S+) --criteria FILE", r'extend_session(session_id="\1", criteria=[...])'),
    (r"p2p extend (\S+) --wish TEXT --model PROVIDER:MODEL", r'extend_session(session_id="\1", wish="...")'),
    (r"p2p extend (\S+) --wish TEXT", r'extend_session(session_id="\1", wish="...")'),
    (r"\(--criteria FILE, or --threshold KEY=VALUE\), or a wish \(--wish TEXT\)", "(criteria), or a wish (wish)"),
    (r", or --wish TEXT(?: --model PROVIDER:MODEL)?", ", or wish"),
    (r"p2p resume (\S+) --iterations N", r'extend_session(session_id="\1", iterations=N)'),
    (r"p2p judge (\S+) --iteration (\d+)", r'judge_videos(session_id="\1", iteration=\2)'),
    (r"p2p resume (\S+)", r'run_session(session_id="\1")'),
    (r"p2p watch (\S+)", r'get_session(session_id="\1")'),
    (r"p2p show (\S+)", r'get_session(session_id="\1")'),
    (r"p2p jobs (job_\w+) --cancel", r'cancel_job(job_id="\1")'),
    (r"p2p stop(?: (\S+))?", "cancel_job"),
    (r"write one first\b", "write one first (write_reward)"),
    (r"p2p trash --restore (\S+)", r'manage_session(session_id="\1", action="restore")'),
    (r"p2p delete (\S+)", r'manage_session(session_id="\1", action="delete")'),
    (r"\(--judge-model provider:model, or set P2P_MODEL\)", "(judge_model, or P2P_MODEL)"),
    (r"look yourself: p2p view (\S+)", "look yourself: mode='calling_agent'"),
    (r"p2p list", "list_sessions"),
    (r"p2p envs", "list_environments"),
    (r"p2p doctor", "check_setup"),
    (r"p2p run '[^']*'", "create_session"),
)
"""Command of a terminal -> tool that does the same."""


def telling(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function with its expected failures told in words; a bug stays what it is.

    Any exception but `ToolError` would reach the model as nothing but the name of the tool.
    """
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def tell_later(*args: Any, **kwargs: Any) -> Any:
            try:
                return await function(*args, **kwargs)
            except P2PError as error:
                raise ToolError(in_tools(str(error))) from error

        return tell_later

    @wraps(function)
    def tell(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except P2PError as error:
            raise ToolError(in_tools(str(error))) from error

    return tell


def in_tools(message: str) -> str:
    """A message whose remedies are tools instead of commands."""
    for command, tool in _REMEDIES:
        message = re.sub(command, tool, message)
    return message
