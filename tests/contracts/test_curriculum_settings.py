"""Curricula of a training's configuration, and what contradicts them."""

import pytest

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.training import TrainConfig
from p2p.service.training.plan import parse_config

STATES = [{"qpos": [0.0], "qvel": [0.0]}] * 2
GOAL = ["up >= 0.9"]


def test_a_goal_is_read_from_comparisons():
    config = TrainConfig(start_states={"states": STATES}, curriculum={"starts": {"goal": GOAL, "reverse": True}})
    goal = config.curriculum.starts.goal[0]
    assert (goal.feature, goal.comparison, goal.threshold) == ("up", "at_least", 0.9)
    assert TrainConfig.model_validate_json(config.model_dump_json()) == config


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"curriculum": {}}, "changes nothing"),
        ({"curriculum": {"starts": {"goal": GOAL}}}, "there are none; give start_states too"),
        ({"curriculum": {"starts": {"reverse": True}}, "start_states": {"states": STATES}}, "reverse needs a goal"),
        ({"curriculum": {"starts": {"goal": GOAL, "reverse": True}}, "start_states": {"pitch": [0, 1]}}, "got 0"),
        (
            {"curriculum": {"starts": {"goal": GOAL}}, "start_states": {"share": 1.0}},
            "a smaller share, or no goal",
        ),
        ({"curriculum": {"episodes": {"start_s": 2}}, "max_episode_steps": 100}, "max_episode_steps overrides"),
        ({"curriculum": {"episodes": {"start_s": 9}}, "episode_s": 5}, "expected a shorter start"),
        ({"curriculum": {"weights": {"slip": []}}}, "has no pairs"),
        ({"curriculum": {"weights": {"slip": [[0.5, 1], [0.5, 2]]}}}, "must rise, got 0.5, 0.5"),
        ({"curriculum": {"weights": {"slip": [[1.5, 1]]}}}, "less than or equal to 1"),
        ({"curriculum": {"pushes": {"speed": 1, "every_s": 0.1, "lasts_s": 0.2}}}, "leave a pause between"),
        ({"curriculum": {"assistance": {"goal": GOAL, "heights": [1, 1]}}}, "heights must rise, got 1, 1"),
        ({"curriculum": {"assistance": {"goal": []}}}, "at least 1 item"),
        ({"mirror": True, "critic_observation": "full"}, "leave one out"),
        ({"curriculum": {"push": {"speed": 1}}}, "curriculum.push: unknown key; did you mean 'curriculum.pushes'"),
        ({"curriculum": {"pushes": {"sped": 1}}}, "did you mean 'curriculum.pushes.speed'"),
    ],
)
def test_what_contradicts_a_curriculum_is_refused_in_words(fields, message):
    with pytest.raises(InvalidConfig, match=message.replace("[", r"\[")):
        parse_config(fields)
