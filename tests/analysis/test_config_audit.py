"""What is said of a configuration before anything is trained."""

import pytest

from p2p.analysis.config_audit import config_warnings, features_read, not_shown
from p2p.contracts.commands import Commands
from p2p.contracts.observe import Observe
from p2p.contracts.training import TrainConfig
from p2p.envs.catalog import load

READS = 'x = info["yaw_turns"] + info.get("time", 0.0) + info["height"]'


@pytest.mark.parametrize(
    ("env_id", "source", "expected"),
    [
        ("Ant-v5", READS, ("time", "yaw_turns")),
        ("Swimmer-v5", "info['yaw_turns']", ()),  # it observes the angle of its root joint
        ("HalfCheetah-v5", 'info["pitch_turns"]', ()),
        ("Ant-v5", 'info["pitch_turns"]', ("pitch_turns",)),
        ("Ant-v5", 'info["yaw_rate"]', ()),
    ],
)
def test_what_the_observation_does_not_show_is_found(env_id, source, expected):
    assert not_shown(features_read(source), load(env_id)) == expected


def test_a_policy_that_cannot_know_what_its_reward_reads_is_told_of_until_it_is_told():
    ant = load("Ant-v5")
    (said,) = config_warnings(READS, TrainConfig(env_id="Ant-v5"), ant)
    assert "reads time and yaw_turns, which the observation does not show" in said
    assert '{"observe": {"features": ["time", "yaw_turns"]}}' in said
    told = TrainConfig(env_id="Ant-v5", observe=Observe(features=("time", "yaw_turns")))
    assert not list(config_warnings(READS, told, ant))


def test_commands_that_a_reward_does_not_read_are_told_of():
    ant = load("Ant-v5")
    told = TrainConfig(env_id="Ant-v5", commands=Commands(velocity_x=(0.0, 1.0)))
    (said,) = config_warnings('info["forward_velocity"]', told, ant)
    assert "pays for following none of them" in said
    assert not list(config_warnings('info["velocity_error"]', told, ant))
    assert not list(config_warnings('info["command_velocity_x"]', told, ant))
