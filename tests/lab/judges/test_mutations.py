"""What mutations do to clips, seen with MuJoCo's own states, against what they are said to do."""

from functools import cache

import mujoco
import numpy as np
import pytest

from p2p.contracts.known_motions import ROBOTS, Clip
from p2p.envs import catalog
from p2p.lab.contracts.calibration import ClipsRequest, HeldOut, MutationFamily
from p2p.lab.worker.clips.calibration_clips import MUTATIONS, make_clips
from p2p.worker.engine.environment import compiled_model
from p2p.worker.known_motions.clips import MadeClip
from p2p.worker.known_motions.robots import ROBOTS as BODIES

CHEAP = ("HalfCheetah-v5", pytest.param("Ant-v5", marks=pytest.mark.nightly), "Swimmer-v5")


@cache
def clips(env_id: str) -> list[MadeClip]:
    return make_clips(ClipsRequest(env_id=env_id, seed=3, variations=1, mutations=True))[1]


def mutants(env_id: str, key: str) -> list[MadeClip]:
    """Clips of one mutation, not empty."""
    found = [one for one in clips(env_id) if one.clip.clip_id.endswith(f"-{key}")]
    assert found, f"{env_id} has no clip that is {key}"
    return found


def base_of(env_id: str, mutant: MadeClip) -> MadeClip:
    name = mutant.clip.clip_id.rpartition("-")[0]
    return next(one for one in clips(env_id) if one.clip.clip_id == name)


def share_gone(one: MadeClip, first: float, last: float) -> float:
    """Share of the whole way that it gets on between two shares of the time."""
    place = one.played.qpos[:, : 2 if BODIES[one.clip.env_id].sideways else 1]
    begin, end = (place[round(share * (len(place) - 1))] for share in (first, last))
    return float(np.linalg.norm(end - begin) / max(1e-9, np.linalg.norm(place[-1] - place[0])))


def trunk_touches(one: MadeClip) -> np.ndarray:
    """Where MuJoCo finds a contact of the trunk with the world, shape (T + 1,)."""
    spec = catalog.load(one.clip.env_id)
    model = compiled_model(spec, {})
    trunk = {model.geom(name).id for name in spec.morphology.trunk}
    data, found = mujoco.MjData(model), []
    for qpos in one.played.qpos:
        data.qpos[:] = qpos
        mujoco.mj_forward(model, data)
        found.append(any(trunk & set(contact.geom) for contact in data.contact[: data.ncon]))
    return np.array(found)


def test_every_family_has_mutations_and_every_truth_a_reason() -> None:
    assert {mutation.family for mutation in MUTATIONS} == {*MutationFamily}
    assert len({mutation.key for mutation in MUTATIONS}) == len(MUTATIONS)
    for mutation in MUTATIONS:
        assert mutation.truths
        assert all(truth.reason and truth.skills for truth in mutation.truths)
        if mutation.family.harmless:
            assert all(truth.kind.holds for truth in mutation.truths)


@pytest.mark.parametrize("env_id", CHEAP)
def test_every_sentence_has_mutations_that_spoil_it_and_that_do_not(env_id: str) -> None:
    claims = [
        (claim.sentence, claim.kind.holds) for one in clips(env_id) if one.clip.mutation for claim in one.clip.claims
    ]
    for asked in BODIES[env_id].asked:
        assert (asked.sentence, True) in claims, asked.sentence
        if asked.skill not in ("rear", "roll"):
            assert (asked.sentence, False) in claims, asked.sentence


@pytest.mark.parametrize("env_id", CHEAP)
def test_what_is_stopped_moves_for_about_half_of_the_time(env_id: str) -> None:
    for one in (*mutants(env_id, "stopped"), *mutants(env_id, "hurried")):
        assert share_gone(one, 0.56, 1.0) < 1e-6
    for one in mutants(env_id, "late"):
        assert share_gone(one, 0.0, 0.44) < 1e-6
        assert share_gone(one, 0.0, 1.0) == pytest.approx(1.0)


@pytest.mark.parametrize("env_id", CHEAP)
def test_played_backward_ends_where_it_would_have_begun(env_id: str) -> None:
    for one in mutants(env_id, "backward"):
        base = base_of(env_id, one).played.qpos
        across = 2 if BODIES[env_id].sideways else 1
        assert one.played.qpos[0, :across] == pytest.approx(base[0, :across])
        assert (one.played.qpos[-1] - one.played.qpos[0])[:across] == pytest.approx((base[0] - base[-1])[:across])


