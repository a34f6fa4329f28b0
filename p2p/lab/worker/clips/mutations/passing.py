"""Mutations after which a clip still does what it did."""

from dataclasses import replace

import numpy as np

from p2p.lab.contracts.calibration import MutationFamily as Family
from p2p.lab.worker.clips.mutations.mutation import BaseClip, Mutant, Mutation, Truth
from p2p.worker.known_motions.motion import Motion, ramp
from p2p.worker.known_motions.scene import POSITIVE, Random

ALL = ("move", "hop", "crawl", "still", "jump", "flip", "spin", "rear", "roll")
TEMPO = {"still": (1.0, 1.0), "rear": (0.85, 0.95), "jump": (0.95, 1.06), "flip": (0.95, 1.06)}
"""Skill -> least and most of its tempo, where it is not that of travel: a rear is held longer; flights keep to
gravity."""
TRAVEL_TEMPO = (0.85, 1.18)


def _elsewhere(base: BaseClip, rng: Random) -> Mutant:
    """Begin at another place, with the joints a little off, as after a reset."""
    qpos = base.played.qpos.copy()
    first = base.stage.first_joint
    lift = base.stage.lift_of(qpos)
    place = 2 if base.robot.sideways else 1
    qpos[:, :place] += rng.uniform(-3.0, 3.0, place)
    off = rng.uniform(-0.08, 0.08, qpos.shape[1] - first)
    qpos[:, first:] += (1.0 - ramp(base.t, 0.0, 0.3))[:, None] * off
    return Mutant(base.stage.replay(qpos, base.played.actions, lift))


def _noisy(base: BaseClip, rng: Random) -> Mutant:
    """Slow, small noise on the joints, the place and the actions."""
    qpos = base.played.qpos.copy()
    first = base.stage.first_joint
    lift = base.stage.lift_of(qpos)
    size = rng.uniform(0.004, 0.012)
    for joint in range(first, qpos.shape[1]):
        hz, phase = rng.uniform(0.3, 1.2, 3), rng.uniform(0.0, 2.0 * np.pi, 3)
        qpos[:, joint] += size * np.sin(2.0 * np.pi * np.outer(base.t, hz) + phase).mean(axis=1)
    for axis in range(2 if base.robot.sideways else 1):
        qpos[:, axis] += 0.01 * np.sin(2.0 * np.pi * rng.uniform(0.2, 0.5) * base.t + rng.uniform(0.0, 6.0))
    actions = base.played.actions + rng.normal(0.0, 0.01, base.played.actions.shape)
    return Mutant(base.stage.replay(qpos, actions, lift), {"noise": size})


def _tempo(base: BaseClip, rng: Random) -> Mutant | None:
    """The same, faster or slower: so is a speed, and where the sentence does not allow that nothing is claimed."""
    skills = {a.skill for a in base.robot.asked if base.scene.kinds.get(a.sentence) is POSITIVE}
    low, high = (max(bounds) if end == 0 else min(bounds) for end, bounds in enumerate(
        zip(*(TEMPO.get(skill, TRAVEL_TEMPO) for skill in skills), strict=True)))  # fmt: skip
    if low >= high:
        return None
    factor = rng.uniform(low, high)
    quick = base.scene.build(Motion.standing(base.dt * factor, base.seconds * factor))
    motion = replace(quick, t=base.t, stride_hz=quick.stride_hz * factor)
    return Mutant(base.stage.play(motion), {"tempo": factor}, speed_factor=factor)


def _stride(base: BaseClip, rng: Random) -> Mutant | None:
    """Other strides at the same speed."""
    if not np.ptp(base.motion.x) + np.ptp(base.motion.y) or not base.motion.sway.max() or np.ptp(base.motion.lift):
        return None
    hz = base.motion.stride_hz * rng.choice([rng.uniform(0.8, 0.9), rng.uniform(1.1, 1.25)])
    phase = base.motion.phase + rng.uniform(0.0, 2.0 * np.pi)
    return Mutant(base.stage.play(base.motion.striding(hz, phase)), {"stride_hz": float(hz)})


def _same(reason: str, *skills: str) -> tuple[Truth, ...]:
    return (Truth(skills, POSITIVE, reason),)


PASSING = (
    Mutation("elsewhere", Family.OTHER_START, "begins elsewhere, with the joints a little off", _elsewhere,
             _same("the sentence does not mention where it begins", *ALL)),
    Mutation("noisy", Family.NOISE, "with small, slow noise", _noisy, _same("it does the same", *ALL)),
    Mutation("tempo", Family.TEMPO, "faster or slower", _tempo,
             _same("the sentence allows that speed", *ALL)),
    Mutation("stride", Family.TEMPO, "with other strides", _stride,
             _same("the sentence does not mention the strides", "move", "crawl")),
)  # fmt: skip
