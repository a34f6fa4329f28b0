"""Settings that the built-in author trains a sentence with, for rewards that others write."""

import json
from pathlib import Path

import pytest

from p2p.contracts.session import NewSession
from p2p.service.rewards.authors import known_settings, rules_of
from p2p.service.rewards.submission import submit_reward
from p2p.service.sessions.lifecycle import create_session
from p2p.service.training.environments import find_environment
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.training.tuning import HYPERPARAMETERS

FLIP = NewSession(prompt="do a backflip and land on your feet", env_id="HalfCheetah-v5")
OTHER = "def reward_fn(obs, action, next_obs, info):\n    rate = info['pitch_rate']\n    return rate, {'rate': rate}\n"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(Settings(runs_dir=tmp_path))


def test_a_reward_that_was_edited_before_its_training_keeps_its_settings(ws: Workspace) -> None:
    session_id = create_session(ws, FLIP).session_id
    built_in = submit_reward(ws, session_id)
    asked_for = built_in.config.reward
    assert {"start_states", "total_timesteps"} <= set(asked_for)

    edited = built_in.source.replace('"effort": 0.02', '"effort": 0.03')
    assert edited != built_in.source
    assert submit_reward(ws, session_id, edited).config.reward == asked_for

    longer = submit_reward(ws, session_id, edited, config_changes={"total_timesteps": 700_000}).config.reward
    assert longer == asked_for | {"total_timesteps": 700_000}
    at_rest = submit_reward(ws, session_id, edited, config_changes={"start_states": None}).config
    assert at_rest.reward["start_states"] is None


def test_another_reward_has_settings_of_its_own(ws: Workspace) -> None:
    session_id = create_session(ws, FLIP).session_id
    submit_reward(ws, session_id)
    assert submit_reward(ws, session_id, OTHER).config.reward == {}


def test_who_writes_a_reward_is_told_what_is_known_to_teach_the_sentence(ws: Workspace) -> None:
    session_id = create_session(ws, FLIP).session_id
    told = rules_of(ws, FLIP, ws.record(session_id).read_criteria()).splitlines()
    settings = json.loads(told[-1])
    assert settings.keys() == submit_reward(ws, session_id).config.reward.keys()
    assert settings["start_states"]["pitch_rate"] == [-2.0, 8.0]
    assert submit_reward(ws, session_id, OTHER, config_changes=settings).report.accepted


def test_of_fixed_hyperparameters_none_is_recommended(ws: Workspace) -> None:
    still = NewSession(prompt="stand still", env_id="Hopper-v5")
    intent = ws.author("builtin").elicit(still.prompt, find_environment(ws, still.env_id))
    recommended = json.loads(rules_of(ws, still, intent).splitlines()[-1])
    fixed = still.model_copy(update={"reward_only": True})
    assert "log_std_init" in recommended
    assert json.loads(rules_of(ws, fixed, intent).splitlines()[-1]).keys() == recommended.keys() - set(HYPERPARAMETERS)


def test_weights_of_the_built_in_terms_are_not_recommended_for_others(ws: Workspace) -> None:
    spec = find_environment(ws, "Humanoid-v5")
    intent = ws.author("builtin").elicit("stand still for 5 seconds", spec)
    settings = known_settings(ws, intent, spec)
    assert settings["total_timesteps"] == 3_000_000
    assert "curriculum" not in settings


@pytest.mark.parametrize(
    ("env_id", "prompt"),
    [("Hopper-v5", "jump and land softly"), ("Walker2d-v5", "stay low in place"), ("Ant-v5", "walk high")],
)
def test_what_the_check_has_against_a_reward_of_the_built_in_author_is_only_told(
    ws: Workspace, env_id: str, prompt: str
) -> None:
    session_id = create_session(ws, NewSession(prompt=prompt, env_id=env_id)).session_id
    built_in = submit_reward(ws, session_id)
    assert built_in.report.accepted
    assert any("It pays" in issue.message for issue in built_in.report.issues)
    edited = submit_reward(ws, session_id, built_in.source + "\n# the same, by somebody who can mend it\n")
    assert not edited.report.accepted
