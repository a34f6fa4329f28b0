"""Rules that spoil a script: what comes out is wrong by how it was made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from p2p.contracts.known_motions import ClaimKind
from p2p.lab.worker.clips.mutations.path_edits import along, calmed
from p2p.lab.worker.exams.phases import Drawn, Phase, Range, draw, times
from p2p.lab.worker.exams.script import Script
from p2p.worker.known_motions.motion import Motion, ramp
from p2p.worker.known_motions.robots import Robot
from p2p.worker.known_motions.scene import EXPLOIT, NEAR_MISS, Random


@dataclass(frozen=True)
class Setting:
    """Where a script is played."""

    robot: Robot
    script: Script
    dt: float
    seconds: float
    """Of the exam's episodes [s]."""

    def drawn(self, phases: tuple[Phase, ...], rng: Random) -> Drawn:
        """A motion of other phases."""
        return draw(phases, self.dt, self.seconds, rng)

    def positive(self, rng: Random) -> Drawn:
        """A motion that does what is asked."""
        return self.drawn(self.script.phases, rng)


Make = Callable[[Setting, Random], Drawn | None]
"""None where the rule has nothing to spoil."""


@dataclass(frozen=True)
class Rule:
    """One way of spoiling a script."""

    key: str
    words: str
    kind: ClaimKind
    make: Make


# Too little, too much -----------------------------------------------------------------------------------------------
def _nothing(at: Setting, _rng: Random) -> Drawn | None:
    return None if at.script.still else Drawn(Motion.standing(at.dt, at.seconds), {})


def _too_little(at: Setting, rng: Random) -> Drawn | None:
    share = at.script.least
    if not share or at.script.still:
        return None
    return at.drawn(tuple(phase.scaled(share * rng.uniform(0.8, 1.0)) for phase in at.script.phases), rng)


def _too_much(at: Setting, rng: Random) -> Drawn | None:
    if not at.script.most:
        return None
    factor = at.script.most * rng.uniform(1.0, 1.15)
    return at.drawn(tuple(phase.scaled(factor) for phase in at.script.phases), rng)


def _one_less(at: Setting, rng: Random) -> Drawn | None:
    return _counted(at, rng, -1)


def _one_more(at: Setting, rng: Random) -> Drawn | None:
    return _counted(at, rng, 1) if at.script.counted else None


def _counted(at: Setting, rng: Random, more: int) -> Drawn | None:
    if not any(phase.flights + more >= 1 and phase.flights for phase in at.script.phases):
        return None
    return at.drawn(
        tuple(replace(phase, flights=phase.flights + more) if phase.flights else phase for phase in at.script.phases),
        rng,
    )


# Not all the time, not in this order --------------------------------------------------------------------------------
def _stops_early(at: Setting, rng: Random) -> Drawn | None:
    """What lasts ends half way; sequences are cut in another rule."""
    if not at.script.lasting or at.script.still or len(at.script.phases) > 1:
        return None
    return at.drawn((replace(at.script.phases[0], seconds=at.seconds * rng.uniform(0.4, 0.5)), Phase()), rng)


def _begins_late(at: Setting, rng: Random) -> Drawn | None:
    if not at.script.lasting or at.script.still or len(at.script.phases) > 1:
        return None
    return at.drawn((Phase(seconds=at.seconds * rng.uniform(0.5, 0.6)), at.script.phases[0]), rng)


def _held_shorter(at: Setting, rng: Random) -> Drawn | None:
    """Poses are held for part of the time that the sentence asks for."""
    if not at.script.timed:
        return None
    phases = tuple(
        replace(phase, seconds=times(phase.seconds, rng.uniform(0.45, 0.6)))
        if phase.seconds is not None and (phase.pose or phase.lean)
        else phase
        for phase in at.script.phases
    )
    return at.drawn(phases, rng)


def _hurried(at: Setting, rng: Random) -> Drawn | None:
    """The whole way in half of the time, and stand."""
    if not at.script.lasting or not at.script.travels or len(at.script.phases) > 1:
        return None
    stop = at.seconds * rng.uniform(0.4, 0.5)
    spoilt = at.positive(rng)
    moved = along(spoilt.motion, np.minimum(spoilt.motion.t * at.seconds / stop, at.seconds))
    going = 1.0 - ramp(moved.t, stop, 0.2)
    return Drawn(calmed(moved, stop), {joint: path * going for joint, path in spoilt.joints.items()})


