"""A configuration that names what the robot does not have, wherever it comes in."""

import pytest
from shared_sessions import BALANCE

from p2p.contracts.background import StartTraining
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.session import NewSession
from p2p.service.rewards.submission import submit_reward
from p2p.service.sessions.background import start_training
from p2p.service.sessions.lifecycle import create_session, preview
from p2p.service.workspace import Workspace

REWARD = "def reward_fn(o, a, n, info):\n    v = 1.0 - abs(info['pole_angle'])\n    return v, {'v': v}\n"


@pytest.fixture
def written(ws: Workspace) -> str:
    """A session with an accepted reward that waits to be trained."""
    session = create_session(ws, NewSession(prompt=BALANCE, env_id="InvertedPendulum-v5", n_seeds=1))
    assert submit_reward(ws, session.session_id, REWARD).report.accepted
    return session.session_id


def test_a_reward_whose_configuration_is_refused_replaces_none(ws: Workspace, written: str) -> None:
    iteration = ws.record(written).iteration(1)
    before = (iteration.read_draft(), iteration.read_reward_report())
    with pytest.raises(InvalidConfig, match=r"end_when: 'pole_angel', which .* Did you mean 'pole_angle'"):
        submit_reward(ws, written, REWARD, config_changes={"end_when": ["pole_angel >= 1"]})
    assert (iteration.read_draft(), iteration.read_reward_report()) == before


def test_a_training_whose_configuration_is_refused_does_not_start(ws: Workspace, written: str) -> None:
    asked = StartTraining(configs={"a": {"end_when": ["pole_angel >= 1"]}})
    with pytest.raises(InvalidConfig, match=r"end_when: 'pole_angel', which .* Did you mean 'pole_angle'"):
        start_training(ws, written, asked)
    assert ws.record(written).iteration(1).runs() == []


def test_a_preview_refuses_it_as_the_session_would(ws: Workspace) -> None:
    asked = NewSession(prompt=BALANCE, env_id="InvertedPendulum-v5", config={"end_when": ["pole_angel >= 1"]})
    with pytest.raises(InvalidConfig, match="Did you mean 'pole_angle'"):
        preview(ws, asked)
