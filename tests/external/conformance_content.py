"""What the conformance suite asks of tools, resources and prompts that answer at once."""

import asyncio
import base64
import json
import struct
import wave
import zlib
from io import BytesIO
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    SetLevelRequestParams,
    TextContent,
    TextResourceContents,
)
from pydantic import Field

RICH_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def red_pixel() -> bytes:
    """A PNG of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header, pixels = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0), zlib.compress(b"\x00\xff\x00\x00")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def click() -> bytes:
    """A WAV of a few samples."""
    buffer = BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8000)
        sound.writeframes(b"\x80\xff\x00\x80")
    return buffer.getvalue()


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def image() -> ImageContent:
    return ImageContent(type="image", data=base64.b64encode(red_pixel()).decode(), mime_type="image/png")


def embedded(uri: str, mime_type: str, words: str) -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=words))


def answer(*content: ContentBlock) -> CallToolResult:
    return CallToolResult(content=list(content))


def test_simple_text() -> CallToolResult:
    """One text."""
    return answer(text("This is a simple text response for testing."))


def test_image_content() -> CallToolResult:
    """One image."""
    return answer(image())


def test_audio_content() -> CallToolResult:
    """One sound."""
    return answer(AudioContent(type="audio", data=base64.b64encode(click()).decode(), mime_type="audio/wav"))


def test_embedded_resource() -> CallToolResult:
    """One resource inside the result."""
    return answer(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."))


def test_multiple_content_types() -> CallToolResult:
    """Text, image and resource together."""
    data = json.dumps({"test": "data", "value": 123})
    resource = embedded("test://mixed-content-resource", "application/json", data)
    return answer(text("Multiple content types test:"), image(), resource)


def test_error_handling() -> CallToolResult:
    """Always an error."""
    raise ToolError("This tool intentionally returns an error for testing")


async def test_tool_with_progress(ctx: Context) -> CallToolResult:
    """Three reports of progress."""
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100)
        await asyncio.sleep(0.05)
    return answer(text("done"))


async def test_tool_with_logging(ctx: Context) -> CallToolResult:
    """Three log messages."""
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(words)
        await asyncio.sleep(0.05)
    return answer(text("done"))


async def test_logging_tool(ctx: Context) -> CallToolResult:
    """A log message, for those who asked for it."""
    await ctx.info("logged")
    return answer(text("done"))


async def test_reconnection(ctx: Context) -> CallToolResult:
    """Closes the stream in the middle of the call; the result waits for who comes back."""
    await ctx.close_sse_stream()
    await asyncio.sleep(0.2)
    return answer(text("still here"))


def test_region(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> CallToolResult:
    """An argument that is repeated in a header."""
    return answer(text(region))


def json_schema_2020_12_tool() -> CallToolResult:
    """A rich input schema."""
    return answer(text("ok"))


async def test_trigger_tool_change(ctx: Context) -> CallToolResult:
    """Says that the tools have changed."""
    await ctx.notify_tools_changed()
    return answer(text("told"))


async def test_trigger_prompt_change(ctx: Context) -> CallToolResult:
    """Says that the prompts have changed."""
    await ctx.notify_prompts_changed()
    return answer(text("told"))


TOOLS = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_tool_with_progress,
    test_tool_with_logging,
    test_logging_tool,
    test_reconnection,
    test_region,
    json_schema_2020_12_tool,
    test_trigger_tool_change,
    test_trigger_prompt_change,
)


def add_content(server: MCPServer[Any]) -> None:
    """Add tools, resources and prompts that answer at once."""
    for tool in TOOLS:
        server.add_tool(tool)
    server._tool_manager.get_tool("json_schema_2020_12_tool").parameters.update(RICH_SCHEMA)  # type: ignore[union-attr]
    _add_resources(server)
    _add_prompts(server)
    server._lowlevel_server.add_request_handler("logging/setLevel", SetLevelRequestParams, _set_level)


async def _set_level(_context: object, _params: SetLevelRequestParams) -> EmptyResult:
    """Clients of the handshake era may ask for fewer messages; ours all have one level."""
    return EmptyResult()


def _add_resources(server: MCPServer[Any]) -> None:
    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        """A text that never changes."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """An image that never changes."""
        return red_pixel()

    @server.resource("test://watched-resource", mime_type="text/plain")
    def watched_resource() -> str:
        """Something to subscribe to."""
        return "watched"

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template_data(id: str) -> str:  # noqa: A002 (the suite's name)
        """Data of one id."""
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _add_prompts(server: MCPServer[Any]) -> None:
    @server.prompt()
    def test_simple_prompt() -> str:
        """One message."""
        return "This is a simple prompt for testing."

    @server.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """One message with two arguments in it."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt()
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803 (the suite's name)
        """A message that holds a resource."""
        resource = embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
        return [
            UserMessage(resource),
            UserMessage(text("Please process the embedded resource above.")),
        ]

    @server.prompt()
    def test_prompt_with_image() -> list[UserMessage]:
        """A message that holds an image."""
        return [
            UserMessage(image()),
            UserMessage(text("Please analyze the image above.")),
        ]