def _rests(at: Setting, rng: Random) -> Drawn | None:
    """The whole way in dashes, with rests for half of every two seconds."""
    if not at.script.lasting or not at.script.travels or len(at.script.phases) > 1:
        return None
    spoilt = at.positive(rng)
    t = spoilt.motion.t
    going = 1.0 * ((t / rng.uniform(1.6, 2.4) + rng.uniform()) % 1.0 >= 0.5)
    done = np.concatenate([[0.0], np.cumsum(going[1:] * at.dt)])
    moved = along(spoilt.motion, done * at.seconds / max(done[-1], at.dt))
    moved = replace(moved, sway=moved.sway * going, lift=moved.lift * going, effort=moved.effort * going)
    return Drawn(moved, {joint: path * going for joint, path in spoilt.joints.items()})


def _sways(at: Setting, rng: Random) -> Drawn | None:
    """Sway slowly, by 15 to 20 degrees to either side."""
    if not at.script.still:
        return None
    spoilt = at.positive(rng)
    path = "pitch" if at.robot.floor else "yaw"
    sway = rng.uniform(0.26, 0.35) * np.sin(2.0 * np.pi * rng.uniform(0.15, 0.25) * spoilt.motion.t)
    return replace(spoilt, motion=spoilt.motion.plus(**{path: sway}))


def _first_dropped(at: Setting, rng: Random) -> Drawn | None:
    return _dropped(at, rng, 0)


def _last_dropped(at: Setting, rng: Random) -> Drawn | None:
    return _dropped(at, rng, -1)


def _dropped(at: Setting, rng: Random, which: int) -> Drawn | None:
    """One of the phases in which something is done is spent standing."""
    active = [number for number, phase in enumerate(at.script.phases) if not phase.still]
    if len(active) < 2:
        return None
    phases = list(at.script.phases)
    phases[active[which]] = Phase(seconds=phases[active[which]].seconds)
    return at.drawn(tuple(phases), rng)


def _never_stops(at: Setting, rng: Random) -> Drawn | None:
    """The standing at the end, or the pause between, is not there."""
    if not at.script.comes_to_rest:
        return None
    phases = tuple(phase for phase in at.script.phases if not phase.still)
    if len(phases) == len(at.script.phases) or not phases:
        return None
    return at.drawn((*phases[:-1], replace(phases[-1], seconds=None)), rng)


def _other_order(at: Setting, rng: Random) -> Drawn | None:
    return at.drawn(at.script.phases[::-1], rng) if at.script.ordered else None


# Directions ---------------------------------------------------------------------------------------------------------
def _other_way(at: Setting, rng: Random) -> Drawn | None:
    if not at.script.directed:
        return None
    return at.drawn(tuple(phase.turned_round() for phase in at.script.phases), rng)


def _askew(at: Setting, rng: Random) -> Drawn | None:
    """As far to the side as ahead."""
    if not at.robot.sideways or not at.script.travels or not at.script.directed:
        return None
    spoilt = at.positive(rng)
    aside = 1.2 * rng.choice([-1.0, 1.0])
    motion = spoilt.motion
    return replace(spoilt, motion=motion.plus(x=aside * motion.y, y=aside * motion.x))


def _to_and_fro(at: Setting, rng: Random) -> Drawn | None:
    """Forth and back again: it ends where it began."""
    if not at.script.travels or len(at.script.phases) > 1:
        return None
    spoilt = at.positive(rng)
    motion = spoilt.motion
    forth = np.minimum(motion.t, motion.seconds - motion.t) * 1.6
    x = np.interp(forth, motion.t, motion.x)
    y = np.interp(forth, motion.t, motion.y)
    return replace(spoilt, motion=replace(motion, x=x, y=y))


