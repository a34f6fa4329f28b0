"""Mutations written after the criteria had been mended for the last time: they are held out.

Once criteria are mended on them, their families are no longer among the newest, and others have to be written.
"""

from dataclasses import replace

import numpy as np

from p2p.contracts.env import joints_of_leg
from p2p.lab.contracts.calibration import MutationFamily as Family
from p2p.lab.worker.clips.mutations.failing import TRAVEL, fallen, travels
from p2p.lab.worker.clips.mutations.mutation import BaseClip, Mutant, Mutation, Truth
from p2p.lab.worker.clips.mutations.path_edits import along, events
from p2p.worker.known_motions.motion import during, jump, ramp
from p2p.worker.known_motions.robots import KnownSentence, Robot
from p2p.worker.known_motions.scene import EXPLOIT, NEAR_MISS, POSITIVE, Random

ALL_LEGS = ("walk", "run", "crawl")
"""First words of the sentences that name a gait of all legs."""


def _steps(_robot: Robot, asked: KnownSentence) -> bool:
    return asked.sentence.startswith(ALL_LEGS)


def _exact(_robot: Robot, asked: KnownSentence) -> bool:
    return asked.exact


# Travel -------------------------------------------------------------------------------------------------------------
def _rests(base: BaseClip, rng: Random) -> Mutant | None:
    """Go the whole way in dashes, and rest for about half of every two seconds."""
    if not travels(base):
        return None
    period, share, phase = rng.uniform(1.6, 2.4), rng.uniform(0.45, 0.55), rng.uniform(0.0, 1.0)
    going = 1.0 * ((base.t / period + phase) % 1.0 >= share)
    times = np.concatenate([[0.0], np.cumsum(going[1:] * base.dt)])
    moved = along(base.motion, times * base.seconds / times[-1])
    moved = replace(moved, sway=moved.sway * going, lift=moved.lift * going, effort=moved.effort * going)
    return Mutant(base.stage.play(moved), {"period": period, "share": share})


def _to_and_fro(base: BaseClip, rng: Random) -> Mutant | None:
    """Go forth and back, back for about two fifths of the time; the whole way is as before."""
    if not travels(base):
        return None
    path = "x" if abs(base.motion.x[-1]) > abs(base.motion.y[-1]) else "y"
    speed = getattr(base.motion, path)[-1] / base.seconds
    times, swings = rng.uniform(3.0, 4.0), rng.integers(3, 6)
    hz = swings / base.seconds
    swing = times * speed / (2.0 * np.pi * hz) * np.sin(2.0 * np.pi * hz * base.t)
    return Mutant(base.stage.play(base.motion.plus(**{path: swing})), {"times": times, "hz": float(hz)})


