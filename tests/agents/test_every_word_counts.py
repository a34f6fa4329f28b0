"""No word is understood and then ignored: with it or without it, a sentence is judged by something else."""

from itertools import product

import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.contracts.errors import UnknownPhrase
from p2p.envs.catalog import load
from p2p.rewards.templates.body_table import body_of
from p2p.rewards.templates.skill import Direction
from p2p.rewards.templates.top_speeds import fastest

AUTHOR = BuiltinAuthor()
BASES = {
    "HalfCheetah-v5": ("run", "walk", "hop forward", "crawl", "stand still", "jump", "do a backflip", "rear up"),
    "Hopper-v5": ("hop forward", "run backward", "stay upright", "jump", "do a front flip"),
    "Walker2d-v5": ("walk", "run backward", "stand still", "balance", "jump"),
    "Ant-v5": ("walk", "walk to the left", "run", "spin", "turn right 90 degrees", "jump", "stand still",
               "follow commands"),
    "Swimmer-v5": ("swim", "stay still", "spin left"),
    "Humanoid-v5": ("walk", "run", "spin right", "stand still", "jump"),
}  # fmt: skip
ADDED = (
    "backward", "to the right", "slowly", "very slowly", "fast", "very fast", "as fast as you can", "at 2 m/s",
    "at least 2 m/s", "at most 2 m/s", "between 1 and 2 m/s", "exactly 1 m/s", "for 7 seconds", "twice", "3 times",
    "at least 3 times", "at most 3 times", "exactly twice", "once", "repeatedly", "as high as possible", "high", "low",
    "0.1 m high", "at most 0.1 m high", "at a height of 0.6 m", "smoothly", "with minimum energy", "in a straight line",
    "without jumping", "without turning over", "while facing forward", "without turning", "without stopping",
    "without swaying", "without leaning", "without touching the floor with your trunk", "without crouching",
    "without sliding", "on one leg", "on your left leg", "without using the left leg", "diagonally forward left",
    "in a circle to the left", "clockwise", "a full turn", "land on your feet", "then stand still", "then jump",
    "land softly", "on tiptoe", "with small steps", "with long steps", "with your head up", "with your head down",
    "with your head still", "without nodding", "in circles", "diagonally",
)  # fmt: skip
IMPLIED = frozenset({
    ("crawl", "low"),
    *product(("do a backflip", "do a front flip"), ("once", "a full turn")),
    *product(("spin", "spin left", "spin right"), ("once", "a full turn")),
    *product(("spin right", "turn right 90 degrees"), ("clockwise", "to the right")),
    ("turn right 90 degrees", "once"),
    ("run backward", "backward"),
    ("do a backflip", "backward"),
    ("jump", "land on your feet"),
})  # fmt: skip
"""What a sentence says already: a turn in a direction that it names, the one turn that a spin is, how a jump ends."""
PLANAR = frozenset({"HalfCheetah-v5", "Hopper-v5", "Walker2d-v5"})


def implied(env: str, base: str, added: str) -> bool:
    """Whether a sentence means the same with and without it, as "straight" does in a plane.

    How fast some robots can go was never measured: to run as fast as possible is judged as to run, and that is said.
    """
    straight = added == "in a straight line" and env in PLANAR
    usual = added == f"{body_of(load(env)).jump.once:g} m high" and base == "jump"
    way = Direction.BACKWARD if "backward" in base else Direction.FORWARD
    unmeasured = "fast" in added and base.startswith("run") and fastest(body_of(load(env)), way, 0.0) == 0.0
    return straight or usual or unmeasured or (base, added) in IMPLIED


def judged(env: str, sentence: str) -> object:
    """What a sentence is judged by, in which length of episode; None where it is refused."""
    try:
        intent = AUTHOR.elicit(sentence, load(env))
    except UnknownPhrase:
        return None
    return intent.criteria, intent.episode_s, intent.commands


@pytest.mark.parametrize("env", BASES)
def test_a_word_that_is_understood_changes_what_a_sentence_is_judged_by(env: str) -> None:
    ignored = []
    for base, added in product(BASES[env], ADDED):
        if implied(env, base, added):
            continue
        before, after = judged(env, base), judged(env, f"{base} {added}")
        assert before is not None, base
        if before == after:
            ignored.append((base, added))
    assert ignored == []


@pytest.mark.parametrize("env", BASES)
def test_most_pairs_are_understood_or_refused_and_none_crashes(env: str) -> None:
    found = [judged(env, f"{base} {added}") for base, added in product(BASES[env], ADDED)]
    assert sum(one is not None for one in found) > 0.2 * len(found)


@pytest.mark.parametrize(
    ("env", "sentence", "told"),
    [
        ("HalfCheetah-v5", "trot forward at 0.8 m/s", True),
        ("HalfCheetah-v5", "run forward at 0.8 m/s", False),
        ("Ant-v5", "trot forward at 0.8 m/s", False),
    ],
)
def test_a_gait_whose_order_of_feet_is_not_judged_is_called_so(env: str, sentence: str, told: bool) -> None:
    said = " ".join(AUTHOR.understand(sentence, load(env)).assumed)
    assert ("order in which the feet come down is not judged" in said) == told


def test_where_no_top_speed_was_measured_the_author_says_so() -> None:
    said = " ".join(AUTHOR.understand("run as fast as you can", load("Ant-v5")).assumed)
    assert "was not measured" in said
    assert "was not measured" not in " ".join(AUTHOR.understand("run fast", load("HalfCheetah-v5")).assumed)
