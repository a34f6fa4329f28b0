"""Calls tools and looks at what every result must have."""

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.client import Client
from mcp.types import CallToolResult, TextContent

STILL_AT_WORK = "Call it again with the same arguments"
"""What a tool says on a machine with too much to do."""
Connect = Callable[..., AbstractAsyncContextManager[Client]]


class Caller:
    """Calls tools and looks at what every result must have."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """The structure of a result that is no error."""
        content: dict[str, Any] = (await self.result(name, **arguments)).structured_content or {}
        return content

    async def result(self, name: str, /, **arguments: Any) -> CallToolResult:
        result = await self.client.call_tool(name, arguments)
        while result.is_error and STILL_AT_WORK in str(result.content):
            result = await self.client.call_tool(name, arguments)
        assert not result.is_error, result.content
        first = result.content[0]
        assert isinstance(first, TextContent)
        assert json.loads(first.text) == result.structured_content
        assert result.structured_content
        assert result.structured_content["next_step"]
        assert len(result.model_dump_json()) <= 1_048_576
        return result

    async def error(self, name: str, /, **arguments: Any) -> str:
        """The words of a result that is an error."""
        result = await self.client.call_tool(name, arguments)
        assert result.is_error, result.structured_content
        assert isinstance(result.content[0], TextContent)
        words = result.content[0].text
        assert len(words) > len(f"Error executing tool {name}: "), "an error without words is a bug"
        return words
