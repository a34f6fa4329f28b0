"""Scenes of travelling, and of imitations of it."""

from collections.abc import Callable

import numpy as np

from p2p.worker.known_motions.motion import Motion, during, ramp, travel
from p2p.worker.known_motions.robots import KnownSentence, Robot
from p2p.worker.known_motions.scene import (
    EXPLOIT,
    NEAR_MISS,
    POSITIVE,
    UNCLEAR,
    Kinds,
    Random,
    Recipe,
    Scene,
    amount_kind,
    cheating,
    every,
    speed_kinds,
    spoilt,
)

Draw = Callable[[Motion, float, float, Random], Motion]


def recipes(robot: Robot) -> list[Recipe]:
    """All recipes for one robot."""
    found = [Recipe("stand for the alive bonus", _standing)]
    for asked in (a for a in robot.asked if a.skill == "move"):
        found += _of_sentence(asked, robot)
    if robot.asks("crawl"):
        found += [_crawl("crawl", 1.2), _crawl("crawl too slowly", 0.8), _crawl("crawl the wrong way", -1.2)]
        found += [Recipe("crawl on the back", _crawl_on_the_back)]
    if robot.asks("hop"):
        found += [_hop("hop forward", 1.25), _hop("hop too slowly", 0.8), _hop("hop the wrong way", -1.25)]
        found += [Recipe("hop twice, then glide", _hop_twice), Recipe("glide on vibrating feet", _glide_vibrating)]
    return found


def _of_sentence(asked: KnownSentence, robot: Robot) -> list[Recipe]:
    """Scenes around one sentence, and tricks with its numbers."""
    name = f"for “{asked.sentence}”"
    shares = {"as asked": 1.0, "at 80 %": 0.8, "the wrong way": -1.0}
    if asked.high != np.inf:
        shares["too fast"] = 1.35
    found = [Recipe(f"travel {words} {name}", _steady(asked, share)) for words, share in shares.items()]
    tricks: dict[str, tuple[Draw, bool]] = {
        "one velocity spike": (_spike, True),
        "a burst of 0.3 s": (_burst, True),
        "shake to and fro": (_shake, True),
        "there and back": (_there_and_back, False),
        "go for a third of the time, then stand": (_a_third, False),
    }
    if robot.floor:
        path, angle = robot.back

        def on_the_back(motion: Motion, vx: float, vy: float, _rng: Random) -> Motion:
            return travel(motion, vx, vy).plus(**{path: angle})

        def dive(motion: Motion, vx: float, vy: float, rng: Random) -> Motion:
            """Run up, fall forward, and slide on."""
            return _fallen(travel(motion, vx, vy), robot, rng.uniform(0.3, 0.8))

        def fall_at_the_end(motion: Motion, vx: float, vy: float, rng: Random) -> Motion:
            return _fallen(travel(motion, vx, vy), robot, motion.seconds - rng.uniform(1.0, 1.3))

        tricks["slide on the back"] = (on_the_back, True)
        tricks["cross the line by falling"] = (dive, True)
        tricks["travel, then fall in the last second"] = (fall_at_the_end, False)
    found += [Recipe(f"{words} {name}", _trick(asked, *trick)) for words, trick in tricks.items()]
    if robot.sideways:
        found.append(Recipe(f"travel to the side {name}", _steady(asked, 1.0, across=True)))
        found.append(Recipe(f"travel askew {name}", _askew(asked)))
    return found


def right_speed(asked: KnownSentence, rng: Random) -> float:
    """A correct speed for a sentence, unsigned [m/s]."""
    if asked.low == asked.high:
        return asked.low
    most = min(asked.high / 1.1, asked.low * 1.6)
    return float(rng.uniform(asked.low * 1.1, max(most, asked.low * 1.15)))


def velocity_of(asked: KnownSentence, speed: float, across: bool = False) -> dict[str, float]:
    """Velocity with its axis."""
    return {"vy" if asked.sideways != across else "vx": asked.way * speed}


