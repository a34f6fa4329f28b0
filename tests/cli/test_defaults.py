"""What a session is when nothing is said, whichever door it is begun at."""

import json
from pathlib import Path

import pytest
from typer.main import get_command

from p2p.cli.app import app
from p2p.contracts.session import NewSession
from p2p.contracts.training import TrainConfig

SNAPSHOT = Path(__file__).parents[1] / "mcp" / "snapshots" / "create_session.json"
"""What the server offers; another test holds it against the code."""
SPELT = {
    "iterations": "max_iterations",
    "rollouts": "n_report_rollouts",
    "seeds": "n_seeds",
    "configs": "n_configs",
    "environment": "env_id",
}
"""Names of doors -> fields of a session."""
OF_ITS_OWN = {("create_session", "max_iterations"): 5}
"""A model in a chat that writes rewards itself may try some more."""


def doors() -> dict[str, dict[str, object]]:
    """Door -> what it takes for fields that are not said."""
    tool = json.loads(SNAPSHOT.read_text())["inputSchema"]["properties"]
    found: dict[str, dict[str, object]] = {
        "create_session": {name: schema["default"] for name, schema in tool.items() if "default" in schema}
    }
    for name in ("run", "train"):
        command = get_command(app).commands[name]
        found[name] = {option.name: option.default for option in command.params if not option.required}
    return found


@pytest.mark.parametrize("door", ["run", "train", "create_session"])
def test_every_door_has_the_defaults_of_a_session(door: str) -> None:
    usual = NewSession()
    said = {SPELT.get(name, name): value for name, value in doors()[door].items()}
    shared = {name: value for name, value in said.items() if name in NewSession.model_fields and value is not None}
    assert {"seed", "n_seeds", "pass_threshold"} <= set(shared)
    wanted = {name: OF_ITS_OWN.get((door, name), getattr(usual, name)) for name in shared}
    assert {name: value or wanted[name] for name, value in shared.items()} == wanted


def test_a_session_keeps_itself_through_json_and_refuses_what_it_does_not_know() -> None:
    session = NewSession(prompt="hop", configs={"a": {"net_arch": [64]}}, config={"learner": "sb3"}, n_configs=2)
    assert NewSession.model_validate_json(session.model_dump_json()) == session
    with pytest.raises(ValueError, match="Extra inputs"):
        NewSession.model_validate({"max_iteration": 3})


@pytest.mark.parametrize("learner", ["fast", "sb3"])
def test_a_configuration_keeps_its_learner_and_the_state_of_its_starts_through_json(learner: str) -> None:
    config = TrainConfig.model_validate({"learner": learner, "start_states": {"pitch": [-3.0, 3.0]}})
    assert TrainConfig.model_validate_json(config.model_dump_json()) == config
