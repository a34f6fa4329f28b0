"""A wave: which motions of an arm are one, which robots have arms, and what the reward pays."""

from functools import cache

import numpy as np
import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.analysis.predicates import measure
from p2p.contracts.env import JointControl, RobotModel
from p2p.contracts.errors import UnknownPhrase
from p2p.envs import catalog
from p2p.rewards.arms import arms_of
from p2p.rewards.part_features import read_extra_features
from p2p.worker.known_motions.motion_player import MotionPlayer
from p2p.worker.known_motions.robots import ROBOTS
from p2p.worker.reward_source.loader import LoadedReward

AUTHOR = BuiltinAuthor()
HUMANOID = catalog.load("Humanoid-v5")
SENTENCE = "wave with the right arm"
RAISED = {"right_shoulder1": -1.4, "right_shoulder2": 0.2, "right_elbow": -1.0}
"""Right hand over the right shoulder [rad]."""
WAVE = {"raises_its_hand", "waves", "swings_its_arm"}
STANDS = {"stands_straight", "stands_on_the_floor", "stays_in_place"}


@cache
def player():
    asked = {name for one in AUTHOR.elicit(SENTENCE, HUMANOID).criteria for name in one.predicate.names()}
    names = read_extra_features(asked, HUMANOID)
    read = {f"velocity_{way}:right_hand" for way in "xyz"} | {f"joint_velocity:{joint}" for joint in RAISED}
    read |= {part.name for part in names.parts}
    expressions = {one.text for one in names.expressions}
    return MotionPlayer(HUMANOID, ROBOTS["Humanoid-v5"].settles, np.array(0.0), tuple(read | expressions))


def standing(lean=0.0, lift=0.0, away=0.0, **joints):
    """Features of a humanoid that stands for 5 s with these angles of joints, constant or over time [rad].

    Args:
        lean: Nose up [rad].
        lift: Over the floor [m].
        away: How far it goes [m].
        **joints: By name.
    """
    stage = player()
    steps = round(5.0 / HUMANOID.dt)
    qpos = np.tile(stage.rest, (steps + 1, 1))
    for joint in HUMANOID.joints:
        if joint.name in joints:
            qpos[:, joint.qpos_index] = joints[joint.name]
    qpos[:, 0] += np.linspace(0.0, away, steps + 1)
    qpos[:, 3:7] = [np.cos(lean / 2.0), 0.0, -np.sin(lean / 2.0), 0.0]
    return dict(stage.replay(qpos, np.zeros((steps, HUMANOID.action_dim)), np.full(steps + 1, lift)).features)


def swinging(size, hertz, joint="right_elbow", ahead=0.0):
    """Angles of a joint that swings to and fro [rad]; `ahead` in periods."""
    time = HUMANOID.dt * np.arange(round(5.0 / HUMANOID.dt) + 1)
    return RAISED[joint] + size * np.sin(2.0 * np.pi * (hertz * time + ahead))


def missed(features, sentence=SENTENCE):
    found = measure(AUTHOR.elicit(sentence, HUMANOID), features, HUMANOID.dt)
    return {one.key for one in found if not one.met} & (WAVE | STANDS)


def test_a_raised_hand_that_goes_to_and_fro_waves():
    assert not missed(standing(**RAISED | {"right_elbow": swinging(0.4, 1.5)}))
    assert not missed(standing(**RAISED | {"right_elbow": swinging(0.4, 1.5)}), "wave")


@pytest.mark.parametrize(
    ("pose", "why"),
    [
        ({"lean": 0.6}, {"stands_straight"}),
        ({"lift": 0.2}, {"stands_on_the_floor"}),
        ({"away": 1.0}, {"stays_in_place"}),
    ],
)
def test_who_waves_has_to_stand(pose, why):
    assert missed(standing(**pose, **RAISED | {"right_elbow": swinging(0.4, 1.5)})) == why