def _steady(asked: KnownSentence, share: float, across: bool = False) -> Callable[[Robot, Random], Scene]:
    def make(robot: Robot, rng: Random) -> Scene:
        limit = {0.8: asked.low, 1.35: asked.high}.get(share)
        speed = right_speed(asked, rng) * share if limit is None else limit * share * rng.uniform(0.97, 1.03)
        velocity = velocity_of(asked, speed, across)
        build = _of(rng, lambda m: stepping(travel(m, **velocity), robot))
        return Scene(build, velocity, speed_kinds(robot, **velocity) | every(robot, ("hop",), UNCLEAR))

    return make


def stepping(motion: Motion, robot: Robot) -> Motion:
    """Gait with lifted feet, even if the joints' swing alone would not lift them."""
    return _hopping(motion, robot, motion.seconds) if robot.bounds else motion


def _trick(asked: KnownSentence, draw: Draw, exploit: bool) -> Callable[[Robot, Random], Scene]:
    """Trick with the mean velocity of a positive, real or apparent."""

    def make(robot: Robot, rng: Random) -> Scene:
        speed = right_speed(asked, rng)
        velocity = velocity_of(asked, speed)
        vx, vy = velocity.get("vx", 0.0), velocity.get("vy", 0.0)
        kinds: Kinds = speed_kinds(robot, vx, vy)
        seeming = cheating(kinds) if exploit else spoilt(kinds)
        return Scene(_of(rng, lambda m: draw(m, vx, vy, rng)), velocity, seeming)

    return make


def _of(rng: Random, build: Callable[[Motion], Motion]) -> Callable[[Motion], Motion]:
    """Motion with its own gait."""
    stride_hz = float(rng.uniform(1.5, 2.5))
    phase = float(rng.uniform(0.0, 2.0 * np.pi))
    return lambda standing: build(standing.striding(stride_hz, phase))


def _spike(motion: Motion, vx: float, vy: float, rng: Random) -> Motion:
    """Stand, then jump to another place within one step."""
    share = (motion.t > motion.seconds * rng.uniform(0.2, 0.8)).astype(np.float64)
    return motion.plus(x=vx * motion.seconds * share, y=vy * motion.seconds * share)


def _burst(motion: Motion, vx: float, vy: float, rng: Random) -> Motion:
    """Stand, apart from a third of a second."""
    share = ramp(motion.t, rng.uniform(0.2, 0.8) * motion.seconds, 0.3)
    return motion.plus(x=vx * motion.seconds * share, y=vy * motion.seconds * share)


def _shake(motion: Motion, vx: float, vy: float, rng: Random) -> Motion:
    """Large velocities without net travel."""
    shaking = 0.04 * np.sin(2.0 * np.pi * rng.uniform(6.0, 8.0) * motion.t)
    return motion.plus(x=np.sign(vx) * shaking, y=np.sign(vy) * shaking, effort=0.9)


def _there_and_back(motion: Motion, vx: float, vy: float, rng: Random) -> Motion:
    half = motion.seconds / 2.0 * rng.uniform(0.97, 1.03)
    gone = np.where(motion.t < half, motion.t, 2.0 * half - motion.t)
    return motion.plus(x=1.5 * vx * gone, y=1.5 * vy * gone, sway=0.3, effort=0.3)


def _a_third(motion: Motion, vx: float, vy: float, rng: Random) -> Motion:
    end = motion.seconds * rng.uniform(0.3, 0.34)
    more = motion.seconds / end
    return travel(motion, more * vx, more * vy, until=end)


def _fallen(motion: Motion, robot: Robot, start: float) -> Motion:
    path, angle = robot.fall
    return motion.plus(**{path: angle * ramp(motion.t, start, 0.35)})


def _askew(asked: KnownSentence) -> Callable[[Robot, Random], Scene]:
    def make(robot: Robot, rng: Random) -> Scene:
        speed = right_speed(asked, rng)
        along = velocity_of(asked, speed)
        side = velocity_of(asked, 1.5 * speed, across=True)
        velocity = along | side
        return Scene(_of(rng, lambda m: travel(m, **velocity)), velocity, speed_kinds(robot, **velocity))

    return make


