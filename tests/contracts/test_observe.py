"""What a policy is told: which names may be told, in which order, and what a robot can compute of it."""

import pytest
from pydantic import ValidationError

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.observe import Counter, Milestone, Observe
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog

WHOLE = Observe(
    features=("time", "displacement_x"),
    milestones=(Milestone(feature="yaw_turns", amount=2.0), Milestone(feature="clearance", amount=0.2)),
    counter=Counter(feature="clearance", low=0.1, high=0.2),
)


def test_inputs_are_named_in_their_order_and_marked_where_a_robot_cannot_compute_them():
    assert WHOLE.names == (
        *("time", "displacement_x", "step_1_done", "step_2_done", "step_time", "step_progress", "counted"),
    )
    assert [one.on_robot for one in WHOLE.inputs] == [True, False, True, False, False, False, False]
    assert {one.name: one.unit for one in WHOLE.inputs}["displacement_x"] == "m"
    assert WHOLE.reads == ("time", "displacement_x", "yaw_turns", "clearance")


def test_a_list_of_features_stands_for_itself_and_survives_a_file():
    config = TrainConfig.model_validate({"observe": ["time", "yaw_turns"]})
    assert config.observe == Observe(features=("time", "yaw_turns"))
    assert TrainConfig.model_validate_json(config.model_dump_json()).observe == config.observe
    assert TrainConfig().observe is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"features": ["height"]}, "cannot append height to the observation: expected features that one state does"),
        ({"features": ["time", "time"]}, "named twice"),
        ({}, "observe names nothing"),
        ({"milestones": [{"feature": "time", "amount": 0.0}]}, "would be reached at once"),
        ({"counter": {"feature": "clearance", "low": 0.2, "high": 0.1}}, "low must be below its high"),
    ],
)
def test_what_cannot_be_told_is_refused_in_words(given, message):
    with pytest.raises(ValidationError, match=message):
        Observe.model_validate(given)


def test_a_feature_that_the_robot_lacks_is_refused_by_name():
    with pytest.raises(InvalidConfig, match="HalfCheetah-v5 cannot tell its policy that"):
        WHOLE.require(catalog.load("HalfCheetah-v5"))
    WHOLE.require(catalog.load("Ant-v5"))
