"""Motions that do, and that only seem to do, what is measured of parts: landings, toes, steps, heads."""

from functools import cache

import numpy as np
import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.analysis.predicates import Measurement, measure
from p2p.contracts.intent import Intent
from p2p.envs import catalog
from p2p.lab.worker.clips.landings import SOFT, STIFF, Landings
from p2p.rewards.templates.part_qualities import softest
from p2p.worker.known_motions.motion import Motion
from p2p.worker.known_motions.motion_player import MotionPlayer
from p2p.worker.known_motions.robots import ROBOTS
from p2p.worker.reward_source.loader import LoadedReward

AUTHOR = BuiltinAuthor()
CHEETAH, HOPPER, WALKER, ANT, HUMANOID = "HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5", "Humanoid-v5"
JUMPS = {CHEETAH: 0.2, HOPPER: 0.15, WALKER: 0.1, HUMANOID: 0.1}
"""Robot -> height of "jump" [m]."""
SENTENCE = "jump and land softly"


@cache
def intent_of(env_id: str, sentence: str) -> Intent:
    return AUTHOR.elicit(sentence, catalog.load(env_id))


def only(intent: Intent, prefix: str) -> Intent:
    """The intent with the criteria of that name alone."""
    kept = tuple(criterion for criterion in intent.criteria if criterion.key.startswith(prefix))
    assert kept, [criterion.key for criterion in intent.criteria]
    return intent.model_copy(update={"criteria": kept})


def judged(env_id: str, sentence: str, prefix: str, features: dict[str, np.ndarray]) -> list[Measurement]:
    return list(measure(only(intent_of(env_id, sentence), prefix), features, catalog.load(env_id).dt))


@cache
def landings_of(env_id: str) -> Landings:
    return Landings(ROBOTS[env_id])


@pytest.mark.parametrize("env_id", JUMPS)
def test_a_landing_on_legs_that_give_way_is_soft_and_one_on_stiff_legs_is_not(env_id: str) -> None:
    for legs, met in ((SOFT[env_id], True), (STIFF, False)):
        for features in landings_of(env_id).falls(JUMPS[env_id], legs):
            (found,) = judged(env_id, SENTENCE, "lands_softly", dict(features))
            assert found.met is met, (legs, found.value)


@pytest.mark.parametrize("env_id", JUMPS)
def test_a_soft_landing_pays_more_than_a_stiff_one(env_id: str) -> None:
    spec = catalog.load(env_id)
    reward = LoadedReward(AUTHOR.write(intent_of(env_id, SENTENCE), spec).source)
    paid = []
    for legs in (SOFT[env_id], STIFF):
        features = landings_of(env_id).dropped(1.5 * JUMPS[env_id], legs)  # higher than a jump that counts
        n = len(features["time"])
        steps = [{name: float(values[step]) for name, values in features.items()} for step in range(n)]
        steps = [info | {"jump_height": info["clearance"]} for info in steps]  # it has jumped, and was not dropped
        steps.insert(0, steps[0] | {"clearance": 0.0, "jump_height": 0.0})
        instance = reward.fresh()
        zeros = np.zeros(spec.obs_dim), np.zeros(spec.action_dim), np.zeros(spec.obs_dim)
        found = [instance(*zeros, info | {"_episode_start": step == 0})[1] for step, info in enumerate(steps)]
        paid.append(sum(float(terms["landing"]) for terms in found))
    assert paid[0] > paid[1], paid


def test_the_take_off_of_a_jump_that_is_to_land_softly_is_not_fined() -> None:
    spec = catalog.load(HOPPER)
    reward = LoadedReward(AUTHOR.write(intent_of(HOPPER, SENTENCE), spec).source).fresh()
    zeros = np.zeros(spec.obs_dim), np.zeros(spec.action_dim), np.zeros(spec.obs_dim)
    steps = [(8.0, 0.0), (0.0, 0.2), (8.0, 0.0)]  # pushes off, is aloft, comes down
    still = dict.fromkeys(spec.feature_names, 0.0)
    fined = [
        reward(
            *zeros, still | {"impact": impact, "clearance": height, "jump_height": height, "_episode_start": step == 0}
        )[1]["landing"]
        for step, (impact, height) in enumerate(steps)
    ]
    assert fined[:2] == [0.0, 0.0]
    assert fined[2] < -100.0