@pytest.mark.parametrize("env_id", CHEAP)
def test_frozen_joints_do_not_move_while_the_root_goes_on(env_id: str) -> None:
    first = 7 if env_id == "Ant-v5" else 3
    for one in (*mutants(env_id, "frozen"), *mutants(env_id, "posed"), *mutants(env_id, "vibrating")):
        most = 0.041 if one.clip.clip_id.endswith("vibrating") else 1e-9
        assert np.ptp(one.played.qpos[:, first:], axis=0).max() <= most
        gone, before = (np.abs(np.diff(made.played.qpos[[0, -1], :2], axis=0)) for made in (one, base_of(env_id, one)))
        assert gone[0, 0] == pytest.approx(before[0, 0])


def test_what_rests_on_its_trunk_touches_the_floor_with_it() -> None:
    for one in mutants("HalfCheetah-v5", "trunk"):
        assert trunk_touches(one).mean() > 0.9, one.clip
    for one in mutants("HalfCheetah-v5", "sinking")[:3]:
        assert 0.3 < trunk_touches(one).mean() < 0.6, one.clip


@pytest.mark.parametrize("env_id", CHEAP[:2])
def test_without_motors_what_went_stands_at_the_end(env_id: str) -> None:
    for one in mutants(env_id, "motors"):
        off = round(one.clip.parameters["off_at"] / catalog.load(env_id).dt)
        assert not one.played.actions[off:].any()
        if not any(claim.kind.holds for claim in one.clip.claims):
            assert np.abs(one.played.qvel[-1, :2]).max() < 0.2, one.clip


@pytest.mark.parametrize("env_id", CHEAP)
def test_what_rests_stands_for_half_of_the_time_and_what_goes_to_and_fro_goes_back_for_two_fifths(env_id: str) -> None:
    across = 2 if BODIES[env_id].sideways else 1
    for key, least, most in (("rests", 0.35, 0.65), ("fro", 0.36, 0.44)):
        for one in mutants(env_id, key):
            gone = one.played.qpos[-1, :across] - one.played.qpos[0, :across]
            speeds = np.diff(one.played.qpos[:, int(np.argmax(np.abs(gone)))]) * np.sign(gone[np.argmax(np.abs(gone))])
            share = np.mean(np.abs(speeds) < 1e-9 if key == "rests" else speeds < 0.0)
            assert least < share < most, one.clip
            assert gone == pytest.approx((lambda q: q[-1] - q[0])(base_of(env_id, one).played.qpos[:, :across]))


@pytest.mark.parametrize("env_id", CHEAP[:2])
def test_half_of_the_legs_are_stiff_and_the_others_swing(env_id: str) -> None:
    for one in mutants(env_id, "stiff"):
        swings = np.ptp(one.played.qpos[:, 7 if env_id == "Ant-v5" else 3 :], axis=0)
        assert np.sum(swings < 1e-9) == len(swings) // 2
        assert swings.max() > 0.1


def test_what_sways_falls_or_leans_does_so_by_as_much_as_it_says() -> None:
    for one in mutants("HalfCheetah-v5", "sways"):
        assert np.ptp(one.played.qpos[:, 2]) > 0.3
    for one in mutants("HalfCheetah-v5", "bends"):
        assert np.ptp(one.played.qpos[:, 3:], axis=0).min() > 0.8
    for one in mutants("HalfCheetah-v5", "leans"):
        assert np.all(np.abs(one.played.qpos[:, 2]) > 0.85)
    for one in mutants("HalfCheetah-v5", "toppled"):
        turned = np.abs(one.played.qpos[-5:, 2] - base_of("HalfCheetah-v5", one).played.qpos[-5:, 2])
        assert np.all(turned > 1.5), one.clip
    assert not [one for one in clips("HalfCheetah-v5") if one.clip.mutation == MutationFamily.SMALL_LEAN]


def test_one_more_lower_jump_and_a_flip_on_the_back_are_what_they_say() -> None:
    for one in mutants("HalfCheetah-v5", "lower"):
        aloft = one.played.features["clearance"] > 0.6 * one.clip.parameters["lower"]
        times = sum(aloft[1:] & ~aloft[:-1])
        before = base_of("HalfCheetah-v5", one).played.features["clearance"] > 0.6 * one.clip.parameters["lower"]
        assert times == sum(before[1:] & ~before[:-1]) + 1
    for one in mutants("HalfCheetah-v5", "onback"):
        upside_down = np.cos(one.played.qpos[:, 2]) < -0.9
        assert trunk_touches(one)[upside_down].any(), one.clip


