"""Which motions pass which sentences: every cell of a table is right, the ones that must fail included."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scripted_motions import Motion, Stage, arc, flip, go, ramp, spin, vary

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.contracts.intent import Intent
from p2p.contracts.judgment import Judgment, Verdict
from p2p.contracts.training import Evaluation, Purpose, Rollout
from p2p.judges.code import CodeJudge

CHEETAH, ANT, HOPPER = "HalfCheetah-v5", "Ant-v5", "Hopper-v5"
N_ROLLOUTS = 5


@cache
def stage(env_id: str) -> Stage:
    return Stage(env_id, stands_by_itself=env_id != HOPPER)


def rock(motion: Motion) -> Motion:
    return replace(motion, pitch=0.5 * np.sin(2.0 * np.pi * motion.t))


def circle(motion: Motion, radius: float) -> Motion:
    """Once round to the left, beginning on the circle."""
    angle = ramp(motion.t, 0.3, 4.5, 2.2 * np.pi)
    path = {"x": radius * np.sin(angle), "y": radius * (1.0 - np.cos(angle)), "yaw": angle, "sway": 0.2}
    return replace(motion, **path)


def jump(motion: Motion) -> Motion:
    return replace(motion, lift=arc(motion.t, 1.0, 1.7, 0.6))


def over(motion: Motion, turns: float, start: float = 1.0) -> Motion:
    """Go over on the ground, without leaving it."""
    return replace(motion, pitch=motion.pitch + ramp(motion.t, start, start + 1.0, 2.0 * np.pi * turns))


def roll_over(motion: Motion) -> Motion:
    return replace(motion, roll=ramp(motion.t, 1.0, 2.0, np.pi))


def on_its_back(motion: Motion) -> Motion:
    return replace(motion, pitch=motion.pitch + np.pi)


def hop(motion: Motion, vx: float) -> Motion:
    lift = 0.15 * np.maximum(0.0, np.sin(2.0 * np.pi * 2.0 * motion.t))
    return replace(go(motion, vx), lift=lift, sway=0.1)


def there_and_back(motion: Motion) -> Motion:
    return replace(go(motion, 5.0), x=5.0 * np.minimum(motion.t, motion.t[-1] - motion.t))


MOTIONS = {
    CHEETAH: {
        "stand": lambda m: m,
        "tremble": lambda m: replace(m, sway=0.3, stride_hz=4.0),
        "jump": jump,
        "rock": rock,
        "run forward": lambda m: go(m, 5.0),
        "creep forward": lambda m: go(m, 0.2),
        "run backward": lambda m: go(m, -5.0),
        "run forward, then back": there_and_back,
        "slide on the back": lambda m: on_its_back(go(m, 5.0)),
        "slide backward on the back": lambda m: on_its_back(go(m, -5.0)),
        "fall on the nose": lambda m: over(m, -0.25),
        "fall on the back": lambda m: over(m, 0.5),
        "half flip backward": lambda m: flip(m, 0.5),
        "half flip forward": lambda m: flip(m, -0.5),
        "flip backward": lambda m: flip(m, 1.0),
        "flip forward": lambda m: flip(m, -1.0),
        "flip backward twice": lambda m: flip(flip(m, 1.0), 1.0, start=2.5),
        "flip forward twice": lambda m: flip(flip(m, -1.0), -1.0, start=2.5),
        "roll backward on the ground": lambda m: over(m, 1.0),
        "roll forward on the ground": lambda m: over(m, -1.0),
        "flip backward, fall on the back at once": lambda m: flip(m, 1.5),
        "flip forward, fall on the back at once": lambda m: flip(m, -1.5),
        "flip backward, then fall on the back": lambda m: over(flip(m, 1.0, start=0.3), 0.5, start=1.2),
        "flip backward, then fall on the nose": lambda m: over(flip(m, 1.0, start=0.3), -0.25, start=1.2),
        "flip forward, then fall on the back": lambda m: over(flip(m, -1.0, start=0.3), 0.5, start=1.2),
        "flip forward, then fall on the nose": lambda m: over(flip(m, -1.0, start=0.3), -0.25, start=1.2),
        "flip backward late, then fall": lambda m: over(flip(m, 1.0, start=3.0), 0.5, start=3.9),
        "flip backward half way and undo it": lambda m: flip(flip(m, 0.6), -0.6, start=2.0),
        "flip backward, then run": lambda m: replace(flip(go(m, 0.0), 1.0), x=ramp(m.t, 2.0, 5.0, 9.0)),
    },
    ANT: {
        "stand": lambda m: m,
        "tremble": lambda m: replace(m, sway=0.3, stride_hz=4.0),
        "jump": jump,
        "walk forward": lambda m: go(m, 0.8, 0.0),
        "walk left": lambda m: go(m, 0.0, 0.8),
        "walk right": lambda m: go(m, 0.0, -0.8),
        "walk forward and left": lambda m: go(m, 0.8, 0.8),
        "walk left on the back": lambda m: replace(go(m, 0.0, 0.8), roll=np.full_like(m.t, np.pi)),
        "fall over": roll_over,
        "spin left": lambda m: spin(m, 1.1),
        "spin right": lambda m: spin(m, -1.1),
        "half a turn left": lambda m: spin(m, 0.5),
        "half a turn right": lambda m: spin(m, -0.5),
        "spin left most of a turn and back": lambda m: spin(spin(m, 0.9, seconds=2.0), -0.9, start=2.6, seconds=2.0),
        "spin left on the back": lambda m: replace(spin(m, 1.1), roll=np.full_like(m.t, np.pi)),
        "spin right on the back": lambda m: replace(spin(m, -1.1), roll=np.full_like(m.t, np.pi)),
        "spin left while walking off": lambda m: spin(go(m, 0.8), 1.1),
        "spin right while walking off": lambda m: spin(go(m, 0.8), -1.1),
        "spin left, then fall over": lambda m: replace(spin(m, 1.1), roll=ramp(m.t, 3.4, 4.0, np.pi)),
        "spin left, then stand": lambda m: replace(spin(m, 1.05), sway=np.where(m.t < 3.4, 0.1, 0.0)),
        "spin left, then walk off": lambda m: replace(
            spin(m, 1.05), x=ramp(m.t, 3.3, 5.0, -2.0), y=ramp(m.t, 3.3, 5.0, -2.0)
        ),
        "three turns right": lambda m: spin(m, -3.0, seconds=4.0),
        "half a turn right and back": lambda m: spin(spin(m, -0.55, seconds=1.5), 0.55, start=2.0, seconds=1.5),
        "round a circle, facing along it": lambda m: circle(m, 0.7),
        "spin right, then stand": lambda m: replace(spin(m, -1.05), sway=np.where(m.t < 3.4, 0.1, 0.0)),
    },
    HOPPER: {
        "stand": lambda m: m,
        "hop forward": lambda m: hop(m, 1.5),
        "hop backward": lambda m: hop(m, -1.5),
        "hop in place": lambda m: hop(m, 0.0),
        "glide forward": lambda m: go(m, 1.5),
        "hop forward, then fall": lambda m: over(hop(m, 1.5), -0.25, start=2.5),
        "fall forward": lambda m: over(m, -0.25, start=0.5),
        "fall backward": lambda m: over(m, 0.25, start=0.5),
    },
}
PASSES = {
    (CHEETAH, "stand still"): {"stand"},
    (CHEETAH, "run forward"): {"run forward"},
    (CHEETAH, "run backward"): {"run backward"},
    (CHEETAH, "jump"): {"jump", "flip backward", "flip forward"},
    (CHEETAH, "flip backward once and land"): {"flip backward", "flip backward, then run"},
    (CHEETAH, "flip forward once and land"): {"flip forward"},
    (CHEETAH, "do a backflip"): {"flip backward", "flip backward, then run"},
    (CHEETAH, "do backflips"): {"flip backward", "flip backward twice", "flip backward, then run"},
    (CHEETAH, "do a front flip"): {"flip forward"},
    (CHEETAH, "do two backflips"): {"flip backward twice"},
    (CHEETAH, "flip backward once, then stand still"): {"flip backward"},
    (ANT, "stand still"): {"stand"},
    (ANT, "walk forward"): {"walk forward"},
    (ANT, "walk to the left"): {"walk left"},
    (ANT, "walk to the right"): {"walk right"},
    (ANT, "spin left one turn"): {"spin left", "spin left, then stand"},
    (ANT, "spin right one turn"): {"spin right", "spin right, then stand"},
    (ANT, "spin in place"): {
        "spin left",
        "spin left, then stand",
        "spin right",
        "spin right, then stand",
        "three turns right",
    },
    (ANT, "turn right 180 degrees"): {"half a turn right"},
    (ANT, "spin left one turn, then stand still"): {"spin left, then stand"},
    (HOPPER, "stand still"): {"stand"},
    (HOPPER, "hop forward without falling"): {"hop forward"},
}
"""What passes; everything else must fail. A flip is a jump too; directions are the world's, and who walks keeps its
heading."""


@pytest.mark.parametrize(("env_id", "sentence"), PASSES)
def test_exactly_the_right_motions_pass(env_id, sentence):
    judgments = {name: judge(env_id, sentence, name) for name in MOTIONS[env_id]}
    assert all(judgment.verdict is not Verdict.NO_VERDICT for judgment in judgments.values())
    passed = {name for name, judgment in judgments.items() if judgment.passed}
    assert passed == PASSES[env_id, sentence], "\n".join(
        f"{name}: {judgments[name].diagnosis}" for name in passed ^ PASSES[env_id, sentence]
    )


@pytest.mark.parametrize(("env_id", "sentence"), PASSES)
def test_what_was_asked_scores_higher_than_anything_else(env_id, sentence):
    scores = {name: judge(env_id, sentence, name).intent_score for name in MOTIONS[env_id]}
    right = PASSES[env_id, sentence]
    assert min(scores[name] for name in right) > max(scores[name] for name in scores.keys() - right)


def judge(env_id: str, sentence: str, name: str) -> Judgment:
    intent = wish(env_id, sentence)
    features = played(env_id, name, intent.episode_s)
    rollouts = tuple(Rollout(seed=i, episode_return=0.0, length=len(f["time"])) for i, f in enumerate(features))
    evaluation = Evaluation(
        run_id="scripted", checkpoint=0, purpose=Purpose.REPORT, dt=stage(env_id).spec.dt, rollouts=rollouts
    )
    return CodeJudge().judge(intent, evaluation, features, 0.7)


@cache
def played(env_id: str, name: str, seconds: float) -> list[dict[str, np.ndarray]]:
    here = stage(env_id)
    return [here.play(vary(MOTIONS[env_id][name](here.still(seconds)), seed)) for seed in range(N_ROLLOUTS)]


@cache
def wish(env_id: str, sentence: str) -> Intent:
    return BuiltinAuthor().elicit(sentence, stage(env_id).spec)