def test_the_stored_falls_are_what_the_command_measures() -> None:
    for env_id, height in ((CHEETAH, 0.2), (HOPPER, 0.15)):
        assert softest(env_id, height) == pytest.approx(0.7 * landings_of(env_id).impact(height), rel=0.1)


def test_a_higher_jump_may_come_down_harder_and_toppling_is_no_softer_landing() -> None:
    limits = [softest(WALKER, height) for height in (0.05, 0.1, 0.2, 0.3, 0.4, 0.6)]
    assert limits == sorted(limits)  # type: ignore[type-var]  # all of them are numbers
    assert softest("Swimmer-v5", 0.1) is None


def test_a_hard_second_landing_is_not_made_good_by_a_soft_first_one() -> None:
    first, second = (dict(landings_of(HOPPER).dropped(0.15, legs)) for legs in (SOFT[HOPPER], STIFF))
    both = {name: np.concatenate([first[name], second[name]]) for name in first}
    (found,) = judged(HOPPER, "jump and land softly", "lands_softly", both)
    assert not found.met


@cache
def stage_of(env_id: str, *extra_features: str) -> MotionPlayer:
    robot = ROBOTS[env_id]
    return MotionPlayer(catalog.load(env_id), robot.settles, np.array(robot.crouch or 0.0), extra_features)


def standing_on(env_id: str, sentence: str, angle: float) -> list[Measurement]:
    """A robot that stands with its feet turned by an angle [rad], toes down positive."""
    stage = stage_of(env_id, "pitch:foot", "pitch:foot_left")
    spec = stage.spec
    steps = round(5.0 / spec.dt)
    qpos = np.tile(stage.rest, (steps + 1, 1))
    for joint in spec.joints:
        if joint.name.startswith("foot"):
            qpos[:, joint.qpos_index] -= angle
    played = stage.replay(qpos, np.zeros((steps, spec.action_dim)), np.zeros(steps + 1))
    return judged(env_id, sentence, "on_its_toes", dict(played.features))


@pytest.mark.parametrize(
    ("env_id", "sentence"),
    [(WALKER, "walk on tiptoe"), (WALKER, "stand on your toes"), (HOPPER, "hop forward on your toes")],
)
def test_heels_are_off_the_floor_on_tiptoe_and_neither_flat_feet_nor_heels_are_toes(env_id: str, sentence: str) -> None:
    assert all(found.met for found in standing_on(env_id, sentence, 0.5))
    assert not any(found.met for found in standing_on(env_id, sentence, 0.0))
    assert not any(found.met for found in standing_on(env_id, sentence, -0.5))


