"""The search for what fools criteria, and the checks of the simulator's states that call a motion wrong."""

from pathlib import Path

import numpy as np
import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.analysis.predicates import measure
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.intent import Bound, Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.envs import catalog
from p2p.lab.contracts.attack import ATTACKED, HELD_BACK, AttackRequest
from p2p.lab.contracts.calibration import ClipsRequest
from p2p.lab.records import AttackRecord
from p2p.lab.worker.attack import truth
from p2p.lab.worker.attack.genes import Gene, play
from p2p.lab.worker.attack.job import attack
from p2p.lab.worker.attack.search import Search
from p2p.lab.worker.clips.calibration_clips import make_clips
from p2p.worker.known_motions.motion import Motion, jump, ramp, travel
from p2p.worker.known_motions.motion_player import MotionPlayer
from p2p.worker.known_motions.robots import ROBOTS

CHEETAH = ROBOTS["HalfCheetah-v5"]
RUN = "run forward as fast as you can"


def stage_of(env_id: str) -> MotionPlayer:
    robot = ROBOTS[env_id]
    return MotionPlayer(catalog.load(env_id), robot.settles, np.array(robot.crouch or 0.0))


def _of(sentence: str, title: str, predicate: Predicate) -> Intent:
    criterion = Criterion(
        key=title.lower(), title=title, description=title, category=Category.DYNAMICS, predicate=predicate
    )
    return Intent(prompt=sentence, env_id="HalfCheetah-v5", criteria=(criterion,), episode_s=6.0)


def only_speed(sentence: str, least: float) -> Intent:
    """Criteria that anybody can fool: the mean speed alone."""
    predicate = Predicate(
        statistic=Statistic.MEAN, feature="velocity_x", comparison=Comparison.AT_LEAST, threshold=least, unit="m/s",
        margin=1.0,
    )  # fmt: skip
    return _of(sentence, "Fast", predicate)


def nothing_passes(sentence: str) -> Intent:
    """Criteria that no motion meets."""
    where = (Bound(feature="height", comparison=Comparison.AT_LEAST, threshold=100.0),)
    predicate = Predicate(
        statistic=Statistic.FRACTION, where=where, comparison=Comparison.AT_LEAST, threshold=0.5, unit="1", margin=0.2
    )
    return _of(sentence, "High", predicate)


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Ant-v5", "Swimmer-v5"])
def test_no_check_calls_a_motion_wrong_that_does_what_is_asked(env_id: str) -> None:
    robot, stage = ROBOTS[env_id], stage_of(env_id)
    asked = {each.sentence: each for each in robot.asked if each.skill in truth.SKILLS}
    checked = 0
    for one in make_clips(ClipsRequest(env_id=env_id, seed=5, variations=1))[1]:
        positives = [c.sentence for c in one.clip.claims if c.kind.holds and c.sentence in asked]
        for sentence in positives:
            found = truth.wrongs(robot, asked[sentence], truth.SimulatedMotion.of(stage, one.played, robot.seconds))
            assert found[0].how_much < 1.0, (one.clip.motion, sentence, found[0])
            checked += 1
    assert checked > 10


def test_whoever_lies_first_and_then_rears_is_judged_by_its_pitch_in_the_world() -> None:
    stage = stage_of("HalfCheetah-v5")
    asked = next(a for a in CHEETAH.asked if a.sentence == "stand on your hind legs")
    rest = Motion.standing(stage.spec.dt, 6.0)
    down = np.pi * (1.0 - ramp(rest.t, 0.2, 0.4))
    for up, rears in ((np.pi / 2.0, True), (0.3, False)):
        pitch = down + up * ramp(rest.t, 1.0, 0.3)
        found = truth.wrongs(CHEETAH, asked, truth.SimulatedMotion.of(stage, stage.play(rest.plus(pitch=pitch)), 6.0))
        short = next(wrong for wrong in found if wrong.words == "is up for too short a time")
        assert (short.how_much < 1.0) is rears
        assert not rears or found[0].how_much < 1.0


@pytest.mark.nightly
@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Humanoid-v5"])
def test_a_jump_with_legs_drawn_up_until_the_torso_sinks_is_wrong_and_no_less_is(env_id: str) -> None:
    robot, stage = ROBOTS[env_id], stage_of(env_id)
    asked = next(one for one in robot.asked if one.sentence == "jump")
    motion = jump(Motion.standing(stage.spec.dt, robot.seconds), 1.2 * asked.low, 2.0)
    for strength, wrong in ((0.0, False), (1.0, True)):
        played = play({"draws up its legs": Gene(strength, 0.5, 0.5)}, motion, stage, robot)
        found = truth.wrongs(robot, asked, truth.SimulatedMotion.of(stage, played, robot.seconds))
        assert (found[0].how_much >= 1.0) is wrong, found


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Ant-v5", "Hopper-v5"])
def test_a_jump_with_the_first_step_is_one_too_many(env_id: str) -> None:
    """A search found it, when jumps were counted from the first contact with the floor on."""
    robot, stage = ROBOTS[env_id], stage_of(env_id)
    asked = next(one for one in robot.asked if one.sentence == "jump 3 times")
    intent = BuiltinAuthor().elicit(asked.sentence, stage.spec)
    for starts, missed in (((1.1, 2.2, 3.3), []), ((-0.02, 1.1, 2.2, 3.3), ["rises"])):
        motion = Motion.standing(stage.spec.dt, robot.seconds)
        for start in starts:
            motion = jump(motion, 1.4 * asked.low, start)
        found = measure(intent, stage.play(motion).features, stage.spec.dt)
        assert [one.key for one in found if not one.met] == missed


