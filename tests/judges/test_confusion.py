"""Which motions pass which sentences: every cell of a table is right, the ones that must fail included."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scripted_motions import Motion, Stage, arc, flip, go, ramp, spin, vary

from p2p.contracts.intent import Bound, Category, Comparison, Criterion, Intent, Predicate, Statistic, Window
from p2p.contracts.judgment import Judgment, Verdict
from p2p.contracts.rollout import Evaluation, Purpose, Rollout
from p2p.judges.code import CodeJudge

CHEETAH, ANT = "HalfCheetah-v5", "Ant-v5"
N_ROLLOUTS = 5
LEAST, MOST, BETWEEN = Comparison.AT_LEAST, Comparison.AT_MOST, Comparison.BETWEEN


@cache
def stage(env_id: str) -> Stage:
    return Stage(env_id)


def rock(motion: Motion) -> Motion:
    return replace(motion, pitch=0.5 * np.sin(2.0 * np.pi * motion.t))


def jump(motion: Motion) -> Motion:
    return replace(motion, lift=arc(motion.t, 1.0, 1.7, 0.6))


def over(motion: Motion, turns: float) -> Motion:
    """Go over on the ground, without leaving it."""
    return replace(motion, pitch=motion.pitch + ramp(motion.t, 1.0, 2.0, 2.0 * np.pi * turns))


def roll_over(motion: Motion) -> Motion:
    return replace(motion, roll=ramp(motion.t, 1.0, 2.0, np.pi))


def on_its_back(motion: Motion) -> Motion:
    return replace(motion, pitch=motion.pitch + np.pi)


CHEETAH_MOTIONS = {
    "stand": lambda m: m,
    "tremble": lambda m: replace(m, sway=0.3, stride_hz=4.0),
    "jump": jump,
    "rock": rock,
    "run forward": lambda m: go(m, 5.0),
    "creep forward": lambda m: go(m, 0.2),
    "run backward": lambda m: go(m, -5.0),
    "run forward, then back": lambda m: replace(go(m, 5.0), x=5.0 * np.minimum(m.t, 5.0 - m.t)),
    "slide on the back": lambda m: on_its_back(go(m, 5.0)),
    "fall on the nose": lambda m: over(m, -0.25),
    "fall on the back": lambda m: over(m, 0.5),
    "half flip backward": lambda m: flip(m, 0.5),
    "half flip forward": lambda m: flip(m, -0.5),
    "flip backward": lambda m: flip(m, 1.0),
    "flip forward": lambda m: flip(m, -1.0),
    "flip backward, then fall": lambda m: over(flip(m, 1.0, start=0.3, seconds=0.6), 0.5),
    "flip forward, then fall": lambda m: over(flip(m, -1.0, start=0.3, seconds=0.6), -0.25),
    "flip backward, then undo it": lambda m: flip(flip(m, 0.6), -0.6, start=2.0),
}
ANT_MOTIONS = {
    "stand": lambda m: m,
    "walk forward": lambda m: go(m, 0.8, 0.0),
    "walk left": lambda m: go(m, 0.0, 0.8),
    "walk right": lambda m: go(m, 0.0, -0.8),
    "fall over": roll_over,
    "spin left": lambda m: spin(m, 1.1),
    "spin right": lambda m: spin(m, -1.1),
    "half a turn left": lambda m: spin(m, 0.5),
    "half a turn right": lambda m: spin(m, -0.5),
    "spin left and back": lambda m: spin(spin(m, 0.9, seconds=2.0), -0.9, start=2.6, seconds=2.0),
    "spin left on the back": lambda m: replace(spin(m, 1.1), roll=np.full_like(m.t, np.pi)),
    "spin left while walking off": lambda m: spin(go(m, 0.8), 1.1),
}
MOTIONS = {CHEETAH: CHEETAH_MOTIONS, ANT: ANT_MOTIONS}

PASSES = {
    (CHEETAH, "stand still"): {"stand"},
    (CHEETAH, "run forward"): {"run forward"},
    (CHEETAH, "run backward"): {"run backward"},
    (CHEETAH, "flip backward once and land"): {"flip backward"},
    (CHEETAH, "flip forward"): {"flip forward"},
    (ANT, "stand still"): {"stand"},
    (ANT, "walk to the left"): {"walk left"},
    (ANT, "spin left one turn"): {"spin left"},
    (ANT, "spin right one turn"): {"spin right"},
}
"""Everything else must fail."""


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
    scores = {name: judge(env_id, sentence, name).intent_score or 0.0 for name in MOTIONS[env_id]}
    right = PASSES[env_id, sentence]
    assert min(scores[name] for name in right) > max(scores[name] for name in scores.keys() - right)


def judge(env_id: str, sentence: str, name: str) -> Judgment:
    features = played(env_id, name)
    rollouts = tuple(Rollout(seed=i, episode_return=0.0, length=len(f["time"])) for i, f in enumerate(features))
    evaluation = Evaluation(
        run_id="scripted", checkpoint=0, purpose=Purpose.REPORT, dt=stage(env_id).spec.dt, rollouts=rollouts
    )
    return CodeJudge().judge(wish(env_id, sentence), evaluation, features, 0.7)


@cache
def played(env_id: str, name: str) -> list[dict[str, np.ndarray]]:
    here = stage(env_id)
    return [here.play(vary(MOTIONS[env_id][name](here.still()), seed)) for seed in range(N_ROLLOUTS)]


@cache
def wish(env_id: str, sentence: str) -> Intent:
    claims = CLAIMS[sentence]
    criteria = [
        Criterion(key=key, title=key, description="", category=Category.DYNAMICS, predicate=claim)
        for key, claim in claims.items()
    ]
    return Intent(prompt=sentence, env_id=env_id, criteria=tuple(criteria))


def value(statistic, feature, comparison, threshold, margin, upper=None):
    return Predicate(
        statistic=statistic,
        feature=feature,
        comparison=comparison,
        threshold=threshold,
        upper=upper,
        unit="1",
        margin=margin,
    )


def share(feature, comparison, threshold, needed, after=()):
    return Predicate(
        statistic=Statistic.FRACTION,
        where=(Bound(feature=feature, comparison=comparison, threshold=threshold),),
        comparison=LEAST,
        threshold=needed,
        unit="1",
        margin=needed,
        window=Window(after=after),
    )


def turned(feature, turns):
    return Bound(feature=feature, comparison=LEAST if turns > 0 else MOST, threshold=0.95 * turns)


UPRIGHT = share("up", LEAST, 0.5, 0.9)
STILL = {
    "calm": share("joint_speed", MOST, 0.5, 0.8),
    "stays": value("max", "displacement", MOST, 0.4, 0.4),
    "upright": UPRIGHT,
    "grounded": value("max", "clearance", MOST, 0.1, 0.2),
    "level": value("max", "pitch_turns", MOST, 0.05, 0.05),
    "rests": share("pitch_rate", LEAST, -0.5, 0.9),
}
SPIN = {"upright": UPRIGHT, "stays": value("max", "displacement", MOST, 1.5, 1.5)}
CLAIMS = {
    "stand still": STILL,
    "run forward": {"fast": value("mean", "velocity_x", LEAST, 3.0, 3.0), "upright": UPRIGHT},
    "run backward": {"fast": value("mean", "velocity_x", MOST, -2.0, 2.0), "upright": UPRIGHT},
    "walk to the left": {"left": value("mean", "velocity_y", LEAST, 0.5, 0.5), "upright": UPRIGHT},
    "flip backward once and land": {
        "turns": value("max", "pitch_turns", BETWEEN, 0.95, 0.5, 1.5),
        "lands": share("up", LEAST, 0.6, 0.8, after=(turned("pitch_turns", 1.0),)),
    },
    "flip forward": {
        "turns": value("min", "pitch_turns", BETWEEN, -1.5, 0.5, -0.95),
        "lands": share("up", LEAST, 0.6, 0.8, after=(turned("pitch_turns", -1.0),)),
    },
    "spin left one turn": {"turns": value("final", "yaw_turns", LEAST, 0.95, 0.5), **SPIN},
    "spin right one turn": {"turns": value("final", "yaw_turns", MOST, -0.95, 0.5), **SPIN},
}
