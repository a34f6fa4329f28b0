"""Start a configured server as a client does, ask its version and tools, and end it."""

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO, cast

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from p2p.contracts.base import Contract

TIMEOUT_S = 30.0
"""What Claude Code waits for a server to start; others wait as long or a little less."""


class ProbeResult(Contract):
    """Result of starting a server."""

    version: str = ""
    tools: int = 0
    seconds: float = 0.0
    """From its start to the answer to `initialize` [s]."""
    problem: str = ""
    """Why there was no answer; empty when there was one."""


def ask(command: str, args: list[str], env: Mapping[str, str], timeout_s: float = TIMEOUT_S) -> ProbeResult:
    """Start a server with the few variables that clients pass on, and say hello.

    Args:
        command: As it is configured.
        args: Its arguments.
        env: Variables of the configuration.
        timeout_s: How long it may take to answer [s].
    """
    parameters = StdioServerParameters(command=command, args=args, env=dict(env), cwd=Path.home())
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
        complaints = cast(TextIO, file)
        answer = anyio.run(_converse, parameters, complaints, timeout_s)
        if not answer.problem:
            return answer
        complaints.seek(0)
        said = [line for line in complaints.read().splitlines() if line.strip()][-1:]
    return answer.model_copy(update={"problem": ". ".join([answer.problem, *(f"It said: {line}" for line in said)])})


async def _converse(parameters: StdioServerParameters, complaints: TextIO, timeout_s: float) -> ProbeResult:
    started = time.monotonic()
    try:
        with anyio.fail_after(timeout_s):
            async with Client(
                stdio_client(parameters, errlog=complaints), mode="legacy"
            ) as client:  # as most clients do
                seconds = time.monotonic() - started
                tools = (await client.list_tools()).tools
                version = client.server_info.version if client.server_info else ""
                return ProbeResult(version=version, tools=len(tools), seconds=round(seconds, 2))
    except TimeoutError:
        return ProbeResult(problem=f"it did not answer within {timeout_s:g} s")
    except OSError as error:
        return ProbeResult(problem=f"it does not start: {error.strerror or error}")
    except Exception as error:  # a server that is no server may fail the client in any way
        cause: BaseException = error
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        return ProbeResult(problem=f"it did not answer: {str(cause) or type(cause).__name__}")
