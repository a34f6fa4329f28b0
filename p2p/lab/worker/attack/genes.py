"""What the search changes of a motion: disturbances with a strength, a time and a rate."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from p2p.lab.worker.clips.mutations.path_edits import along, calmed, scaled_turns
from p2p.worker.known_motions.motion import DRAWN_UP, Motion, during, flight_time, jump, ramp
from p2p.worker.known_motions.motion_player import MotionPlayer, Played
from p2p.worker.known_motions.robots import Robot

Floats = NDArray[np.float64]
Random = np.random.Generator
JITTER = 0.12
"""Standard deviation of a small change of a gene, of a range of 1."""


@dataclass(frozen=True)
class Gene:
    """How one disturbance is applied; all numbers lie in [0, 1]."""

    strength: float
    time: float
    rate: float

    @property
    def signed(self) -> float:
        """The strength from -1 to 1."""
        return 2.0 * self.strength - 1.0

    def near(self, rng: Random) -> "Gene":
        """A gene almost like it."""
        moved = np.clip(np.array([self.strength, self.time, self.rate]) + rng.normal(0.0, JITTER, 3), 0.0, 1.0)
        return Gene(*map(float, moved))


Genome = Mapping[str, Gene]
Apply = Callable[[Motion, Gene, Robot], Motion]


def _hz(gene: Gene) -> float:
    return float(0.1 * 80.0**gene.rate)  # 0.1 to 8 Hz, evenly in its logarithm


def _wave(motion: Motion, gene: Gene) -> Floats:
    return np.asarray(np.sin(2.0 * np.pi * _hz(gene) * motion.t))


def _from_time(motion: Motion, gene: Gene) -> Floats:
    """0 before the gene's time, 1 after it; 1 all along for the earliest times."""
    return ramp(motion.t, gene.time * motion.seconds, 0.4) if gene.time > 0.1 else np.ones_like(motion.t)


def _stop(motion: Motion, gene: Gene, _robot: Robot) -> Motion:
    """Stop for good; the stronger, the more of the way it makes before."""
    stop = max(0.1, gene.time) * motion.seconds
    hurry = 1.0 + gene.strength * (motion.seconds / stop - 1.0)
    return calmed(along(motion, np.minimum(motion.t, stop) * hurry), stop)


def _pause(motion: Motion, gene: Gene, _robot: Robot) -> Motion:
    """Stand for part of the time, and catch up after it."""
    begin = gene.time * motion.seconds * 0.8
    end = (gene.time * 0.8 + 0.2 + 0.5 * gene.strength) * motion.seconds
    going = 1.0 - during(motion.t, begin, end)
    times = np.concatenate([[0.0], np.cumsum(going[1:] * np.diff(motion.t))])
    scaled = times * (motion.seconds / max(times[-1], 0.1))
    return replace(along(motion, scaled), sway=motion.sway * going, effort=motion.effort * going)


def _circle(motion: Motion, gene: Gene, robot: Robot) -> Motion:
    if not robot.sideways:
        return motion
    angle = motion.yaw if np.ptp(motion.yaw) else 2.0 * np.pi * _hz(gene) * motion.t
    radius = 2.5 * gene.strength
    return motion.plus(x=radius * np.sin(angle), y=radius * (1.0 - np.cos(angle)))


def _hops(motion: Motion, gene: Gene, _robot: Robot) -> Motion:
    hops = 0.3 * gene.strength * np.maximum(0.0, _wave(motion, gene))
    return motion.plus(lift=hops * (1.0 - _from_time(motion, replace(gene, time=max(gene.time, 0.2)))))


def _fall(motion: Motion, gene: Gene, robot: Robot) -> Motion:
    path, angle = robot.fall if gene.strength < 0.5 else robot.fall_back
    return motion.plus(**{path: angle * ramp(motion.t, gene.time * motion.seconds, 0.35)})


def _lies_first(motion: Motion, gene: Gene, robot: Robot) -> Motion:
    path, angle = robot.back
    return motion.plus(**{path: angle * (1.0 - ramp(motion.t, gene.time * motion.seconds, 0.4))})


def _back_again(motion: Motion, gene: Gene, _robot: Robot) -> Motion:
    """Undo part of the turn."""
    back = ramp(motion.t, gene.time * motion.seconds, (0.1 + gene.rate) * motion.seconds)
    return motion.plus(yaw=-gene.strength * motion.yaw[-1] * back)


def _extra_jump(motion: Motion, gene: Gene, _robot: Robot) -> Motion:
    height = 0.05 + 0.5 * gene.strength
    start = gene.time * (motion.seconds - flight_time(height))
    return jump(motion, height, start)


def _drift(path: str, most: float) -> Apply:
    def apply(motion: Motion, gene: Gene, robot: Robot) -> Motion:
        if path == "y" and not robot.sideways:
            return motion
        return motion.plus(**{path: most * gene.signed * motion.t})

    return apply


def _tilt(path: str, most: float) -> Apply:
    def apply(motion: Motion, gene: Gene, robot: Robot) -> Motion:
        if not robot.floor or (path == "roll" and not robot.sideways):
            return motion
        return motion.plus(**{path: most * gene.signed * _from_time(motion, gene)})

    return apply


def _rock(path: str, most: float, sideways: bool = False) -> Apply:
    def apply(motion: Motion, gene: Gene, robot: Robot) -> Motion:
        if (sideways and not robot.sideways) or (path in ("pitch", "roll") and not robot.floor):
            return motion
        return motion.plus(**{path: most * gene.strength * _wave(motion, gene)})

    return apply