@pytest.mark.parametrize(
    ("joints", "why"),
    [
        (RAISED, {"waves", "swings_its_arm"}),
        (RAISED | {"right_elbow": swinging(0.02, 10.0)}, {"waves", "swings_its_arm"}),
        (RAISED | {"right_elbow": swinging(0.3, 4.0)}, {"waves"}),
        (RAISED | {"right_elbow": swinging(0.4, 0.15)}, {"waves", "swings_its_arm"}),
        ({"right_elbow": swinging(0.4, 1.5) - 0.5}, {"waves", "raises_its_hand"}),
        ({"left_elbow": swinging(0.4, 1.5)}, WAVE),
    ],
    ids=["holds it up", "trembles", "trembles far", "moves it slowly", "swings it low", "with the other arm"],
)
def test_what_only_looks_like_a_wave_is_none(joints, why):
    assert missed(standing(**joints)) == why


def test_the_reward_pays_most_for_a_wave():
    reward = LoadedReward(AUTHOR.write(AUTHOR.elicit(SENTENCE, HUMANOID), HUMANOID).source)

    def paid(**joints):
        features, instance, total = standing(**joints), reward.fresh(), 0.0
        for step in range(len(features["time"])):
            info = {name: float(values[step]) for name, values in features.items()} | {"_episode_start": step == 0}
            observation, action = np.zeros(HUMANOID.obs_dim), np.zeros(HUMANOID.action_dim)
            total += float(instance(observation, action, observation, info)[0])
        return total

    wave = RAISED | {"right_elbow": swinging(0.4, 1.5)}
    assert paid(**wave) > paid(**RAISED) > paid()
    halfway = (paid(**RAISED) + paid(**wave)) / 2.0
    circle = wave | {"right_shoulder1": swinging(0.3, 1.5, "right_shoulder1", ahead=0.25)}
    assert paid(**circle) < halfway
    for size, hertz in ((0.3, 4.0), (0.4, 5.0), (0.25, 7.0)):
        assert paid(**RAISED | {"right_elbow": swinging(size, hertz)}) < halfway, "it trembles"


def test_arms_are_found_by_name_and_other_bodies_are_refused():
    arms = arms_of(HUMANOID)
    assert arms["right"].hand == "right_hand"
    assert arms["left"].shoulder == "left_upper_arm"
    assert arms["left"].joints == ("left_shoulder1", "left_shoulder2", "left_elbow")
    for env_id in ("Ant-v5", "Walker2d-v5", "Reacher-v5", "Pusher-v5"):
        assert not arms_of(catalog.load(env_id))
    with pytest.raises(UnknownPhrase, match="the ant has no arm"):
        AUTHOR.elicit(SENTENCE, catalog.load("Ant-v5"))
    with pytest.raises(UnknownPhrase, match="it says how to hold a posture"):
        AUTHOR.elicit("walk forward and wave", HUMANOID)
    with pytest.raises(UnknownPhrase, match="contradicts"):
        AUTHOR.elicit("wave with the right arm and wave with the left arm", HUMANOID)


def test_of_several_fingers_the_hand_is_what_they_have_in_common():
    bodies = [*HUMANOID.bodies]
    for finger in ("right_finger_1", "right_finger_2"):
        bodies.append(HUMANOID.bodies[-1].model_copy(update={"name": finger, "parent": "right_lower_arm"}))
    assert arms_of(HUMANOID.model_copy(update={"bodies": tuple(bodies)}))["right"] == arms_of(HUMANOID)["right"]


def test_who_says_no_side_is_told_which_arm_it_is():
    assert "No side is given: it waves with its right arm." in AUTHOR.understand("wave", HUMANOID).assumed


def test_an_arm_whose_servos_hardly_leave_the_stance_is_told_of():
    servos = JointControl(actuator="", kind="position", centre=0.0, scale=0.5, kp=100.0, kd=1.0)
    model = RobotModel(
        source="h.xml", xml="", stance=(), healthy=None, choices=(), control=(servos,) * HUMANOID.action_dim
    )
    short = HUMANOID.model_copy(update={"robot": model})
    assert arms_of(short)["right"].reach == 0.5
    assert any("go 0.5 rad from the stance" in text for text in AUTHOR.understand(SENTENCE, short).assumed)
    assert not any("from the stance" in text for text in AUTHOR.understand(SENTENCE, HUMANOID).assumed)
