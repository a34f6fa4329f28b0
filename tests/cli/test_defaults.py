"""What a session is when nothing is said, whichever door it is begun at."""

from pathlib import Path

import anyio
import pytest
from mcp.client import Client
from typer.main import get_command

from p2p.cli.app import app
from p2p.contracts.session import NewSession
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p_mcp.server import build_server

SPELT = {
    "iterations": "max_iterations",
    "rollouts": "n_report_rollouts",
    "seeds": "n_seeds",
    "configs": "n_configs",
    "environment": "env_id",
}
"""Names of doors -> fields of a session."""
OF_ITS_OWN = {("create_session", "max_iterations"): 5, ("create_session", "author"): ""}
"""A model in a chat that writes rewards itself may try some more, and is the author unless it says otherwise."""


def said_by(door: str, runs_dir: Path) -> dict[str, object]:
    """What a door takes for the fields that are not said, by the names of the fields; None is "as usual"."""
    if door == "create_session":
        given = {
            name: schema["default"] for name, schema in anyio.run(_offered, runs_dir).items() if "default" in schema
        }
    else:
        command = get_command(app).commands[door].load()
        given = {option.name: option.default for option in command.params if not option.required}
    named = {SPELT.get(name, name): value for name, value in given.items()}
    return {name: value for name, value in named.items() if name in NewSession.model_fields and value is not None}


async def _offered(runs_dir: Path) -> dict[str, dict[str, object]]:
    async with Client(build_server(Workspace(Settings(runs_dir=runs_dir)))) as client:
        (tool,) = (tool for tool in (await client.list_tools()).tools if tool.name == "create_session")
    offered: dict[str, dict[str, object]] = tool.input_schema["properties"]
    return offered


@pytest.mark.parametrize("door", ["run", "train", "create_session"])
def test_every_door_has_the_defaults_of_a_session(door: str, tmp_path: Path) -> None:
    usual, said = NewSession(), said_by(door, tmp_path)
    assert {"seed", "n_seeds", "pass_threshold", "stop_when_clear"} <= set(said)
    assert said == {name: OF_ITS_OWN.get((door, name), getattr(usual, name)) for name in said}


def test_a_session_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ValueError, match="Extra inputs"):
        NewSession.model_validate({"max_iteration": 3})
