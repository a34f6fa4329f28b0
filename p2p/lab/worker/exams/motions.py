"""Motions of one exam: those that do what its sentence asks for, those that a rule spoilt, those of other sentences."""

import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from math import pi

import numpy as np

from p2p.contracts.env import inner_joints, joints_of_leg
from p2p.contracts.intent import Intent
from p2p.contracts.known_motions import ClaimKind
from p2p.envs import catalog
from p2p.lab.contracts.exams import POSITIVE_RULE
from p2p.lab.worker.clips.calibration_clips import mutated
from p2p.lab.worker.clips.mutations.mutation import BaseClip
from p2p.lab.worker.exams.phases import Floats, draw
from p2p.lab.worker.exams.rules import RULES, Setting
from p2p.lab.worker.exams.script import Script
from p2p.lab.worker.exams.scripts import ant, fixed, half_cheetah, hopper, humanoid, swimmer, walker
from p2p.worker.known_motions.clips import play_scenes
from p2p.worker.known_motions.motion_player import MotionPlayer, Played
from p2p.worker.known_motions.robots import ROBOTS, KnownSentence, Robot
from p2p.worker.known_motions.scene import NEGATIVE, POSITIVE

SCRIPTS: dict[tuple[str, str], Script] = {
    key: script
    for module in (half_cheetah, hopper, walker, ant, humanoid, swimmer)
    for key, script in module.SCRIPTS.items()
}
LYING = Robot("HumanoidStandup-v5", (), fall=("roll", pi / 2), fall_back=("roll", -pi / 2), back=("pitch", pi / 2))
Seeded = Callable[[str, int], np.random.Generator]
"""Generator of a rule and a number."""
POSITIVES = 4
"""Motions that do what is asked, as a multiple of those of each rule."""


@dataclass(frozen=True)
class ExamMotion:
    """One motion with its truth."""

    rule: str
    words: str
    kind: ClaimKind
    number: int
    played: Played


def motions_of(suite: str, case: str, exam: Intent, seed: int, variations: int) -> Iterator[ExamMotion]:
    """All motions of an exam, the same for the same arguments; none of a case without a script."""
    key = (suite, case)
    if key in fixed.PATHS:
        yield from _of_paths(fixed.PATHS[key], exam, (seed, zlib.crc32(case.encode())), variations)
    elif key in SCRIPTS:
        yield from _of_script(key, exam, seed, variations)


def _of_script(key: tuple[str, str], exam: Intent, seed: int, variations: int) -> Iterator[ExamMotion]:
    script = SCRIPTS[key]
    robot = ROBOTS.get(exam.env_id, LYING)
    stage = _stage(exam, robot)
    setting = Setting(robot, script, stage.spec.dt, exam.episode_s)
    number_of_case = zlib.crc32("/".join(key).encode())

    def rng(rule: str, number: int) -> np.random.Generator:
        return np.random.default_rng([seed, number_of_case, zlib.crc32(rule.encode()), number])

    yield from _positives(setting, stage, rng, POSITIVES * variations)
    yield from _spoilt(setting, stage, rng, variations)
    if script.known is not None:
        yield from _of_known(setting, script.known, stage, (seed, variations))
    for other, theirs in _others(key):
        rule = f"as {'/'.join(other)}"
        drawn = draw(theirs.phases, stage.spec.dt, exam.episode_s, rng(rule, 0))
        yield ExamMotion(rule, f"does {other[1]}", NEGATIVE, 0, stage.play(drawn.motion, drawn.joints))


def _positives(setting: Setting, stage: MotionPlayer, rng: Seeded, count: int) -> Iterator[ExamMotion]:
    """Motions that do what is asked; every other pair of them with a little noise."""
    for number in range(count):
        drawn = setting.positive(rng(POSITIVE_RULE, number))
        joints = dict(drawn.joints)
        if number // 2 % 2:
            for name, path in _noise(stage, drawn.motion.t, rng("noise", number)).items():
                joints[name] = joints.get(name, 0.0) + path
        yield ExamMotion(POSITIVE_RULE, "does it", POSITIVE, number, stage.play(drawn.motion, joints))


