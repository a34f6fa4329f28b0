"""Drawn gaits: their strides are those they were drawn with, and the built-in author's criteria tell them apart."""

from pathlib import Path

import numpy as np
import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.analysis.predicates import measure
from p2p.contracts.env import EnvSpec
from p2p.envs.catalog import load
from p2p.lab.worker.clips.gait_clips import KINDS, GaitArtist, GaitClip, gait_clips
from p2p.rewards.legs import four_feet
from p2p.worker.description.describe import describe_robot
from p2p.worker.known_motions.motion_player import MotionPlayer

PONY = Path(__file__).parents[2] / "examples" / "pony.xml"
SENTENCES = {
    "trot": "trot forward at 0.8 m/s",
    "pace": "pace forward at 0.8 m/s",
    "bound": "bound forward",
    "amble": "amble forward",
}
WALKS = ("trot", "walk of four beats", "walk with two legs at a time")
"""Of these a walk takes any order of the feet."""
IMITATIONS = ("slide", "pogo", "dragged", "turn away", "gliding", "wide curve", "then stand", "all feet at once")


@pytest.fixture(scope="module")
def pony() -> EnvSpec:
    return describe_robot("pony", PONY)


@pytest.fixture(scope="module")
def clips(pony: EnvSpec) -> list[GaitClip]:
    return list(gait_clips(pony, seed=3, variations=1))


def player(pony: EnvSpec, names: set[str]) -> MotionPlayer:
    return MotionPlayer(pony, False, np.array(0.0), sorted(names))


def test_strides_are_measured_as_they_were_drawn(pony: EnvSpec, clips: list[GaitClip]) -> None:
    feet = four_feet(pony)
    assert feet is not None
    pairs = {(0, 1): f"{feet[0]}:{feet[1]}", (0, 3): f"{feet[0]}:{feet[3]}", (1, 2): f"{feet[1]}:{feet[2]}"}
    names = {f"phase_offset:{pair}" for pair in pairs.values()} | {f"duty_factor:{foot}" for foot in feet}
    stage = player(pony, names)
    for clip in clips:
        gait = clip.kind.gait
        if not clip.kind.does or gait.bounce or gait.still:
            continue
        features = stage.measured(clip.qpos, clip.qvel, clip.actions).features
        for (one, other), pair in pairs.items():
            apart = (gait.phases[one] - gait.phases[other]) % 1.0
            found = np.median(features[f"phase_offset:{pair}"][75:])
            assert found == pytest.approx(min(apart, 1.0 - apart), abs=0.06), clip.kind.name
        for foot in feet:
            assert np.median(features[f"duty_factor:{foot}"][75:]) == pytest.approx(gait.duty, abs=0.08), clip.kind.name


def test_criteria_pass_what_does_it_and_nothing_else(pony: EnvSpec, clips: list[GaitClip]) -> None:
    author = BuiltinAuthor()
    intents = {gait: author.elicit(sentence, pony) for gait, sentence in SENTENCES.items()}
    stage = player(pony, {n for i in intents.values() for c in i.criteria if c.predicate for n in c.predicate.names()})
    wrong = []
    for clip in clips:
        features = stage.measured(clip.qpos, clip.qvel, clip.actions).features
        for gait, intent in intents.items():
            missed = [one.key for one in measure(intent, features, pony.dt) if not one.met]
            if gait not in clip.kind.unclear and bool(missed) == (gait in clip.kind.does):
                wrong.append((clip.kind.name, gait, missed))
    assert wrong == []
    assert len(clips) == len(KINDS)


def test_only_four_legged_robots_from_model_files_are_drawn() -> None:
    with pytest.raises(ValueError, match="no four-legged robot"):
        GaitArtist(load("Ant-v5"))


def test_a_walk_in_any_order_keeps_its_heading_and_neither_bounces_nor_slides(
    pony: EnvSpec, clips: list[GaitClip]
) -> None:
    intent = BuiltinAuthor().elicit("walk forward", pony)
    stage = player(pony, {name for one in intent.criteria if one.predicate for name in one.predicate.names()})
    for clip in clips:
        true, imitated = clip.kind.name in WALKS, any(words in clip.kind.name for words in IMITATIONS)
        if true or imitated:
            features = stage.measured(clip.qpos, clip.qvel, clip.actions).features
            missed = [one.key for one in measure(intent, features, pony.dt) if not one.met]
            assert bool(missed) == imitated, (clip.kind.name, missed)
