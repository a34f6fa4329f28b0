"""A client of the MCP server: a sentence becomes a policy in five calls. Under two minutes on two cores."""

import asyncio
import sys
from typing import Any

from mcp import Client, StdioServerParameters

runs_dir = sys.argv[1] if len(sys.argv) > 1 else "runs"
server = StdioServerParameters(command=sys.executable, args=["-m", "p2p_mcp", "--runs-dir", runs_dir])


async def main() -> dict[str, Any]:
    async with Client(server) as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result.content
            return result.structured_content or {}

        session = await call(
            "create_session",
            intent="keep the pole balanced for 2 seconds",
            environment="InvertedPendulum-v5",
            n_seeds=1,
        )
        session_id = session["session_id"]
        job = await call("run_session", session_id=session_id)
        while job["poll_after_s"] is not None:  # the job goes on whatever becomes of this client
            job = await call("get_job", job_id=job["job_id"], wait_seconds=45)
            print(job["state"], "-", job["next_step"])
        return await call("get_session", session_id=session_id)


session = asyncio.run(main())
print("score:", session["best_score"], "files:", *session["artefacts"].values(), sep="\n  ")
assert session["status"] == "passed"
