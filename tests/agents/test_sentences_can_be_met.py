"""Every sentence of the grammar is met by some motion: criteria that exclude one another are no exam."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import product

import numpy as np
import pytest
from feature_motions import Motion, at_rest, circles, flips, joined, jumps, moves, spec_of, spins, standing_height

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.analysis.predicates import measure
from p2p.contracts.errors import UnknownName
from p2p.contracts.intent import Intent
from p2p.lab.behaviours.grammar import grammar
from p2p.rewards.templates.body_table import body_of

SKILLS = {"move", "still", "jump", "spin", "flip", "posture"}
"""Whose motions are constructed here."""
ON_ONE_LEG = frozenset({"on_one_leg", "left_foot_down", "right_foot_down", "front_foot_down", "back_foot_down"})
"""Criteria of contacts of single feet, which are not constructed."""
A_FEW = 6
EACH_TIME = ("HalfCheetah-v5", "Ant-v5")
AT_NIGHT = ("Hopper-v5", "Walker2d-v5", "Swimmer-v5", "Humanoid-v5")


def motions(env: str, seconds: float) -> Iterator[Motion]:
    body, rest = body_of(spec_of(env)), at_rest(env, seconds)
    for height in (body.low - 0.02, standing_height(body), body.high + 0.02, *np.linspace(0.3, 1.5, 25)):
        yield rest | {"height": np.full_like(rest["time"], height)}
    for speed in (0.08, 0.4, 1.2):
        yield from moves(env, seconds, speed)
        yield from _on_the_floor(env, seconds, speed)
    if "jump" in body.skills:
        yield from jumps(env, seconds, 1.0)
        yield from _leaps(env, seconds)
    if "spin" in body.skills:
        for turns in (0.25, 0.5, 1.0, 1.5, 2.0, 3.0):
            yield from spins(env, seconds, turns)
        yield from circles(env, seconds, 1.0)
        yield from _low_circles(env, seconds)
    if "flip" in body.skills:
        yield from flips(env, seconds, 1.0)


def _on_the_floor(env: str, seconds: float, speed: float) -> Iterator[Motion]:
    """Without hops, along the diagonals too, and high."""
    body = body_of(spec_of(env))
    for motion in moves(env, seconds, speed):
        on_foot = motion | {"airborne": np.zeros_like(motion["time"]), "clearance": np.zeros_like(motion["time"])}
        yield on_foot
        yield on_foot | {"height": np.full_like(motion["time"], body.high + 0.02)}
        for way in (1.0, -1.0):
            aside = way * motion["velocity_x"]
            yield on_foot | {
                "velocity_y": aside,
                "lateral_velocity": aside,
                "displacement_y": way * motion["displacement_x"],
                "speed": np.sqrt(2.0) * motion["speed"],
            }


def _leaps(env: str, seconds: float) -> Iterator[Motion]:
    """Jumps that get on, forward or backward."""
    for motion in jumps(env, seconds, 1.0):
        for speed in (0.5, -0.5, 1.0, -1.0):
            travelled = speed * np.cumsum(motion["airborne"]) * motion["time"][0]
            yield motion | {
                "velocity_x": speed * motion["airborne"],
                "displacement_x": travelled,
                "displacement": np.abs(travelled),
            }


def _low_circles(env: str, seconds: float) -> Iterator[Motion]:
    for motion in circles(env, seconds, 1.0):
        yield motion | {"height": np.full_like(motion["time"], body_of(spec_of(env)).low - 0.02)}


@cache
def families(env: str, seconds: float) -> list[Motion]:
    return list(motions(env, seconds))


def least_missed(env: str, intent: Intent, among: Iterable[Motion]) -> set[str]:
    """What the best of some motions misses, of the criteria whose features they have."""
    least = {criterion.key for criterion in intent.criteria}
    for motion in among:
        missed = {one.key for one in measure(intent, motion, spec_of(env).dt) if not one.met}
        least = min(least, missed, key=len)
        if not least:
            break
    return least


def of_constructed(env: str, intent: Intent) -> Intent:
    """The intent without the criteria that read what no motion here has, such as the length of a step."""
    rest, dt = at_rest(env, 1.0), spec_of(env).dt
    read = []
    for criterion in intent.criteria:
        with suppress(UnknownName):
            measure(intent.model_copy(update={"criteria": (criterion.model_copy(update={"after": None}),)}), rest, dt)
            read.append(criterion)
    return intent.model_copy(update={"criteria": tuple(one for one in read if one.key not in ON_ONE_LEG)})


def intent_of(env: str, sentence: str) -> Intent:
    return of_constructed(env, BuiltinAuthor().elicit(sentence, spec_of(env)))


@cache
def some_that_meet(env: str, sentence: str) -> list[Motion]:
    """Some of the motions that meet a sentence of one step, as different as they come."""
    intent = intent_of(env, sentence)
    found = [motion for motion in families(env, intent.episode_s) if not least_missed(env, intent, [motion])]
    return found[:: max(len(found) // A_FEW, 1)]


def one_after_the_other(env: str, steps: Sequence[str], seconds: float) -> Iterator[Motion]:
    for first, second in product(*(some_that_meet(env, step) for step in steps)):
        for at_s in (0.6, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0):
            if at_s < seconds - 0.5:
                yield joined(first, second, at_s, seconds, spec_of(env).dt)


@pytest.mark.slow
@pytest.mark.parametrize("env", [*EACH_TIME, *(pytest.param(env, marks=pytest.mark.nightly) for env in AT_NIGHT)])
def test_no_sentence_asks_for_what_excludes_itself(env: str) -> None:
    asked = [one.sentence for one in grammar().behaviours if one.env_id == env and one.skill in SKILLS]
    intents = {sentence: intent_of(env, sentence) for sentence in asked}
    found = {text: least_missed(env, one, families(env, one.episode_s)) for text, one in intents.items()}
    assert {text: missed for text, missed in found.items() if missed} == {}


@pytest.mark.slow
@pytest.mark.parametrize("env", [*EACH_TIME, *(pytest.param(env, marks=pytest.mark.nightly) for env in AT_NIGHT)])
def test_no_sequence_asks_for_what_excludes_itself(env: str) -> None:
    found = {}
    for asked in grammar().behaviours:
        steps = asked.sentence.split(", then ")
        if asked.env_id == env and len(steps) == 2 and all(some_that_meet(env, step) for step in steps):
            intent = intent_of(env, asked.sentence)
            found[asked.sentence] = least_missed(env, intent, one_after_the_other(env, steps, intent.episode_s))
    assert found
    assert {text: missed for text, missed in found.items() if missed} == {}
