"""Scenes of standing still, of falling, and of almost standing still."""

from collections.abc import Callable
from dataclasses import replace

from p2p.worker.known_motions.motion import Motion, during, ramp, travel
from p2p.worker.known_motions.robots import Robot
from p2p.worker.known_motions.scene import EXPLOIT, NEAR_MISS, POSITIVE, Random, Recipe, Scene, every


def recipes(robot: Robot) -> list[Recipe]:
    """All recipes for one robot."""
    found = [
        Recipe("stand", _standing),
        Recipe("stand with calm, small moves", _breathing),
        Recipe("tremble", _trembling),
        Recipe("hold itself by bracing", _braced),
        Recipe("drift away slowly", _drifting),
        Recipe("stand, then walk off in the last second", _walks_off),
    ]
    if robot.floor:
        found += [
            Recipe("fall at the start", _falling),
            Recipe("fall the other way", _falling_back),
            Recipe("lie still on the back", _lying),
            Recipe("be let go, limp", _limp),
            Recipe("stand, then fall in the last second", _falls_at_the_end),
        ]
    return found


def _standing(robot: Robot, _rng: Random) -> Scene:
    return Scene(lambda m: m, {}, every(robot, ("still",), POSITIVE))


def _breathing(robot: Robot, rng: Random) -> Scene:
    sway = rng.uniform(0.005, 0.02)
    hz = rng.uniform(0.2, 0.5)
    return Scene(
        lambda m: m.striding(hz).plus(sway=sway, effort=0.1),
        {"sway": sway, "hz": hz},
        every(robot, ("still",), POSITIVE),
    )


def _trembling(robot: Robot, rng: Random) -> Scene:
    sway = rng.uniform(0.1, 0.2)
    hz = rng.uniform(3.5, 4.5)
    return Scene(
        lambda m: m.striding(hz).plus(sway=sway, effort=0.5),
        {"sway": sway, "hz": hz},
        every(robot, ("still",), EXPLOIT),
    )


def _braced(robot: Robot, rng: Random) -> Scene:
    effort = rng.uniform(0.8, 1.0)
    return Scene(
        lambda m: replace(m, braced=True).plus(effort=effort), {"effort": effort}, every(robot, ("still",), EXPLOIT)
    )


def _drifting(robot: Robot, rng: Random) -> Scene:
    distance = rng.uniform(0.6, 0.9)
    vx = distance / robot.seconds
    kinds = every(robot, ("still",), NEAR_MISS) | every(robot, ("move", "crawl"), None)
    return Scene(lambda m: travel(m, vx, sway=0.0), {"distance": distance}, kinds)


def _walks_off(robot: Robot, rng: Random) -> Scene:
    distance = rng.uniform(0.7, 1.2)
    start = robot.seconds - 1.0
    kinds = every(robot, ("still",), NEAR_MISS) | every(robot, ("move", "crawl"), None)
    return Scene(
        lambda m: m.plus(x=distance * ramp(m.t, start, 1.0), sway=0.2 * during(m.t, start, m.seconds + 1.0)),
        {"distance": distance, "start": start},
        kinds,
    )


def _fall(forward: bool, start: Callable[[Robot, Random], float]) -> Callable[[Robot, Random], Scene]:
    def make(robot: Robot, rng: Random) -> Scene:
        path, angle = robot.fall if forward else robot.fall_back
        begins = start(robot, rng)
        lasting = rng.uniform(0.3, 0.5)

        def build(motion: Motion) -> Motion:
            return motion.plus(**{path: angle * ramp(motion.t, begins, lasting)})

        return Scene(build, {"start": begins, "lasting": lasting}, every(robot, ("still",), NEAR_MISS))

    return make


_falling = _fall(True, lambda _robot, rng: rng.uniform(0.2, 0.8))
_falling_back = _fall(False, lambda _robot, rng: rng.uniform(0.2, 0.8))
_falls_at_the_end = _fall(True, lambda robot, rng: robot.seconds - rng.uniform(1.0, 1.3))


def _limp(robot: Robot, rng: Random) -> Scene:
    """Simulated without control: a stable robot stands, all others fall."""
    seed = int(rng.integers(1 << 31))
    kind = POSITIVE if robot.settles else NEAR_MISS
    return Scene(lambda m: replace(m, limp=seed), {"seed": float(seed)}, every(robot, ("still",), kind))


def _lying(robot: Robot, rng: Random) -> Scene:
    path, angle = robot.back
    lean = rng.uniform(-0.05, 0.05)
    kinds = every(robot, ("still",), EXPLOIT)
    return Scene(lambda m: m.plus(**{path: angle + lean}), {"lean": lean}, kinds)
