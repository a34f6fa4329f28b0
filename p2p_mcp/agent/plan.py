"""What an agent would be started with; nothing is sent to anybody."""

import anyio
from mcp import Client

from p2p.contracts.agent import AgentPlan, AgentRequest, ToolSummary
from p2p.service.models.session_models import price_date
from p2p.service.workspace import Workspace
from p2p_mcp.agent import briefing
from p2p_mcp.agent.calling import LOOP, server_for
from p2p_mcp.agent.context import estimate_tokens
from p2p_mcp.agent.converter import Block, tool_params
from p2p_mcp.agent.prices import PROVIDER, price_for


def plan(ws: Workspace, request: AgentRequest) -> AgentPlan:
    """Model, caps, tools and the first words; needs no key."""
    price = price_for(request)
    system, first = briefing.system_prompt(request.limits, price), briefing.first_message(request)
    tools = anyio.run(_tools, ws, request)
    return AgentPlan(
        model=request.model,
        effort=request.effort,
        price=price,
        price_date=price_date(PROVIDER),
        limits=request.limits,
        tools=tuple(ToolSummary(name=tool["name"], description=_first_line(tool)) for tool in tools),
        first_message=first,
        system_prompt=system,
        first_request_tokens=estimate_tokens(system, tools, [{"role": "user", "content": first}]),
    )


async def _tools(ws: Workspace, request: AgentRequest) -> list[Block]:
    allowed = request.tools or LOOP
    async with Client(server_for(ws, request)) as client:
        return tool_params(tool for tool in (await client.list_tools()).tools if tool.name in allowed)


def _first_line(tool: Block) -> str:
    return str(tool["description"]).strip().partition("\n")[0]