def _standing(robot: Robot, rng: Random) -> Scene:
    kinds = every(robot, ("move", "hop", "jump"), EXPLOIT) | every(robot, ("still",), POSITIVE)
    return Scene(_of(rng, lambda m: m), {}, kinds)


def _crawl(name: str, share: float) -> Recipe:
    def make(robot: Robot, rng: Random) -> Scene:
        asked = next(a for a in robot.asked if a.skill == "crawl")
        vx = asked.low * share * rng.uniform(0.98, 1.02)
        bend = rng.uniform(0.86, 1.0)
        speeds = {key: None if kind is POSITIVE else kind for key, kind in speed_kinds(robot, vx).items()}
        kinds = speeds | {asked.sentence: amount_kind(vx, asked.low)}
        build = _of(rng, lambda m: _creeping(travel(m, vx, sway=0.15).plus(bend=bend), robot))
        return Scene(build, {"vx": vx, "bend": bend}, kinds)

    return Recipe(name, make)


def _creeping(motion: Motion, robot: Robot) -> Motion:
    """A crouching gait; what has a front and a hind leg rocks from one to the other, so that each is put down."""
    if robot.sideways:
        return motion
    rocking = 0.06 * np.sin(2.0 * np.pi * motion.stride_hz * motion.t + motion.phase)
    return motion.plus(pitch=rocking - 0.05)


def _crawl_on_the_back(robot: Robot, rng: Random) -> Scene:
    path, angle = robot.back
    vx = 0.5 * rng.uniform(1.2, 1.5)
    kinds = cheating(speed_kinds(robot, vx)) | every(robot, ("crawl",), EXPLOIT)
    return Scene(_of(rng, lambda m: travel(m, vx).plus(**{path: angle})), {"vx": vx}, kinds)


def _hopping(motion: Motion, robot: Robot, end: float) -> Motion:
    lift = robot.bounce * np.maximum(0.0, np.sin(2.0 * np.pi * motion.stride_hz * motion.t))
    return motion.plus(lift=lift * during(motion.t, 0.0, end))


def _hop(name: str, share: float) -> Recipe:
    def make(robot: Robot, rng: Random) -> Scene:
        (asked,) = (a for a in robot.asked if a.skill == "hop")
        vx = asked.low * share * rng.uniform(0.97, 1.1 if abs(share) > 1.0 else 1.03)
        kinds = {key: None if kind is POSITIVE else kind for key, kind in speed_kinds(robot, vx).items()}
        build = _of(rng, lambda m: _hopping(travel(m, vx, sway=0.1), robot, m.seconds))
        return Scene(build, {"vx": vx, "height": robot.bounce}, kinds | {asked.sentence: amount_kind(vx, asked.low)})

    return Recipe(name, make)


def _hop_twice(robot: Robot, rng: Random) -> Scene:
    (asked,) = (a for a in robot.asked if a.skill == "hop")
    vx = asked.low * rng.uniform(1.15, 1.4)
    kinds = {key: None if kind is POSITIVE else kind for key, kind in speed_kinds(robot, vx).items()}
    return Scene(
        lambda m: _hopping(travel(m.striding(2.0), vx, sway=0.1), robot, 0.99),
        {"vx": vx, "height": robot.bounce, "hops": 2.0},
        kinds | {asked.sentence: NEAR_MISS},
    )


def _glide_vibrating(robot: Robot, rng: Random) -> Scene:
    """Feet that leave the floor by a centimetre, many times a second."""
    (asked,) = (a for a in robot.asked if a.skill == "hop")
    vx = asked.low * rng.uniform(1.15, 1.4)
    hz = rng.uniform(6.0, 8.0)
    kinds = {key: None if kind is POSITIVE else kind for key, kind in speed_kinds(robot, vx).items()}
    return Scene(
        _of(rng, lambda m: travel(m, vx).plus(lift=0.01 * np.maximum(0.0, np.sin(2.0 * np.pi * hz * m.t)))),
        {"vx": vx, "height": 0.01, "hz": hz},
        kinds | {asked.sentence: EXPLOIT},
    )