@pytest.mark.nightly
def test_a_swing_too_far_comes_back_to_where_it_should_have_ended() -> None:
    for one in mutants("Ant-v5", "overshoot"):
        yaw = one.played.features["yaw_turns"]
        ends = base_of("Ant-v5", one).played.features["yaw_turns"][-1]
        assert yaw[-1] == pytest.approx(ends, abs=0.01)
        assert np.abs(yaw).max() > abs(ends) + 0.3


@pytest.mark.parametrize("env_id", CHEAP)
def test_uneven_and_weaving_clips_go_as_far_as_before(env_id: str) -> None:
    across = 2 if BODIES[env_id].sideways else 1
    for key in ("uneven", "weaving") if BODIES[env_id].sideways else ("uneven",):
        for one in mutants(env_id, key):
            gone, before = (made.played.qpos[-1] - made.played.qpos[0] for made in (one, base_of(env_id, one)))
            assert gone[:across] == pytest.approx(before[:across], abs=1e-6)


def test_one_more_and_one_less_are_as_many_as_they_say() -> None:
    for key in ("less", "more"):
        for one in mutants("HalfCheetah-v5", key):
            pitch = abs(one.played.qpos[-1, 2] - one.played.qpos[0, 2]) / (2.0 * np.pi)
            if "turns" in one.clip.parameters:
                assert pitch == pytest.approx(one.clip.parameters["turns"], abs=0.01)
            else:
                high = one.played.qpos[:, 1] - one.played.qpos[0, 1] > 0.1
                assert np.sum(high[1:] & ~high[:-1]) == one.clip.parameters["times"]


@pytest.mark.parametrize("env_id", CHEAP)
def test_harmless_changes_keep_what_was_done(env_id: str) -> None:
    for key in ("elsewhere", "noisy", "stride"):
        for one in mutants(env_id, key):
            root = {"Ant-v5": [0, 1, 3, 4, 5, 6], "Swimmer-v5": [0, 1, 2]}.get(env_id, [0, 2])  # all but the height
            gone, before = (made.played.qpos[-1] - made.played.qpos[0] for made in (one, base_of(env_id, one)))
            assert gone[root] == pytest.approx(before[root], abs=0.03), one.clip


def test_another_tempo_is_claimed_only_within_the_speed_that_is_asked_for() -> None:
    asked = {each.sentence: each for each in BODIES["HalfCheetah-v5"].asked}
    for one in mutants("HalfCheetah-v5", "tempo"):
        speed = abs(one.played.qpos[-1, 0] - one.played.qpos[0, 0]) / one.clip.seconds
        for claim in one.clip.claims:
            if asked[claim.sentence].skill in ("move", "hop", "crawl"):
                assert asked[claim.sentence].low <= speed <= asked[claim.sentence].high


def test_the_same_seed_makes_the_same_mutants_to_the_bit() -> None:
    again = make_clips(ClipsRequest(env_id="Swimmer-v5", seed=3, variations=1, mutations=True))[1]
    assert [one.clip for one in again] == [one.clip for one in clips("Swimmer-v5")]
    for one, other in zip(again, clips("Swimmer-v5"), strict=True):
        assert np.array_equal(one.played.qpos, other.played.qpos)


def test_a_clip_that_does_not_do_what_is_asked_has_no_mutants() -> None:
    bases = {one.clip.clip_id.rpartition("-")[0] for one in clips("Swimmer-v5") if one.clip.mutation}
    for one in clips("Swimmer-v5"):
        if one.clip.clip_id in bases:
            assert any(claim.kind.holds for claim in one.clip.claims)


def test_what_is_held_out_follows_from_the_seed_and_leaves_something_to_mend_on() -> None:
    assert HeldOut.drawn(3) == HeldOut.drawn(3)
    assert len({HeldOut.drawn(seed).families for seed in range(20)}) > 5
    for seed in range(20):
        held = HeldOut.drawn(seed)
        older = [family for family in held.families if not family.newest]
        assert sum(family.harmless for family in older) == 1
        assert len({*older}) == 4
        assert {*held.families} >= {family for family in MutationFamily if family.newest}
        assert {*held.env_ids} < {*ROBOTS}


def test_only_mutated_clips_are_held_out() -> None:
    held = HeldOut(seed=0, families=(MutationFamily.STOPPED,), env_ids=("Ant-v5",))

    def clip(env_id: str, mutation: MutationFamily | None) -> Clip:
        return Clip(clip_id="c", env_id=env_id, motion="m", parameters={}, seconds=6.0, claims=(), mutation=mutation)

    assert held.holds(clip("Hopper-v5", MutationFamily.STOPPED))
    assert held.holds(clip("Ant-v5", MutationFamily.END))
    assert not held.holds(clip("Hopper-v5", MutationFamily.END))
    assert not held.holds(clip("Ant-v5", None))
