"""What a robot from a model file is trained with, by its kind."""

from pathlib import Path

import pytest
from robot_files import PONY, SNAKE

from p2p.contracts.env import EnvSpec, legs_of
from p2p.contracts.errors import InvalidInput
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession
from p2p.envs import catalog
from p2p.service.rewards.criteria import completed
from p2p.service.sessions.lifecycle import create_session
from p2p.service.training.environments import default_config
from p2p.service.training.plan import effective_config
from p2p.service.workspace import Workspace
from p2p.training.presets import robot_preset
from p2p.worker.description.describe import describe_robot

ROVER = PONY.with_name("rover.xml")
HEXAPOD = PONY.with_name("hexapod.xml")


@pytest.fixture(scope="module")
def pony() -> EnvSpec:
    return describe_robot("pony", PONY)


def standing_on(pony: EnvSpec, legs: int) -> EnvSpec:
    """The same robot, with the feet of so many legs alone."""
    feet = tuple(foot for leg in legs_of(pony)[:legs] for foot in leg)
    return pony.model_copy(update={"morphology": pony.morphology.model_copy(update={"feet": feet})})


def test_legs_make_the_kind(pony: EnvSpec) -> None:
    four, two = robot_preset(pony), robot_preset(standing_on(pony, 2))
    assert four["activation"] == "tanh"
    assert "activation" not in two
    assert four["gamma"] == two["gamma"] == 0.98
    assert robot_preset(standing_on(pony, 1)) == two
    assert robot_preset(describe_robot("hexapod", HEXAPOD)) == four


@pytest.mark.parametrize("file", [SNAKE, ROVER], ids=lambda file: file.stem)
def test_what_neither_walks_nor_has_servos_keeps_the_defaults_and_is_looked_at_as_often(file: Path) -> None:
    assert robot_preset(describe_robot(file.stem, file)) == {"num_evals": 12}


def test_a_robot_that_lies_keeps_the_defaults(pony: EnvSpec) -> None:
    assert pony.robot is not None
    lying = pony.model_copy(update={"robot": pony.robot.model_copy(update={"lying": pony.robot.stance})})
    assert robot_preset(lying) == {"num_evals": 12}


def test_robots_of_the_table_have_settings_of_their_own() -> None:
    assert all(robot_preset(catalog.load(env_id)) == {} for env_id in catalog.known())


def test_a_preset_is_a_copy_and_valid(pony: EnvSpec) -> None:
    robot_preset(pony)["gamma"] = 0.5
    assert robot_preset(pony)["gamma"] == 0.98
    assert default_config(pony).gamma == 0.98
    assert default_config(standing_on(pony, 2)).log_std_init == -1.0


def test_a_session_keeps_the_preset_that_it_began_with(ws: Workspace) -> None:
    asked = NewSession(prompt="walk forward", env_id=str(PONY), config={"n_epochs": 3})
    session = create_session(ws, asked)
    assert ws.record(session.session_id).read_session().preset == robot_preset(describe_robot("pony", PONY))
    found = effective_config(session, RewardDraft(source="", config_changes={"learning_rate": 1e-4}))
    assert found.preset["gamma"] == 0.98
    assert "n_epochs" not in found.preset
    assert found.session["n_epochs"] == 3
    assert found.reward["learning_rate"] == 1e-4


def test_a_session_of_an_earlier_p2p_goes_on_as_it_was() -> None:
    session = NewSession(env_id="pony-24712049")
    assert effective_config(session, RewardDraft(source="")).preset == {}
    assert "preset" not in session.model_dump()


def test_no_request_chooses_it(ws: Workspace) -> None:
    with pytest.raises(InvalidInput, match="in config"):
        completed(ws, NewSession(prompt="run forward", preset={"gamma": 0.1}))
    once = completed(ws, NewSession(prompt="walk forward", env_id=str(PONY)))
    assert completed(ws, once) == once