def walking(length: float, flicker: int = 0) -> dict[str, np.ndarray]:
    """Steps of a walker, each foot carried by `length` [m]; feet may tremble as they land, in steps of no length."""
    spec = catalog.load(WALKER)
    time = spec.dt * np.arange(1, round(5.0 / spec.dt) + 1)
    features = {name: np.zeros(len(time)) for name in spec.feature_names} | {"time": time}
    for number, foot in enumerate(("foot_geom", "foot_left_geom")):
        phase = (time / 0.5 + number / 2) % 1.0
        down = phase > 0.5
        trembling = down & (phase < 0.5 + 0.04 * (2 * flicker + 1)) & ((phase - 0.5) // 0.04 % 2 == 1)
        fresh = down & ~(down & (phase > 0.5 + 0.04)) if flicker else down
        features[f"contact_{foot}"] = (down & ~trembling).astype(float)
        features[f"step_length:{foot}"] = np.where(fresh | ~down, length, 0.01 if flicker else length)
    return features


@pytest.mark.parametrize("flicker", [0, 1])
def test_small_steps_are_small_and_long_ones_long_however_feet_tremble(flicker: int) -> None:
    for length, small, long in ((0.2, True, False), (0.7, False, False), (1.3, False, True)):
        found = judged(WALKER, "walk forward with small steps", "small_steps", walking(length, flicker))
        assert [one.met for one in found] == [small, small], (length, found)
        found = judged(WALKER, "walk forward with long steps", "long_steps", walking(length, flicker))
        assert [one.met for one in found] == [long, long], (length, found)


def test_one_foot_that_takes_long_steps_is_not_enough() -> None:
    features = walking(0.2)
    features["step_length:foot_geom"][:] = 1.3
    assert sorted(one.met for one in judged(WALKER, "run with long strides", "long_steps", features)) == [False, True]
    assert sorted(one.met for one in judged(WALKER, "run with small steps", "small_steps", features)) == [False, True]


def held(env_id: str, sentence: str, prefix: str, **paths: np.ndarray | float) -> bool:
    """Whether a robot that stands with these paths added meets what is said of its head."""
    stage = stage_of(env_id, "height:head - height", "velocity_z:head")
    played = stage.play(Motion.standing(stage.spec.dt, 5.0).plus(**paths))
    return all(found.met for found in judged(env_id, sentence, prefix, dict(played.features)))


@pytest.mark.parametrize(("env_id", "lean"), [(CHEETAH, 0.15), (HUMANOID, 0.0)])
def test_a_head_is_up_or_down_by_where_it_is_over_the_trunk(env_id: str, lean: float) -> None:
    assert held(env_id, "walk forward with your head up", "head_up", pitch=lean)
    assert not held(env_id, "walk forward with your head up", "head_up", pitch=-0.7)
    assert held(env_id, "walk forward with your head down", "head_down", pitch=-0.7)
    assert not held(env_id, "walk forward with your head down", "head_down", pitch=lean)
    assert not held(env_id, "walk forward with your head up", "head_up", pitch=-0.7, lift=0.5), (
        "a high trunk is no head"
    )


def test_a_head_that_nods_is_not_still() -> None:
    time = Motion.standing(catalog.load(CHEETAH).dt, 5.0).t
    assert held(CHEETAH, "run forward with your head still", "head_still")
    assert not held(CHEETAH, "run forward with your head still", "head_still", pitch=0.2 * np.sin(12.0 * time))


def one_leg(left: float, right: float) -> bool:
    """Whether feet that are down for these shares of the time are one leg that is used."""
    spec = catalog.load(WALKER)
    time = spec.dt * np.arange(1, round(5.0 / spec.dt) + 1)
    features = {name: np.zeros(len(time)) for name in spec.feature_names} | {"time": time}
    for foot, share in (("foot_left_geom", left), ("foot_geom", right)):
        features[f"contact_{foot}"] = ((time / 0.4) % 1.0 < share).astype(float)
    (found,) = judged(WALKER, "hop forward on one leg", "on_one_leg", features)
    return found.met


def test_one_leg_is_either_and_neither_both_in_turn_nor_none() -> None:
    assert all(one_leg(*shares) for shares in ((0.5, 0.0), (0.0, 0.5)))
    assert not any(one_leg(*shares) for shares in ((0.5, 0.5), (0.5, 0.1), (0.0, 0.0)))


def test_a_side_that_is_not_said_may_be_either() -> None:
    spec = catalog.load(ANT)
    time = spec.dt * np.arange(1, round(5.0 / spec.dt) + 1)
    features = {name: np.zeros(len(time)) for name in spec.feature_names} | {"time": time}
    for way, met in ((1.0, True), (-1.0, True), (0.0, False)):
        features["yaw_turns"], features["displacement_y"] = way * time / 4.0, way * 0.4 * time
        (found,) = judged(ANT, "walk in circles", "goes_round", features)
        assert found.met is met
        (found,) = judged(ANT, "walk diagonally", "moves_sideways_too", features)
        assert found.met is met
    features["displacement_y"] = 0.5 * np.sin(3.0 * time)
    (found,) = judged(ANT, "walk diagonally", "moves_sideways_too", features)
    assert not found.met, "to and fro is not sideways"
