"""Bounds, defaults and help texts of both doors are those of a contract's fields."""

from typing import Annotated, Any

import anyio
import pytest
import typer
from mcp.client import Client
from pydantic import Field
from typer.main import get_command
from typer.testing import CliRunner

from p2p.cli.app import app
from p2p.cli.session_options import option
from p2p.contracts.base import Contract
from p2p.contracts.session import NewSession
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p_mcp.fields import argument
from p2p_mcp.server import build_server


class Meal(Contract):
    eggs: int = Field(default=2, ge=1, lt=13, description="Boiled ones.")
    salt: float = Field(default=0.5, ge=0, le=1)
    """In grams."""


def _command(name: str, kind: Any) -> typer.Typer:
    made = typer.Typer()
    usual = getattr(Meal(), name)

    @made.command()
    def cook(taken: Annotated[kind, option(Meal, name, "--taken")] = usual) -> None:
        typer.echo(repr(taken))

    return made


@pytest.mark.parametrize(
    ("name", "kind", "good", "bad"),
    [("eggs", int, "12", "13"), ("eggs", int, "1", "0"), ("salt", float, "1", "1.1"), ("salt", float, "0", "-0.1")],
)
def test_an_option_refuses_what_its_field_refuses(name: str, kind: type, good: str, bad: str) -> None:
    command = _command(name, kind)
    assert CliRunner().invoke(command, ["--taken", good]).exit_code == 0
    assert CliRunner().invoke(command, ["--taken", bad]).exit_code == 2


def test_an_option_has_the_help_of_its_field() -> None:
    assert "Boiled ones." in CliRunner().invoke(_command("eggs", int), ["--help"]).output
    assert "In grams." in CliRunner().invoke(_command("salt", float), ["--help"]).output


def test_an_argument_of_a_tool_has_the_bounds_and_description_of_its_field() -> None:
    class Arguments(Contract):
        taken: Annotated[int, argument(Meal, "eggs")]
        pinch: Annotated[float, argument(Meal, "salt", "As much as the user likes.")]

    schema = Arguments.model_json_schema()["properties"]
    assert schema["taken"] == {
        "description": "Boiled ones.",
        "exclusiveMaximum": 13,
        "minimum": 1,
        "title": "Taken",
        "type": "integer",
    }
    assert (schema["pinch"]["description"], schema["pinch"]["maximum"]) == ("As much as the user likes.", 1)


def test_both_front_ends_begin_a_session_with_the_values_of_a_session(tmp_path: Any) -> None:
    async def offered() -> dict[str, Any]:
        async with Client(build_server(Workspace(Settings(runs_dir=tmp_path)))) as client:
            (tool,) = (tool for tool in (await client.list_tools()).tools if tool.name == "create_session")
        return {name: schema.get("default") for name, schema in tool.input_schema["properties"].items()}

    run = {option.name: option.default for option in get_command(app).commands["run"].load().params}
    usual, tool = NewSession(), anyio.run(offered)
    assert (run["seeds"], run["configs"], run["iterations"]) == (usual.n_seeds, usual.n_configs, usual.max_iterations)
    assert (tool["seed"], tool["n_seeds"], tool["pass_threshold"]) == (usual.seed, usual.n_seeds, usual.pass_threshold)
    assert (tool["priority"], tool["stop_when_clear"]) == (usual.priority, usual.stop_when_clear)


def test_a_session_refuses_what_it_does_not_know() -> None:
    with pytest.raises(ValueError, match="Extra inputs"):
        NewSession.model_validate({"max_iteration": 3})