def _drifts(at: Setting, rng: Random) -> Drawn | None:
    if not at.script.in_place:
        return None
    spoilt = at.positive(rng)
    share = spoilt.motion.t / at.seconds
    return replace(spoilt, motion=spoilt.motion.plus(x=rng.choice([-1.0, 1.0]) * rng.uniform(2.0, 3.0) * share))


def _other_side(at: Setting, rng: Random) -> Drawn | None:
    """The pose with left and right exchanged."""
    if not at.script.sided:
        return None
    phases = tuple(
        replace(phase, pose=_exchanged(phase.pose), beats=_exchanged(phase.beats)) for phase in at.script.phases
    )
    return at.drawn(phases, rng)


def _exchanged(pose: Mapping[str, Range]) -> dict[str, Range]:
    """Shoulders are mirrored in sign too."""
    return {SIDES.get(joint, joint): times(by, -1.0) if "shoulder" in joint else by for joint, by in pose.items()}


# Posture ------------------------------------------------------------------------------------------------------------
def _falls_at_the_end(at: Setting, rng: Random) -> Drawn | None:
    return _fallen(at, rng, at.seconds - rng.uniform(0.9, 1.2))


def _falls_late(at: Setting, rng: Random) -> Drawn | None:
    return _fallen(at, rng, at.seconds - rng.uniform(0.5, 0.7))


def _falls_at_once(at: Setting, rng: Random) -> Drawn | None:
    return _fallen(at, rng, rng.uniform(0.2, 0.6))


def _fallen(at: Setting, rng: Random, begins: float) -> Drawn | None:
    if not at.script.on_feet or not at.robot.floor:
        return None
    path, angle = at.robot.fall if rng.random() < 0.5 else at.robot.fall_back
    spoilt = at.positive(rng)
    return replace(spoilt, motion=spoilt.motion.plus(**{path: angle * ramp(spoilt.motion.t, begins, 0.35)}))


def _on_its_back(at: Setting, rng: Random) -> Drawn | None:
    if not at.script.on_feet or not at.robot.floor:
        return None
    path, angle = at.robot.back
    spoilt = at.positive(rng)
    return replace(spoilt, motion=spoilt.motion.plus(**{path: angle + rng.uniform(-0.05, 0.05)}))


def _leans_far(at: Setting, rng: Random) -> Drawn | None:
    if not at.script.on_feet or not at.robot.floor:
        return None
    path = "roll" if at.robot.sideways else "pitch"
    spoilt = at.positive(rng)
    angle = rng.uniform(0.96, 1.13) * rng.choice([-1.0, 1.0])
    return replace(spoilt, motion=spoilt.motion.plus(**{path: angle}))


def _let_go(at: Setting, rng: Random) -> Drawn | None:
    """Simulated without motors, from the start."""
    if at.script.still and at.robot.settles:
        return None
    return Drawn(replace(Motion.standing(at.dt, at.seconds), limp=int(rng.integers(1 << 31))), {})


# Tricks -------------------------------------------------------------------------------------------------------------
def _slides(at: Setting, rng: Random) -> Drawn | None:
    """The root goes on, and no joint moves."""
    if not at.script.steps:
        return None
    spoilt = at.positive(rng)
    return Drawn(replace(spoilt.motion, sway=np.zeros_like(spoilt.motion.t), lift=np.zeros_like(spoilt.motion.t)), {})


def _trembles(at: Setting, rng: Random) -> Drawn:
    """Vibrate on the spot."""
    motion = Motion.standing(at.dt, at.seconds).striding(float(rng.uniform(4.0, 6.0)))
    lift = 0.02 * np.abs(np.sin(2.0 * np.pi * motion.stride_hz * motion.t)) * at.robot.floor
    return Drawn(motion.plus(sway=rng.uniform(0.1, 0.2), lift=lift, effort=0.9), {})


def _one_spike(at: Setting, rng: Random) -> Drawn | None:
    """The whole way within 0.3 s."""
    if not at.script.travels:
        return None
    spoilt = at.positive(rng)
    motion = spoilt.motion
    share = ramp(motion.t, at.seconds * rng.uniform(0.2, 0.7), 0.3)
    return Drawn(replace(motion, x=motion.x[-1] * share, y=motion.y[-1] * share, sway=0.0 * motion.sway), {})