@pytest.mark.parametrize("rate", [0.1, 0.9])
def test_either_half_of_a_humanoids_joints_can_be_held(rate: float) -> None:
    robot, stage = ROBOTS["Humanoid-v5"], stage_of("Humanoid-v5")
    standing = Motion.standing(stage.spec.dt, 1.0)
    held = play({"one leg held": Gene(1.0, 0.5, rate)}, standing, stage, robot)
    moved = np.flatnonzero(np.abs(held.qpos[-1] - stage.rest)[7:] > 1e-9)
    assert len(moved) == 2
    assert bool(moved.max() < 8) == (rate < 0.5)


def test_checks_find_most_of_what_mutations_spoil() -> None:
    robot, stage = CHEETAH, stage_of("HalfCheetah-v5")
    asked = {each.sentence: each for each in robot.asked if each.skill in truth.SKILLS}
    found = []
    for one in make_clips(ClipsRequest(env_id="HalfCheetah-v5", seed=5, variations=1, mutations=True))[1][::3]:
        spoilt = [c.sentence for c in one.clip.claims if not c.kind.holds and c.sentence in asked]
        if one.clip.mutation and spoilt:
            seen = truth.SimulatedMotion.of(stage, one.played, robot.seconds)
            found += [truth.wrongs(robot, asked[sentence], seen)[0].how_much >= 1.0 for sentence in spoilt]
    assert len(found) > 30
    assert np.mean(found) > 0.9


def test_criteria_that_ask_for_speed_alone_are_fooled_and_the_finds_are_wrong(tmp_path: Path) -> None:
    record = AttackRecord(tmp_path)
    record.save_request(AttackRequest(env_id="HalfCheetah-v5", intent=only_speed(RUN, 3.0), tries=60, seed=3))
    attack(tmp_path)
    found = record.read()
    assert found is not None
    assert found.wrong_passes > 5
    assert found.first_at is not None
    assert found.passes >= found.wrong_passes == sum(found.by_wrong.values())
    clips = record.clips.read_clips()
    assert clips is not None
    assert [clip.clip_id for clip in clips.clips] == [find.clip_id for find in found.finds]
    assert all(find.wrong for find in found.finds)


def test_criteria_that_nothing_meets_are_not_fooled() -> None:
    found, clips = Search(AttackRequest(env_id="HalfCheetah-v5", intent=nothing_passes(RUN), tries=30)).run()
    assert (found.passes, found.wrong_passes, found.first_at, clips) == (0, 0, None, [])


def test_the_same_seed_finds_the_same() -> None:
    request = AttackRequest(env_id="HalfCheetah-v5", intent=only_speed(RUN, 3.0), tries=25, seed=4)
    one, again = (Search(request).run()[0].model_copy(update={"seconds": 0.0}) for _ in range(2))
    other = Search(request.model_copy(update={"seed": 5})).run()[0]
    assert one == again
    assert one.finds != other.finds


def test_what_the_set_does_not_know_and_what_needs_eyes_is_refused() -> None:
    with pytest.raises(UnknownName, match="HalfCheetah-v5"):
        Search(AttackRequest(env_id="Reacher-v5", intent=only_speed(RUN, 3.0)))
    with pytest.raises(UnknownName, match=RUN):
        Search(AttackRequest(env_id="HalfCheetah-v5", intent=only_speed("dance", 3.0)))
    intent = only_speed(RUN, 3.0)
    eyes = intent.criteria[0].model_copy(update={"predicate": None})
    with pytest.raises(InvalidInput, match="eyes"):
        Search(AttackRequest(env_id="HalfCheetah-v5", intent=intent.model_copy(update={"criteria": (eyes,)}))).run()


def test_motors_that_are_let_go_are_simulated() -> None:
    stage = stage_of("HalfCheetah-v5")
    base = travel(Motion.standing(stage.spec.dt, 6.0), vx=3.0)
    played = play({"let go": Gene(0.5, 0.5, 0.5)}, base, stage, CHEETAH)
    assert played is not None
    assert not played.actions[len(played.actions) // 2 :].any()
    assert abs(played.qvel[-1, 0]) < 0.3


def test_the_tables_have_every_sentence_whose_truth_can_be_told() -> None:
    told = [(robot.env_id, a.sentence) for robot in ROBOTS.values() for a in robot.asked if a.skill in truth.SKILLS]
    assert sorted(ATTACKED + HELD_BACK) == sorted(told)


@pytest.mark.parametrize(("env_id", "sentence"), ATTACKED + HELD_BACK)
def test_every_sentence_of_the_tables_is_measured(env_id: str, sentence: str) -> None:
    intent = BuiltinAuthor().elicit(sentence, catalog.load(env_id))
    assert all(criterion.predicate is not None for criterion in intent.criteria)
