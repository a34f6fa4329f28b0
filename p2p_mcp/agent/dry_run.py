"""What an agent would be started with; nothing is sent to anybody."""

import anyio
from mcp import Client

from p2p.contracts.agent import AgentPlan, AgentRequest, ToolSummary
from p2p.contracts.inference import ModelRequest, ToolSpec, user
from p2p.service.models.agent_model import tokens_to_read
from p2p.service.models.session_models import price_date
from p2p.service.workspace import Workspace
from p2p_mcp.agent import briefing
from p2p_mcp.agent.calling import LOOP, server_for
from p2p_mcp.agent.converter import tool_specs
from p2p_mcp.agent.prices import PROVIDER, price_for


def plan(ws: Workspace, request: AgentRequest) -> AgentPlan:
    """Model, caps, tools and the first words; needs no key."""
    price = price_for(request)
    system = briefing.system_prompt(request.limits, price)
    first = briefing.first_message(request)
    tools = anyio.run(_tools, ws, request)
    return AgentPlan(
        model=request.model,
        effort=request.effort,
        price=price,
        price_date=price_date(PROVIDER),
        limits=request.limits,
        tools=tuple(
            ToolSummary(name=tool.name, description=tool.description.strip().partition("\n")[0]) for tool in tools
        ),
        first_message=first,
        system_prompt=system,
        first_request_tokens=tokens_to_read(ModelRequest(system=system, messages=(user(first),), tools=tools)),
    )


async def _tools(ws: Workspace, request: AgentRequest) -> tuple[ToolSpec, ...]:
    allowed = request.tools or LOOP
    async with Client(server_for(ws, request)) as client:
        return tool_specs(tool for tool in (await client.list_tools()).tools if tool.name in allowed)
