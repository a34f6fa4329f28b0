"""Sentences about commands: what they are judged by, on made rollouts, and what the session's own commands change."""

import numpy as np
import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.analysis.predicates import measure
from p2p.contracts.commands import Commands
from p2p.contracts.errors import UnknownPhrase
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession
from p2p.envs.catalog import load
from p2p.rewards.definitions import commanded
from p2p.rewards.expression_values import evaluate
from p2p.rewards.formulas import tracking
from p2p.rewards.part_features import read_extra_features
from p2p.service.training.plan import effective_config

AUTHOR = BuiltinAuthor()
ANT = load("Ant-v5")
SENTENCE = "follow velocity commands"
FOLLOWED = {
    "command_velocity_x": "forward_velocity",
    "command_velocity_y": "lateral_velocity",
    "command_yaw_rate": "yaw_rate",
}
TOLD = np.array([[0.8, 0.1, 0.5], [0.0, 0.0, 0.0], [0.5, -0.3, -0.8]])
"""What an episode is told, a third of it each."""


def rollout(moves, told=TOLD, **changed):
    """Features of an episode in which an upright robot moves by `moves` of what it is told."""
    steps = 240
    commands = np.repeat(told, steps // len(told), axis=0)
    motion = np.array([moves(row) for row in commands])
    features = dict.fromkeys(ANT.feature_names, np.zeros(steps))
    features |= {"up": np.ones(steps), "height": np.full(steps, 0.6)}
    features |= {"forward_velocity": motion[:, 0], "lateral_velocity": motion[:, 1], "yaw_rate": motion[:, 2]}
    features["speed"] = np.hypot(motion[:, 0], motion[:, 1])
    features |= {name: np.full(steps, value) for name, value in changed.items()}
    features |= tracking(features, commands, FOLLOWED, np.zeros(steps))
    intent = AUTHOR.elicit(SENTENCE, ANT)
    names = {name for criterion in intent.criteria for name in criterion.predicate.names()}
    asked = read_extra_features(names, commanded(ANT, intent.commands))
    features |= {one.text: evaluate(one, features) for one in asked.expressions}
    return {one.key: one.met for one in measure(intent, features, ANT.dt)}


@pytest.mark.parametrize(
    ("moves", "missed"),
    [
        (lambda told: told, set()),
        (lambda told: told + np.array([0.1, 0.05, 0.1]), set()),
        (lambda told: told * 0.0, {"follows_velocity", "turns_as_told", "goes_when_told"}),
        (lambda _: [0.5, 0.0, 0.0], {"follows_velocity", "turns_as_told", "stands_when_told"}),
        (lambda told: [told[0], told[1], 0.0], {"turns_as_told"}),
        (lambda told: [-told[0], told[1], told[2]], {"follows_velocity", "goes_when_told"}),
        (lambda told: [told[0], told[1], -told[2]], {"turns_as_told"}),
        (lambda told: told if told.any() else [0.35, 0.0, 0.0], {"stands_when_told"}),
    ],
    ids=["follows", "follows nearly", "stands", "one speed for all", "never turns", "backwards", "turns the other way",
         "walks on when told to stand"],
)  # fmt: skip
def test_only_who_follows_meets_the_criteria(moves, missed):
    assert {key for key, met in rollout(moves).items() if not met} == missed


def test_who_is_never_told_to_stand_needs_not_and_who_is_only_told_to_stand_needs_not_go():
    assert all(rollout(lambda told: told, told=TOLD[:1]).values())
    assert all(rollout(lambda told: told, told=TOLD[1:2]).values())


def test_falling_meets_no_criterion_of_standing():
    met = rollout(lambda told: told, up=0.1)
    assert not met["stays_upright"]
    assert not met["up_at_the_end"]


def test_the_reward_is_larger_the_less_the_command_is_missed():
    space = {"__name__": "reward"}
    exec(AUTHOR.write(AUTHOR.elicit(SENTENCE, ANT), ANT).source, space)
    reward = space["FollowCommands"]()
    names = commanded(ANT, Commands(velocity_x=(0.0, 1.0))).feature_names
    obs, action = np.zeros(ANT.obs_dim), np.zeros(8)

    def paid(error, turn):
        info = dict.fromkeys(names, 0.0) | {"up": 1.0, "height": 0.6, "_episode_start": False}
        return reward.compute(obs, action, obs, info | {"velocity_error": error, "yaw_rate_error": turn})[0]

    assert paid(0.0, 0.0) > paid(0.2, 0.0) > paid(0.8, 0.0)
    assert paid(0.2, 0.0) > paid(0.2, 0.5)


def test_a_sessions_own_commands_take_the_place_of_the_sentences():
    own = Commands(velocity_x=(-0.4, 0.4), resample_s=2.0, stand_share=0.0)
    told = commanded(ANT, own)
    intent = AUTHOR.elicit(SENTENCE, told)
    assert intent.commands == own
    assert "stands_when_told" not in {criterion.key for criterion in intent.criteria}
    assert intent.criteria[0].predicate.threshold == 0.1
    draft = AUTHOR.write(intent, ANT)
    assert Commands.model_validate(draft.config_changes["commands"]) == own
    assert draft == AUTHOR.write(intent, told)


def test_who_may_turn_is_not_shown_where_it_faces():
    assert AUTHOR.write(AUTHOR.elicit(SENTENCE, ANT), ANT).config_changes["observation"] == "robot_and_velocity"
    hopper = load("Hopper-v5")
    assert "observation" not in AUTHOR.write(AUTHOR.elicit(SENTENCE, hopper), hopper).config_changes


def test_an_ant_begins_with_less_noise_than_its_preset_has():
    draft = AUTHOR.write(AUTHOR.elicit(SENTENCE, ANT), ANT)
    session = NewSession(env_id="Ant-v5", prompt=SENTENCE)
    usual = effective_config(session, RewardDraft(source="", config_changes={"total_timesteps": 3_000_000}))
    assert usual.preset["log_std_init"] > effective_config(session, draft).reward["log_std_init"]


def test_a_speed_that_contradicts_the_sessions_commands_is_refused():
    told = commanded(ANT, Commands(velocity_x=(0.0, 0.4)))
    assert AUTHOR.elicit("follow commands up to 0.4 m/s", told).commands == told.commands
    with pytest.raises(UnknownPhrase, match=r"from 0 to 0.8 m/s.*velocity_x \[0.0, 0.4\]"):
        AUTHOR.elicit("follow commands up to 0.8 m/s", told)


FACING = Commands(velocity_x=(0.0, 1.0), heading=(-3.0, 3.0), height=(0.4, 0.7), resample_s=4.0)


def facing(turns, height):
    """What an episode meets whose robot faces where it is told for the last `turns` of the time, at a height."""
    told = commanded(ANT, FACING)
    intent = AUTHOR.elicit(SENTENCE, told)
    steps = 240
    left = np.where(np.arange(steps) < (1.0 - turns) * steps, 2.0, 0.1)
    commands = np.stack([np.full(steps, 0.5), np.zeros(steps), left, np.linspace(0.4, 0.7, steps)], axis=1)
    features = dict.fromkeys(ANT.feature_names, np.zeros(steps))
    features |= {"up": np.ones(steps), "height": height(commands[:, 3]), "forward_velocity": commands[:, 0]}
    features |= tracking(features, commands, FACING.followed(told), np.zeros(steps))
    names = {name for criterion in intent.criteria for name in criterion.predicate.names()}
    asked = read_extra_features(names, told)
    features |= {one.text: evaluate(one, features) for one in asked.expressions}
    return {one.key for one in measure(intent, features, ANT.dt) if not one.met}


def test_who_is_told_where_to_face_and_how_high_to_be_has_to_do_both():
    assert facing(0.7, lambda told: told + 0.02) == set()
    assert facing(0.3, lambda told: told) == {"faces_where_told"}
    assert facing(0.7, lambda told: told * 0.0 + 0.55) == {"height_as_told"}


def test_the_reward_pays_for_turning_to_where_it_is_told_and_for_the_height():
    told = commanded(ANT, FACING)
    space = {"__name__": "reward"}
    exec(AUTHOR.write(AUTHOR.elicit(SENTENCE, told), ANT).source, space)
    reward = space["FollowCommands"]()
    obs, action = np.zeros(ANT.obs_dim), np.zeros(8)

    def paid(left, rate, height=0.0):
        info = dict.fromkeys(told.feature_names, 0.0) | {"up": 1.0, "height": 0.6, "_episode_start": False}
        info |= {"command_heading": left, "yaw_rate": rate, "height_error": height}
        return reward.compute(obs, action, obs, info)[0]

    assert paid(2.0, 1.0) > paid(2.0, 0.5) > paid(2.0, 0.0) > paid(2.0, -1.0)
    assert paid(0.0, 0.0) > paid(0.0, 0.5)
    assert paid(0.0, 0.0) > paid(0.0, 0.0, 0.05) > paid(0.0, 0.0, 0.1)


def test_a_commanded_height_at_which_it_counts_as_fallen_is_refused():
    humanoid = load("Humanoid-v5")
    with pytest.raises(UnknownPhrase, match=r"0.6 m is commanded.*fallen below 1 m"):
        AUTHOR.elicit(SENTENCE, commanded(humanoid, Commands(velocity_x=(0.0, 1.0), height=(0.6, 1.3))))