def _stiff_legs(base: BaseClip, rng: Random) -> Mutant | None:
    """Hold half of the legs as they are when it stands, and go on with the others."""
    feet = base.stage.spec.morphology.feet
    if len(feet) < 2 or not travels(base):
        return None
    stiff = rng.choice(feet, size=len(feet) // 2, replace=False)
    held = {joint for foot in stiff for joint in joints_of_leg(base.stage.spec, str(foot))}
    qpos = base.played.qpos.copy()
    for joint in base.stage.spec.joints:
        if joint.name in held:
            qpos[:, joint.qpos_index] = qpos[:, joint.qpos_index].mean()
    return Mutant(base.stage.replay(qpos, base.played.actions, base.motion.lift), {"stiff": float(len(stiff))})


def _uneven(base: BaseClip, rng: Random) -> Mutant | None:
    """Go a little faster and slower in turn; the whole way is as before."""
    if not travels(base):
        return None
    more, waves = rng.uniform(0.15, 0.25), rng.integers(2, 5)
    rate = 2.0 * np.pi * waves / base.seconds
    return Mutant(base.stage.play(along(base.motion, base.t - more / rate * np.sin(rate * base.t))), {"more": more})


def _weaving(base: BaseClip, rng: Random) -> Mutant | None:
    """Weave by some centimetres to either side."""
    if not base.robot.sideways or not travels(base):
        return None
    path = "y" if abs(base.motion.x[-1]) > abs(base.motion.y[-1]) else "x"
    width, waves = rng.uniform(0.05, 0.12), rng.integers(2, 4)
    weave = width * np.sin(2.0 * np.pi * waves / base.seconds * base.t)
    return Mutant(base.stage.play(base.motion.plus(**{path: weave})), {"width": width})


# Posture ------------------------------------------------------------------------------------------------------------
def _sways(base: BaseClip, rng: Random) -> Mutant:
    """Sway slowly, by 15 to 20 degrees to either side."""
    angle, hz = rng.uniform(0.26, 0.35), rng.uniform(0.08, 0.2)
    path = "yaw" if not base.robot.floor else rng.choice(["pitch", "roll"] if base.robot.sideways else ["pitch"])
    sway = angle * np.sin(2.0 * np.pi * hz * base.t)
    return Mutant(base.stage.play(base.motion.plus(**{str(path): sway})), {"angle": angle, "hz": hz})


def _bends(base: BaseClip, rng: Random) -> Mutant:
    """Bend and stretch all joints slowly, by 30 to 40 degrees to either side."""
    angle, hz = rng.uniform(0.52, 0.7), rng.uniform(0.08, 0.15)
    return Mutant(base.stage.play(base.motion.striding(hz).plus(sway=angle)), {"angle": angle, "hz": hz})


def _leans_far(base: BaseClip, rng: Random) -> Mutant | None:
    """Lean by 55 to 65 degrees all the time."""
    if not base.robot.floor:
        return None
    angle = rng.uniform(0.96, 1.13) * rng.choice([-1.0, 1.0])
    path = "roll" if base.robot.sideways else "pitch"
    return Mutant(base.stage.play(base.motion.plus(**{path: angle})), {"angle": float(angle)})


def _leans_a_little(base: BaseClip, rng: Random) -> Mutant | None:
    """Lean by 3 to 7 degrees all the time; nothing where some feet stand before others, for it would lift them."""
    if not base.robot.floor:
        return None
    spec = base.stage.spec
    bodies = {geom.body for geom in spec.geoms if geom.name in spec.morphology.feet}
    places = [body.rest_position[0] for body in spec.bodies if body.name in bodies]
    if np.ptp(places) > 0.1:
        return None
    angle = rng.uniform(0.05, 0.12) * rng.choice([-1.0, 1.0])
    return Mutant(base.stage.play(base.motion.plus(pitch=angle)), {"angle": float(angle)})


def _falls_late(base: BaseClip, rng: Random) -> Mutant | None:
    """Fall over 0.5 to 0.7 s before the end, so that it lies for the last 0.2 s or more."""
    return fallen(base, rng, (0.5, 0.7), 0.3)


# Counts -------------------------------------------------------------------------------------------------------------
def _one_lower(base: BaseClip, rng: Random) -> Mutant | None:
    """Jump once more, to 70 to 78 % of the height."""
    found = events(base.motion)
    if not found or not np.ptp(base.motion.lift) or np.ptp(base.motion.pitch):
        return None
    height = float(base.motion.lift.max()) * rng.uniform(0.7, 0.78)
    start = found[-1][1] * base.dt + 0.15
    if start + 1.5 > base.seconds:
        return None
    return Mutant(base.stage.play(jump(base.motion, height, start)), {"lower": height})


def _overshoot(base: BaseClip, rng: Random) -> Mutant | None:
    """Turn too far by 70 to 90 % of what is asked for, of more than one turn by as much of one, and come back."""
    yaw = base.motion.yaw
    asked = [a for a in base.robot.asked if base.scene.kinds.get(a.sentence) is POSITIVE and a.skill == "spin"]
    done = float(base.t[int(np.argmax(np.abs(yaw) >= 0.999 * np.abs(yaw).max()))]) if np.ptp(yaw) else base.seconds
    exact = [a.low for a in asked if a.exact]
    left = base.seconds - done
    if not exact or left < 1.5:
        return None
    over = rng.uniform(0.7, 0.9) * min(1.0, max(exact)) * np.sign(yaw[-1])
    swing = ramp(base.t, done, 0.3 * left) - ramp(base.t, done + 0.35 * left, 0.3 * left)
    return Mutant(base.stage.play(base.motion.plus(yaw=2.0 * np.pi * over * swing)), {"over": float(over)})


def _on_its_back(base: BaseClip, _rng: Random) -> Mutant | None:
    """Come down on its back half way through a flip, and turn on from there."""
    turned = np.abs(base.motion.pitch - base.motion.pitch[0])
    if not np.ptp(base.motion.lift) or turned[-1] < 1.9 * np.pi:
        return None
    share = turned / (2.0 * np.pi)
    down = during(share % 1.0, 0.4, 0.6) * (share < turned[-1] / (2.0 * np.pi))
    return Mutant(base.stage.play(replace(base.motion, lift=base.motion.lift * (1.0 - down))), {})


def _wrong(reason: str, *skills: str) -> tuple[Truth, ...]:
    return (Truth(skills, NEAR_MISS, reason),)


def _right(reason: str, *skills: str) -> tuple[Truth, ...]:
    return (Truth(skills, POSITIVE, reason),)


NEWEST = (
    Mutation("rests", Family.RESTING, "goes in dashes, and rests for half of the time", _rests,
             _wrong("who is to go does not stop again and again", *TRAVEL)),
    Mutation("fro", Family.TO_AND_FRO, "goes forth and back, and gets on by that", _to_and_fro,
             _wrong("for two fifths of the time it goes the other way", *TRAVEL)),
    Mutation("stiff", Family.STIFF_LEGS, "half of the legs stiff", _stiff_legs,
             (Truth(("move", "crawl"), EXPLOIT, "to walk, run and crawl is done with all legs", _steps),)),
    Mutation("sways", Family.SWAYING, "sways slowly", _sways,
             _wrong("by 30 degrees from side to side it does not stand still", "still")),
    Mutation("bends", Family.SWAYING, "bends and stretches slowly", _bends,
             _wrong("who bends by 60 degrees and more does not stand still", "still")),
    Mutation("toppled", Family.LATE_FALL, "falls 0.5 to 0.7 s before the end", _falls_late,
             _wrong("it lies at the end", *TRAVEL, "still", "jump", "spin")),
    Mutation("lower", Family.LOWER, "one more jump, a little lower", _one_lower,
             (Truth(("jump",), NEAR_MISS, "a number is given, and it is exceeded", _exact),)),
    Mutation("overshoot", Family.OVERSHOOT, "turns much too far, and comes back", _overshoot,
             (Truth(("spin",), NEAR_MISS, "a number or an angle is given, and it is exceeded", _exact),)),
    Mutation("onback", Family.ON_ITS_BACK, "comes down on its back, and turns on", _on_its_back,
             _wrong("it rolls over on the floor for part of the turn", "flip")),
    Mutation("leans", Family.LEANING, "leans by 55 to 65 degrees", _leans_far,
             _wrong("it is about to lie rather than upright", "move", "hop", "still", "spin")),
    Mutation("slant", Family.SMALL_LEAN, "leans by 3 to 7 degrees", _leans_a_little,
             _right("the sentence does not mention so small a lean", "move", "hop", "still", "jump", "spin")),
    Mutation("uneven", Family.UNEVEN, "a little faster and slower in turn", _uneven,
             _right("its speed is as asked for on the whole", *TRAVEL)),
    Mutation("weaving", Family.WEAVING, "weaves by some centimetres", _weaving,
             _right("it goes where it is to go", *TRAVEL)),
)  # fmt: skip