def _spoilt(setting: Setting, stage: MotionPlayer, rng: Seeded, variations: int) -> Iterator[ExamMotion]:
    for rule in RULES:
        for number in range(0 if rule.key in setting.script.without else variations):
            made = rule.make(setting, rng(rule.key, number))
            if made is not None:
                played = stage.play(made.motion, made.joints)
                if np.isfinite(played.qpos).all():
                    yield ExamMotion(rule.key, rule.words, rule.kind, number, played)


def _others(key: tuple[str, str]) -> Iterator[tuple[tuple[str, str], Script]]:
    """Scripts of the same robot that ask for something else."""
    mine = SCRIPTS[key]
    for other, theirs in SCRIPTS.items():
        alike = theirs.family in (mine.family, *mine.unclear_with) or mine.family in theirs.unclear_with
        if env_of(other) == env_of(key) and not alike:
            yield other, theirs


def _of_known(
    setting: Setting, asked: KnownSentence, stage: MotionPlayer, drawn: tuple[int, int]
) -> Iterator[ExamMotion]:
    """Clips of the judges' calibration set, and changed ones, for one sentence."""
    mine = replace(setting.robot, asked=(asked,), seconds=setting.seconds)
    seed, variations = drawn
    numbers: Counter[str] = Counter()
    for one, scene, motion in play_scenes(mine, stage, seed, variations):
        made = [one]
        if motion.limp is None:
            made += mutated(one.clip, BaseClip(mine, stage, scene, motion, one.played), seed)
        for clip in made:
            kind = clip.clip.kind_for(asked.sentence)
            unclear = any(words in clip.clip.motion for words in setting.script.unclear_clips)
            if kind is None or unclear or not np.isfinite(clip.played.qpos).all():
                continue
            rule = f"clip: {clip.clip.mutation or clip.clip.motion}"
            if kind is POSITIVE:
                rule = POSITIVE_RULE
            yield ExamMotion(rule, clip.clip.motion, kind, POSITIVES * variations + numbers[rule], clip.played)
            numbers[rule] += 1


def _noise(stage: MotionPlayer, t: Floats, rng: np.random.Generator) -> dict[str, Floats]:
    """Slow, small noise, within 0.01 rad, of the joints that no foot hangs on: a foot would leave the floor by it."""
    legs = {joint for foot in stage.spec.morphology.feet for joint in joints_of_leg(stage.spec, foot)}
    return {
        joint: 0.01 * np.sin(2.0 * np.pi * rng.uniform(0.3, 1.0) * t + rng.uniform(0.0, 6.0))
        for joint in inner_joints(stage.spec)
        if joint not in legs
    }


def env_of(key: tuple[str, str]) -> str:
    """Robot of a script, by the module it is in and the name of the case."""
    return key[1].partition("-")[0]


def _of_paths(
    paths: Collection[fixed.Paths], exam: Intent, seed: tuple[int, int], variations: int
) -> Iterator[ExamMotion]:
    robot = replace(LYING, env_id=exam.env_id)
    stage = _stage(exam, robot)
    dt = stage.spec.dt
    t = dt * np.arange(round(exam.episode_s / dt) + 1, dtype=np.float64)
    low = np.array([actuator.low for actuator in stage.spec.action])
    high = np.array([actuator.high for actuator in stage.spec.action])
    for one in paths:
        for number in range(variations * (POSITIVES if one.kind is POSITIVE else 1)):
            rng = np.random.default_rng([*seed, zlib.crc32(one.key.encode()), number])
            qpos, effort = one.make(t, rng)
            signs = np.where(np.arange(len(low)) % 2, -1.0, 1.0)
            swing = (high - low) / 2.0 * effort[1:, None] * signs
            actions = np.asarray((low + high) / 2.0 + swing, dtype=np.float64)
            yield ExamMotion(one.key, one.words, one.kind, number, stage.replay(qpos, actions))


def _stage(exam: Intent, robot: Robot) -> MotionPlayer:
    names = {name for one in exam.criteria if one.predicate is not None for name in one.predicate.names()}
    return MotionPlayer(catalog.load(exam.env_id), robot.settles, np.array(robot.crouch or 0.0), sorted(names))
