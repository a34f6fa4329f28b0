"""Mutations after which a clip no longer does what it did, at least for some sentences."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from p2p.lab.contracts.calibration import MutationFamily as Family
from p2p.lab.worker.clips.mutations.mutation import BaseClip, Make, Mutant, Mutation, Truth, always
from p2p.lab.worker.clips.mutations.path_edits import along, calmed, edited, events, scaled_turns
from p2p.worker.known_motions.motion import ramp
from p2p.worker.known_motions.robots import KnownSentence, Robot
from p2p.worker.known_motions.scene import EXPLOIT, NEAR_MISS, POSITIVE, Random

Floats = NDArray[np.float64]
TRAVEL = ("move", "hop", "crawl")
LEGGED = ("walk", "run", "hop", "crawl", "swim")
"""First words of the sentences that name a way of driving oneself on."""


def _on_floor(robot: Robot, _asked: KnownSentence) -> bool:
    return robot.floor


def _directed(_robot: Robot, asked: KnownSentence) -> bool:
    return asked.way != 0.0


def _undirected(_robot: Robot, asked: KnownSentence) -> bool:
    return asked.way == 0.0


def _sideways(_robot: Robot, asked: KnownSentence) -> bool:
    return asked.sideways


def _in_plane(robot: Robot, _asked: KnownSentence) -> bool:
    return not robot.sideways


def _exact(_robot: Robot, asked: KnownSentence) -> bool:
    return asked.exact


def _driven(_robot: Robot, asked: KnownSentence) -> bool:
    return asked.sentence.startswith(LEGGED)


def _lands(_robot: Robot, asked: KnownSentence) -> bool:
    return asked.lands


def _limp_falls(robot: Robot, _asked: KnownSentence) -> bool:
    return not robot.settles


def _in_place(_robot: Robot, asked: KnownSentence) -> bool:
    return "in place" in asked.sentence


# Stopped ------------------------------------------------------------------------------------------------------------
def _stopped(base: BaseClip, rng: Random) -> Mutant | None:
    """Go as before, and stand from about half of the time on."""
    if not travels(base):
        return None
    stop = base.seconds * rng.uniform(0.4, 0.55)
    return Mutant(base.stage.play(calmed(along(base.motion, np.minimum(base.t, stop)), stop)), {"stops_at": stop})


def _hurried(base: BaseClip, rng: Random) -> Mutant | None:
    """Go the whole way in about half of the time, and stand: the mean velocity is as before."""
    if not travels(base):
        return None
    stop = base.seconds * rng.uniform(0.4, 0.5)
    times = np.minimum(base.t * base.seconds / stop, base.seconds)
    return Mutant(base.stage.play(calmed(along(base.motion, times), stop)), {"stops_at": stop})


def _late(base: BaseClip, rng: Random) -> Mutant | None:
    """Stand for about half of the time, and go the whole way in the rest."""
    if not travels(base):
        return None
    start = base.seconds * rng.uniform(0.45, 0.55)
    times = np.clip((base.t - start) * base.seconds / (base.seconds - start), 0.0, base.seconds)
    awake = ramp(base.t, start - 0.2, 0.2)
    moved = along(base.motion, times)
    moved = replace(moved, sway=moved.sway * awake, lift=moved.lift * awake, effort=moved.effort * awake)
    return Mutant(base.stage.play(moved), {"starts_at": start})


def _turned_part(base: BaseClip, rng: Random) -> Mutant | None:
    """Stop turning after part of what the sentence asks for."""
    if not np.ptp(base.motion.yaw):
        return None
    share = rng.uniform(0.5, 0.72)
    asked = [a for a in base.robot.asked if base.scene.kinds.get(a.sentence) is POSITIVE and a.skill == "spin"]
    turns = share * min(a.low for a in asked)
    at = int(np.searchsorted(np.abs(base.motion.yaw), 2.0 * np.pi * turns))
    stop = float(base.t[at])
    moved = calmed(base.motion, stop)
    return Mutant(base.stage.play(replace(moved, yaw=np.where(base.t < stop, moved.yaw, moved.yaw[at]))),
                  {"stops_at": stop, "share": share})  # fmt: skip


# Time and mirrors ---------------------------------------------------------------------------------------------------
def _backward(base: BaseClip, _rng: Random) -> Mutant:
    """Play it backward, from where it began."""
    qpos = base.played.qpos[::-1].copy()
    across = slice(0, 2) if base.robot.sideways else slice(0, 1)
    qpos[:, across] += base.played.qpos[0, across] - qpos[0, across]
    return Mutant(base.stage.replay(qpos, base.played.actions[::-1].copy()))


def _mirrored(base: BaseClip, _rng: Random) -> Mutant:
    """Left and right exchanged, or forward and backward for a robot in a plane; it still looks forward."""
    motion = base.motion
    if base.robot.sideways:
        mirrored = replace(motion, y=-motion.y, yaw=-motion.yaw, roll=-motion.roll)
    else:
        mirrored = replace(motion, x=-motion.x, pitch=-motion.pitch)
    return Mutant(base.stage.play(mirrored))


# Counts -------------------------------------------------------------------------------------------------------------
def _one_less(base: BaseClip, _rng: Random) -> Mutant | None:
    """Leave out the last of what is counted."""
    motion = base.motion
    steps = np.arange(len(base.t) - 1)
    found = events(motion)
    if not found:
        return None
    if np.ptp(motion.lift) and len(found) > 1:  # jumps, one by one
        start, end = found[-1]
        order = np.concatenate([steps[:start], steps[end:], np.full(end - start, -1)])
        return Mutant(base.stage.play(edited(motion, order)), {"times": len(found) - 1.0})
    turns = _turns(base)
    if turns < 1.5:
        return None
    return Mutant(base.stage.play(scaled_turns(motion, (turns - 1.0) / turns)), {"turns": turns - 1.0})


def _one_more(base: BaseClip, _rng: Random) -> Mutant | None:
    """Do what is counted once more; of a half turn, another half."""
    motion = base.motion
    steps = np.arange(len(base.t) - 1)
    found = events(motion)
    turns = _turns(base)
    if np.ptp(motion.lift) and found and not turns:
        (start, end), pause = found[-1], 3
        order = np.concatenate([steps[:end], np.full(pause, -1), steps[start:end], steps[end:]])
        if found[-1][1] + end - start + pause > len(steps):
            return None
        return Mutant(base.stage.play(edited(motion, order[: len(steps)])), {"times": len(found) + 1.0})
    if not turns or not found:
        return None
    more = 0.5 if turns < 0.8 else 1.0
    return Mutant(base.stage.play(scaled_turns(motion, (turns + more) / turns)), {"turns": turns + more})


def _held_shorter(base: BaseClip, rng: Random) -> Mutant | None:
    """Come down early from standing on the hind legs: after part of the time that the sentence asks for."""
    if "hold" not in base.scene.parameters:
        return None
    motion = base.motion
    up = np.flatnonzero(np.abs(motion.pitch) > 0.99 * np.abs(motion.pitch).max())
    asked = [a for a in base.robot.asked if base.scene.kinds.get(a.sentence) is POSITIVE and a.skill == "rear"]
    cut = len(up) - round(min(a.low for a in asked) * rng.uniform(0.45, 0.6) / base.dt)
    steps = np.arange(len(base.t) - 1)
    order = np.concatenate([steps[: up[0] + 1], steps[up[0] + 1 + cut :], np.full(cut, -1)])
    return Mutant(base.stage.play(edited(motion, order)), {"hold": (len(up) - cut) * base.dt})


def _turns(base: BaseClip) -> float:
    """Turns about any axis that are left at the end."""
    ends = [path[-1] - path[0] for path in (base.motion.roll, base.motion.pitch, base.motion.yaw)]
    turns = float(np.abs(ends).max() / (2.0 * np.pi))
    return turns if turns > 0.3 else 0.0


# Place --------------------------------------------------------------------------------------------------------------
def _drifting(base: BaseClip, rng: Random) -> Mutant:
    """Slide away all the while: 0.7 to 1.2 m of a still robot, 2 to 3 m of one that does something."""
    still = not np.ptp(base.motion.yaw)
    distance = rng.uniform(0.7, 1.2) if still else rng.uniform(2.0, 3.0)
    angle = rng.uniform(-np.pi, np.pi) if base.robot.sideways else rng.choice([0.0, np.pi])
    share = base.t / base.seconds
    motion = base.motion.plus(x=distance * np.cos(angle) * share, y=distance * np.sin(angle) * share)
    return Mutant(base.stage.play(motion), {"distance": distance, "angle": float(angle)})


def _askew(base: BaseClip, rng: Random) -> Mutant | None:
    """Drift to the side while going: at least 1 m/s and 1.5 times as fast as it goes; a swimmer three times."""
    if not base.robot.sideways or not travels(base):
        return None
    gone = np.array([base.motion.x[-1], base.motion.y[-1]]) / base.seconds
    speed = float(np.abs(gone).max())
    least = 3.0 * speed if not base.robot.floor else max(1.0, 1.5 * speed)
    drift = least * rng.uniform(1.0, 1.2) * rng.choice([-1.0, 1.0])
    path = "x" if abs(gone[1]) > abs(gone[0]) else "y"
    return Mutant(base.stage.play(base.motion.plus(**{path: drift * base.t})), {"drift": float(drift)})


# Bodies -------------------------------------------------------------------------------------------------------------
def _frozen(held: float, shaking: float) -> Make:
    """Joints that hold one pose while the root goes on; `held` changes the pose, `shaking` lets it vibrate [rad]."""

    def make(base: BaseClip, rng: Random) -> Mutant | None:
        if not travels(base):
            return None
        first = base.stage.first_joint
        qpos = base.played.qpos.copy()
        joints = qpos.shape[1] - first
        pose = base.stage.rest[first:] + held * rng.uniform(-1.0, 1.0, joints)
        hz = rng.uniform(6.0, 9.0)
        shake = shaking * np.sin(2.0 * np.pi * (hz * base.t[:, None] + rng.uniform(0.0, 1.0, joints)))
        bend = (
            qpos[0, first:] - base.stage.rest[first:] if np.ptp(base.motion.bend) == 0.0 and base.motion.bend[0] else 0
        )
        qpos[:, first:] = pose + shake + bend
        return Mutant(
            base.stage.replay(qpos, base.played.actions, np.zeros(len(qpos))), {"held": held, "shaking": shaking}
        )

    return make


def _on_trunk(start: float) -> Make:
    """Rest on the trunk from a share of the time on, and else go on as before."""

    def make(base: BaseClip, rng: Random) -> Mutant | None:
        pose = base.stage.on_trunk
        if pose is None or np.ptp(base.motion.pitch) or np.ptp(base.motion.roll):
            return None
        at = start * base.seconds * rng.uniform(0.9, 1.1)
        share = (ramp(base.t, at, 0.4) if start else np.ones_like(base.t))[:, None]
        first = base.stage.first_joint
        qpos = base.played.qpos.copy()
        swing = qpos[:, first:] - base.stage.rest[first:]
        qpos[:, first:] += share * (pose[first:] - base.stage.rest[first:] - 0.8 * swing)
        tilted = slice(3, 7) if base.stage.free else slice(2, 3)
        if base.stage.free and np.ptp(base.motion.yaw):
            return None
        qpos[:, tilted] += share * (pose[tilted] - base.stage.rest[tilted])
        if base.stage.free:
            qpos[:, 3:7] /= np.linalg.norm(qpos[:, 3:7], axis=1, keepdims=True)
        lift = base.motion.lift * (1.0 - share[:, 0])
        return Mutant(base.stage.replay(qpos, base.played.actions, lift), {"lies_from": at})

    return make


def _motors_off(base: BaseClip, rng: Random) -> Mutant | None:
    """Switch the motors off and let physics go on: half way, or before the one thing that is asked for."""
    if not base.robot.floor:
        return None  # a swimmer coasts on, at up to half of its speed for seconds
    found = events(base.motion)
    if travels(base) or not found:
        at = float(base.seconds * rng.uniform(0.3, 0.5))
    elif np.ptp(base.motion.yaw) or "hold" in base.scene.parameters:
        start, end = found[0]
        at = float(base.dt * (start + (end - start) * rng.uniform(0.2, 0.4)))
    else:
        at = float(base.dt * found[0][0] * rng.uniform(0.5, 0.9))
    step = round(at / base.dt)
    played = base.played
    actions = np.where((np.arange(len(played.actions)) >= step)[:, None], 0.0, played.actions)
    after = base.stage.simulate(played.qpos[step], played.qvel[step], actions[step:])
    qpos, qvel = (np.concatenate([a[:step], b]) for a, b in zip((played.qpos, played.qvel), after, strict=True))
    if not (np.isfinite(qpos).all() and np.isfinite(qvel).all() and np.abs(qvel).max() < 100.0):
        return None  # the scripted state was no state of this body
    return Mutant(base.stage.measured(qpos, qvel, actions), {"off_at": at})


# Beginning and end --------------------------------------------------------------------------------------------------
def _begins_lying(base: BaseClip, rng: Random) -> Mutant | None:
    """Lie on its back at first, and be up from about half of the time on."""
    if not base.robot.floor:
        return None
    path, angle = base.robot.back
    at = base.seconds * rng.uniform(0.45, 0.55)
    down = angle * (1.0 - ramp(base.t, at, 0.4))
    return Mutant(base.stage.play(base.motion.plus(**{path: down})), {"up_at": at})


def _begins_upside_down(base: BaseClip, _rng: Random) -> Mutant | None:
    """Begin on its back, so that half a turn brings it to its feet."""
    turns = (base.motion.pitch[-1] - base.motion.pitch[0]) / (2.0 * np.pi)
    if abs(round(turns)) < 1 or not np.ptp(base.motion.lift):
        return None
    back = np.pi * np.sign(turns)
    motion = scaled_turns(base.motion, (turns - 0.5 * np.sign(turns)) / turns).plus(pitch=back)
    return Mutant(base.stage.play(motion), {"turns": float(turns - 0.5 * np.sign(turns))})


def _falls_at_the_end(base: BaseClip, rng: Random) -> Mutant | None:
    """Fall over in the last second."""
    return fallen(base, rng, (0.95, 1.2), 0.35)


def fallen(base: BaseClip, rng: Random, before_end: tuple[float, float], seconds: float) -> Mutant | None:
    """Fall over near the end; nothing for a robot without a floor.

    Args:
        base: What it does until then.
        rng: Draws the side and the time.
        before_end: Between which times before the end it begins to fall [s].
        seconds: How long it falls [s].
    """
    if not base.robot.floor:
        return None
    path, angle = base.robot.fall_back if rng.random() < 0.5 else base.robot.fall
    at = base.seconds - rng.uniform(*before_end)
    return Mutant(base.stage.play(base.motion.plus(**{path: angle * ramp(base.t, at, seconds)})), {"falls_at": at})


def _falls_after_landing(base: BaseClip, rng: Random) -> Mutant | None:
    """Fall over soon after it has landed."""
    found = events(base.motion)
    if not found or not np.ptp(base.motion.lift) or not np.ptp(base.motion.pitch):
        return None
    path, angle = base.robot.fall_back if rng.random() < 0.5 else base.robot.fall
    at = found[-1][1] * base.dt + rng.uniform(0.1, 0.3)
    return Mutant(base.stage.play(base.motion.plus(**{path: angle * ramp(base.t, at, 0.35)})), {"falls_at": at})


def _leaves_at_the_end(base: BaseClip, rng: Random) -> Mutant:
    """Go away in the last second: 1 m and more."""
    at, distance = base.seconds - rng.uniform(0.9, 1.1), rng.uniform(1.0, 1.6) * rng.choice([-1.0, 1.0])
    return Mutant(base.stage.play(base.motion.plus(x=distance * ramp(base.t, at, 0.9))), {"leaves_at": at})


def _undone(base: BaseClip, rng: Random) -> Mutant | None:
    """Turn back again in the time that is left."""
    yaw = base.motion.yaw
    done = int(np.argmax(np.abs(yaw) >= 0.999 * np.abs(yaw).max()))
    left = base.seconds - base.t[done]
    if not np.ptp(yaw) or left < 1.0:
        return None
    back = yaw[-1] * ramp(base.t, float(base.t[done]) + 0.1 * left, 0.85 * left * rng.uniform(0.9, 1.0))
    return Mutant(base.stage.play(base.motion.plus(yaw=-back)), {"turned_by": float(base.t[done])})


def travels(base: BaseClip) -> bool:
    """Whether it gets somewhere."""
    return bool(max(np.ptp(base.motion.x), np.ptp(base.motion.y)) > 0.3)


_HALF = "who is to go does so all the time, not for half of it"
_STILL_ONLY = ("still",)
_Whose = Callable[[Robot, KnownSentence], bool]


def _wrong(kind: str, reason: str, *skills: str, when: _Whose = always) -> Truth:
    return Truth(skills, EXPLOIT if kind == "exploit" else NEAR_MISS, reason, when)


def _right(reason: str, *skills: str, when: _Whose = always) -> Truth:
    return Truth(skills, POSITIVE, reason, when)


FAILING = (
    Mutation("stopped", Family.STOPPED, "go, and stand from half of the time on", _stopped,
             (_wrong("near", _HALF, *TRAVEL),)),
    Mutation("hurried", Family.STOPPED, "go the whole way in half of the time, and stand", _hurried,
             (_wrong("near", _HALF, *TRAVEL),)),
    Mutation("late", Family.STOPPED, "stand for half of the time, and go the whole way in the rest", _late,
             (_wrong("near", _HALF, *TRAVEL),)),
    Mutation("part", Family.STOPPED, "stop turning after 50 to 72 %", _turned_part,
             (_wrong("near", "it has not turned as far as asked", "spin"),)),
    Mutation("backward", Family.BACKWARD, "played backward", _backward, (
        _wrong("near", "it goes the other way", *TRAVEL),
        _wrong("near", "it turns over the other way", "flip", "roll"),
        _wrong("near", "it turns the other way", "spin", when=_directed),
        _right("no direction is given", "spin", when=_undirected),
        _right("standing has no direction in time", "still"),
        _right("a jump looks the same backward", "jump"),
        _right("getting up and down look the same backward", "rear"),
    )),
    Mutation("mirrored", Family.MIRRORED, "mirrored", _mirrored, (
        _wrong("near", "it goes to the other side", "move", when=_sideways),
        _wrong("near", "in a plane the mirror image goes and turns the other way", "move", "hop", "crawl", "flip",
               "roll", "rear", when=_in_plane),
        _wrong("near", "it turns to the other side", "spin", when=_directed),
        _wrong("near", "it rolls to the other side", "roll"),
        _right("no direction is given", "spin", when=_undirected),
        _right("left and right do not matter", "move", "hop", "crawl", "still", "jump"),
    )),
    Mutation("less", Family.COUNTED, "one less", _one_less, (
        _wrong("near", "a number is given, and it is not reached", "jump", "flip", "spin", when=_exact),
    )),
    Mutation("more", Family.COUNTED, "one more", _one_more, (
        _wrong("near", "a number is given, and it is exceeded", "jump", "flip", "spin", when=_exact),
        _right("no number is given, and jumping once more is jumping", "jump"),
    )),
    Mutation("shorter", Family.COUNTED, "held for half of the time asked for", _held_shorter,
             (_wrong("near", "it comes down too early", "rear"),)),
    Mutation("drifting", Family.DRIFTING, "slides away all the while", _drifting, (
        _wrong("near", "it does not stay where it is", "still"),
        _wrong("near", "it does not stay in its place", "spin", when=_in_place),
    )),
    Mutation("askew", Family.DRIFTING, "drifts to the side", _askew,
             (_wrong("near", "it goes to the side rather than ahead", *TRAVEL),)),
    Mutation("frozen", Family.FROZEN, "joints frozen, the root goes on", _frozen(0.0, 0.0),
             (_wrong("exploit", "to walk, run, hop, crawl or swim is done with the joints", *TRAVEL, when=_driven),)),
    Mutation("posed", Family.FROZEN, "joints frozen in another pose, the root goes on", _frozen(0.35, 0.0),
             (_wrong("exploit", "to walk, run, hop, crawl or swim is done with the joints", *TRAVEL, when=_driven),)),
    Mutation("vibrating", Family.FROZEN, "joints that only vibrate, the root goes on", _frozen(0.2, 0.02),
             (_wrong("exploit", "to vibrate is not to step", *TRAVEL, when=_driven),)),
    Mutation("trunk", Family.TRUNK, "the trunk rests on the floor all the time", _on_trunk(0.0),
             (_wrong("exploit", "it is to be on its feet", "move", "hop", "still"),)),
    Mutation("sinking", Family.TRUNK, "the trunk rests on the floor from half of the time on", _on_trunk(0.5),
             (_wrong("exploit", "it is to be on its feet, to the end", "move", "hop", "still"),)),
    Mutation("motors", Family.MOTORS_OFF, "motors off from some time on, simulated", _motors_off, (
        _wrong("near", "without motors it does not get on", *TRAVEL),
        _wrong("near", "without motors it stops turning", "spin"),
        _wrong("near", "without motors it does not leave the floor", "jump", "flip"),
        _wrong("near", "without motors it does not roll", "roll"),
        _wrong("near", "without motors it comes down", "rear"),
        _wrong("near", "this robot falls without motors", "still", when=_limp_falls),
        _right("this robot stands without motors", "still"),
    )),
    Mutation("lying", Family.START, "begins on its back, and is up from half of the time on", _begins_lying, (
        _wrong("near", "it is on its feet for half of the time only", *TRAVEL, "still"),
        _wrong("exploit", "it turns on its back for half of the time", "spin"),
    )),
    Mutation("inverted", Family.START, "begins on its back, and turns half a turn less", _begins_upside_down,
             (_wrong("exploit", "it does not turn all the way over", "flip"),)),
    Mutation("falls", Family.END, "falls over in the last second", _falls_at_the_end, (
        _wrong("near", "it lies at the end", *TRAVEL, "still", "jump", "spin"),
    )),
    Mutation("tips", Family.END, "falls over 0.1 to 0.3 s after landing", _falls_after_landing,
             (_wrong("near", "it does not come to stand", "flip", when=_lands),)),
    Mutation("leaves", Family.END, "goes away in the last second", _leaves_at_the_end,
             (_wrong("near", "it does not stay to the end", "still"),)),
    Mutation("undone", Family.END, "turns back again", _undone, (
        _wrong("near", "it faces the way it faced at the start, not the way asked for", "spin",
               when=lambda _robot, asked: asked.exact and asked.low % 1.0 != 0.0),
    )),
)  # fmt: skip
"""All of them; a sentence that none of its truths names is not asked about."""
