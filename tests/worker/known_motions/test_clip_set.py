"""How many clips there are, of what, and that they are the same every time."""

import ast
from pathlib import Path

import numpy as np
import pytest

import p2p.lab.worker.clips
import p2p.worker.known_motions
from p2p.contracts.known_motions import ROBOTS, ClaimKind, ClipSet, KnownMotionsRequest
from p2p.lab.contracts.calibration import CalibrationRequest
from p2p.worker.known_motions import robots
from p2p.worker.known_motions.clips import MadeClip, make_clips, recipes_of, scenes

Made = tuple[ClipSet, list[MadeClip]]
WANTED = (
    *("stand$", "fall at the start", "travel as asked", "travel at 80 %", "the wrong way", "hop forward"),
    *("jump 3 times", "jump without turning", "flip 0.5", "flip 1 backward", "flip 2 forward", "and fall at once"),
    *("spin 1 to the left", "spin 2 to the right", "roll over", "crawl", "rear for", "fall in the last second"),
    *("vibrat", "slide on the back", "one velocity spike", "stand for the alive bonus", "cross the line by falling"),
    "slide on still feet",
)


def test_the_set_has_at_least_700_clips_of_at_least_four_robots() -> None:
    counts = {env_id: len(recipes_of(robots.ROBOTS[env_id])) for env_id in ROBOTS}
    assert len(counts) >= 4
    assert min(counts.values()) >= 40
    assert sum(counts.values()) * CalibrationRequest().variations >= 700


def test_the_contract_names_the_robots_of_the_set() -> None:
    assert tuple(robots.ROBOTS) == ROBOTS


@pytest.mark.parametrize("motion", WANTED)
def test_every_kind_of_motion_is_in_it(motion: str) -> None:
    names = {recipe.name for robot in robots.ROBOTS.values() for recipe in recipes_of(robot)}
    assert any(name.endswith(motion[:-1]) if motion.endswith("$") else motion in name for name in names)


@pytest.mark.parametrize("env_id", ROBOTS)
def test_every_sentence_has_clips_that_do_it_and_clips_that_almost_do(env_id: str) -> None:
    claims = [claim for clip, _ in scenes(robots.ROBOTS[env_id], 0, 1) for claim in clip.claims]
    for asked in robots.ROBOTS[env_id].asked:
        kinds = {claim.kind for claim in claims if claim.sentence == asked.sentence}
        assert {ClaimKind.POSITIVE, ClaimKind.NEGATIVE, ClaimKind.NEAR_MISS} <= kinds, asked.sentence
        assert ClaimKind.EXPLOIT in kinds or asked.skill in ("crawl", "roll"), asked.sentence


def kinds_of(env_id: str, motion: str) -> dict[str, ClaimKind]:
    """What the first clip of a motion is for each sentence."""
    clip = next(clip for clip, _ in scenes(robots.ROBOTS[env_id], 0, 1) if clip.motion == motion)
    return {claim.sentence: claim.kind for claim in clip.claims}


@pytest.mark.parametrize("env_id", ["Ant-v5", "Humanoid-v5", "Swimmer-v5"])
def test_who_is_told_no_direction_may_spin_to_either_side(env_id: str) -> None:
    for side in ("left", "right"):
        kinds = kinds_of(env_id, f"spin 1 to the {side}")
        assert kinds["spin in place"] is ClaimKind.POSITIVE
        assert (kinds.get("spin clockwise") is ClaimKind.POSITIVE) is (side == "right")


def test_more_than_the_number_that_is_said_is_a_near_miss() -> None:
    assert kinds_of("Ant-v5", "jump 4 times")["jump 3 times"] is ClaimKind.NEAR_MISS
    assert kinds_of("Ant-v5", "jump 4 times")["jump"] is ClaimKind.POSITIVE
    assert kinds_of("Ant-v5", "spin 0.8 to the right")["turn right 180 degrees"] is ClaimKind.NEAR_MISS
    assert kinds_of("Ant-v5", "spin 0.5 to the right")["turn right 180 degrees"] is ClaimKind.POSITIVE


def test_clips_have_ids_of_their_own(made: Made) -> None:
    ids = [clip.clip_id for clip in made[0].clips]
    assert len(set(ids)) == len(ids)
    assert made[0].index_of(ids[3]) == 3


def test_the_same_seed_makes_the_same_clips_to_the_bit_and_another_seed_others() -> None:
    one, again = (make_clips(KnownMotionsRequest(env_id="Swimmer-v5", seed=5, variations=1)) for _ in range(2))
    other = make_clips(KnownMotionsRequest(env_id="Swimmer-v5", seed=6, variations=1))
    assert one[0] == again[0]
    assert one[0] != other[0]
    for first, second in zip(one[1], again[1], strict=True):
        assert np.array_equal(first.played.qpos, second.played.qpos)
        assert all(np.array_equal(v, second.played.features[k]) for k, v in first.played.features.items())


def test_labels_know_nothing_of_predicates_judges_or_templates() -> None:
    """A label that came from what it is held against would prove nothing."""
    makers = (p2p.worker.known_motions, p2p.lab.worker.clips)
    for path in (path for maker in makers for path in Path(maker.__path__[0]).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert not name.startswith(("p2p.analysis", "p2p.judges", "p2p.agents", "p2p.rewards.templates")), path