DISTURBANCES: dict[str, Apply] = {
    "stop": _stop,
    "pause": _pause,
    "circle": _circle,
    "hops": _hops,
    "fall": _fall,
    "lies first": _lies_first,
    "turns back": _back_again,
    "one more jump": _extra_jump,
    "drifts along": _drift("x", 3.0),
    "drifts across": _drift("y", 3.0),
    "pitched": _tilt("pitch", 1.1),
    "rolled": _tilt("roll", 1.1),
    "rocks": _rock("pitch", 0.6),
    "rolls to and fro": _rock("roll", 0.6, sideways=True),
    "turns to and fro": _rock("yaw", 1.2, sideways=True),
    "to and fro": _rock("x", 0.6),
    "bobs": lambda m, g, _: m.plus(bend=g.strength * (0.5 + 0.5 * _wave(m, g))),
    "crouches": lambda m, g, _: m.plus(bend=g.strength * _from_time(m, g)),
    "more or less of the turns": lambda m, g, _: scaled_turns(m, 2.5 * g.strength),
    "more or less of the way": lambda m, g, _: along(m, np.minimum(m.t * 2.0 * g.strength, m.seconds)),
    "lower or higher": lambda m, g, _: replace(m, lift=m.lift * 2.0 * g.strength),
    "draws up its legs": lambda m, g, _: m.plus(bend=DRAWN_UP * g.strength * m.lift / max(m.lift.max(), 1e-9)),
    "flies until": lambda m, g, _: replace(m, lift=m.lift * (1.0 - _from_time(m, g))),
    "swing": lambda m, g, _: replace(m, sway=m.sway * 2.0 * g.strength),
    "swings anyway": lambda m, g, _: m.plus(sway=0.8 * g.strength * _from_time(m, g)),
    "stride": lambda m, g, _: m.striding(_hz(g), m.phase),
    "brakes its joints": lambda m, g, _: replace(m, sway=m.sway * (1.0 - g.strength * _from_time(m, g))),
}
"""Changes of the paths, applied in this order."""
BODILY = ("on the trunk", "one leg held")
"""Changes of the joints."""
PHYSICAL = ("let go", "driven blindly")
"""Physics takes over at a time: without motors, or with motors that swing by themselves."""
NAMES = (*DISTURBANCES, *BODILY, *PHYSICAL)


def drawn(rng: Random) -> Genome:
    """One to three disturbances."""
    names = rng.choice(len(NAMES), size=rng.integers(1, 4), replace=False)
    return {NAMES[index]: _gene(rng) for index in sorted(names)}


def near(genome: Genome, rng: Random) -> Genome:
    """A genome almost like another: a gene moved, or one more, or one less."""
    changed = {name: gene.near(rng) if rng.random() < 0.7 else gene for name, gene in genome.items()}
    if rng.random() < 0.35:
        changed[NAMES[rng.integers(len(NAMES))]] = _gene(rng)
    if len(changed) > 1 and rng.random() < 0.25:
        del changed[list(changed)[rng.integers(len(changed))]]
    return changed


def _gene(rng: Random) -> Gene:
    return Gene(*map(float, rng.uniform(0.0, 1.0, 3)))


def play(genome: Genome, base: Motion, stage: MotionPlayer, robot: Robot) -> Played | None:
    """The disturbed motion; None where physics blew up."""
    motion = base
    for name, apply in DISTURBANCES.items():
        if name in genome:
            motion = apply(motion, genome[name], robot)
    played = stage.play(motion)
    if {*genome} & {*BODILY}:
        played = _with_body(genome, motion, played, stage)
    for name in PHYSICAL:
        if name in genome:
            return _simulated(name, genome[name], played, stage)
    return played


def _with_body(genome: Genome, motion: Motion, played: Played, stage: MotionPlayer) -> Played:
    first = stage.first_joint
    qpos = played.qpos.copy()
    if (gene := genome.get("one leg held")) is not None and qpos.shape[1] - first >= 4:
        half = (qpos.shape[1] - first) // 2
        leg = slice(half) if gene.rate < 0.5 else slice(half, None)
        bent = stage.crouch[leg] if len(stage.crouch) else 0.5
        qpos[:, first:][:, leg] = stage.rest[first:][leg] + gene.signed * bent
    if (gene := genome.get("on the trunk")) is not None and stage.on_trunk is not None:
        share = _from_time(motion, gene)[:, None]
        target = stage.on_trunk[first:]
        swing = qpos[:, first:] - stage.rest[first:]
        qpos[:, first:] += share * (target - stage.rest[first:] - 0.7 * swing)
        if not stage.free:
            qpos[:, 2] += share[:, 0] * stage.on_trunk[2]
    return stage.replay(qpos, played.actions, motion.lift)


def _simulated(name: str, gene: Gene, played: Played, stage: MotionPlayer) -> Played | None:
    """The motion until a time, and physics after it."""
    step = round(gene.time * 0.9 * (len(played.actions) - 1))
    actions = np.zeros_like(played.actions)
    actions[:step] = played.actions[:step]
    if name == "driven blindly":
        rng = np.random.default_rng(int(1e6 * gene.rate))  # the rate picks phases; a small move of it picks others
        t = stage.spec.dt * np.arange(len(actions))[:, None]
        swing = np.sin(2.0 * np.pi * (rng.uniform(0.5, 4.0) * t + rng.uniform(0.0, 1.0, actions.shape[1])))
        actions[step:] = (gene.strength * stage.action_half * swing)[step:]
    after = stage.simulate(played.qpos[step], played.qvel[step], actions[step:])
    qpos, qvel = (np.concatenate([a[:step], b]) for a, b in zip((played.qpos, played.qvel), after, strict=True))
    if not (np.isfinite(qpos).all() and np.isfinite(qvel).all() and np.abs(qvel[step:]).max() < 100.0):
        return None
    return stage.measured(qpos, qvel, actions)
