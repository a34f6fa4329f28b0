"""Texts that a person picks in a client to begin with."""

from importlib.resources import files
from string import Template
from typing import Annotated, Any

from mcp.server import MCPServer
from pydantic import Field

from p2p_mcp.fields import SESSION_ID


def add_prompts(server: MCPServer[Any]) -> None:
    """Offer them."""

    @server.prompt(title="Train a behaviour")
    def train_behaviour(
        behaviour: Annotated[str, Field(min_length=3, max_length=2000, description='For example: "run forward".')],
        environment: Annotated[str, Field(max_length=100, description="Gymnasium id of a robot.")] = "HalfCheetah-v5",
    ) -> str:
        """Pursue one sentence through the whole loop until it passes."""
        return _text("train_behaviour", behaviour=behaviour, environment=environment)

    @server.prompt(title="Debug a reward")
    def debug_reward(
        session_id: Annotated[str, Field(pattern=SESSION_ID, description="Whose reward does not lead anywhere.")],
    ) -> str:
        """Find out why a policy does something else than what was meant, and correct its reward."""
        return _text("debug_reward", session_id=session_id)

    @server.prompt(title="Explain a result")
    def explain_result(
        session_id: Annotated[str, Field(pattern=SESSION_ID, description="Which session.")],
    ) -> str:
        """Have a session told in plain words: what was tried, what came of it, how sure one can be."""
        return _text("explain_result", session_id=session_id)


def _text(name: str, **values: str) -> str:
    text = files("p2p_mcp.texts").joinpath(f"{name}.md").read_text(encoding="utf-8")
    return Template(text).safe_substitute(values).strip()