def _lavish(at: Setting, rng: Random) -> Drawn | None:
    if not at.script.economical:
        return None
    spoilt = at.positive(rng)
    return replace(
        spoilt, motion=replace(spoilt.motion, braced=True, effort=rng.uniform(0.85, 1.0) + 0 * spoilt.motion.t)
    )


def _plain(at: Setting, rng: Random) -> Drawn | None:
    """Without its pose, its hops and its beats."""
    if not any(phase.pose or phase.beats or phase.bend or phase.bounce for phase in at.script.phases):
        return None
    bare = tuple(replace(phase, pose={}, beats={}, offbeats={}, bend=0.0, bounce=0.0) for phase in at.script.phases)
    return at.drawn(bare, rng)


def _backward(at: Setting, rng: Random) -> Drawn | None:
    """Played backward, from where it began."""
    if not (at.script.directed or at.script.ordered) or at.script.still:
        return None
    spoilt = at.positive(rng)
    back = {name: path[::-1] - (path[-1] if name in ("x", "y") else 0.0)
            for name in ("x", "y", "lift", "roll", "pitch", "yaw", "sway", "bend", "effort")
            for path in (getattr(spoilt.motion, name),)}  # fmt: skip
    return Drawn(replace(spoilt.motion, **back), {name: path[::-1] for name, path in spoilt.joints.items()})


SIDES = {
    name: name.replace("left", "\0").replace("right", "left").replace("\0", "right")
    for side in ("left", "right")
    for joint in ("hip_x", "hip_y", "hip_z", "knee", "shoulder1", "shoulder2", "elbow")
    for name in (f"{side}_{joint}",)
}
RULES = (
    Rule("nothing", "stands", EXPLOIT, _nothing),
    Rule("little", "too little of it", NEAR_MISS, _too_little),
    Rule("much", "too much of it", NEAR_MISS, _too_much),
    Rule("less", "one less", NEAR_MISS, _one_less),
    Rule("more", "one more", NEAR_MISS, _one_more),
    Rule("stops", "stops half way", NEAR_MISS, _stops_early),
    Rule("late", "begins half way", NEAR_MISS, _begins_late),
    Rule("shorter", "holds it for half of the time asked for", NEAR_MISS, _held_shorter),
    Rule("hurried", "goes the whole way in half of the time", NEAR_MISS, _hurried),
    Rule("rests", "goes in dashes, and rests between", NEAR_MISS, _rests),
    Rule("sways", "sways slowly", NEAR_MISS, _sways),
    Rule("first", "leaves out the first thing", NEAR_MISS, _first_dropped),
    Rule("last", "leaves out the last thing", NEAR_MISS, _last_dropped),
    Rule("restless", "does not stop", NEAR_MISS, _never_stops),
    Rule("order", "in the other order", NEAR_MISS, _other_order),
    Rule("way", "the other way", NEAR_MISS, _other_way),
    Rule("askew", "as far to the side as ahead", NEAR_MISS, _askew),
    Rule("fro", "to and fro", NEAR_MISS, _to_and_fro),
    Rule("drifts", "slides away all the while", NEAR_MISS, _drifts),
    Rule("side", "with the other side", NEAR_MISS, _other_side),
    Rule("falls", "falls in the last second", NEAR_MISS, _falls_at_the_end),
    Rule("falls-late", "falls half a second before the end", NEAR_MISS, _falls_late),
    Rule("fallen", "falls at once", NEAR_MISS, _falls_at_once),
    Rule("back", "on its back", EXPLOIT, _on_its_back),
    Rule("leans", "leans by 55 to 65 degrees", NEAR_MISS, _leans_far),
    Rule("limp", "let go, simulated", NEAR_MISS, _let_go),
    Rule("slides", "slides on still joints", EXPLOIT, _slides),
    Rule("trembles", "trembles on the spot", EXPLOIT, _trembles),
    Rule("spike", "the whole way within 0.3 s", EXPLOIT, _one_spike),
    Rule("lavish", "with all its strength", NEAR_MISS, _lavish),
    Rule("plain", "without its style", NEAR_MISS, _plain),
    Rule("backward", "played backward", NEAR_MISS, _backward),
)
