"""Motions of the features alone, on which criteria and rewards can be tried without a simulator."""

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np

from p2p.contracts.env import EnvSpec
from p2p.envs.catalog import load
from p2p.rewards.part_features import part_feature_units
from p2p.rewards.templates.bodies import RobotFacts
from p2p.rewards.templates.body_table import body_of

Motion = Mapping[str, np.ndarray]
STANCE_S = 0.4
"""How long a foot is up, and how long it is down [s]."""


@cache
def spec_of(env: str) -> EnvSpec:
    return load(env)


def at_rest(env: str, seconds: float) -> dict[str, np.ndarray]:
    spec, body = spec_of(env), body_of(spec_of(env))
    steps = round(seconds / spec.dt)
    known_values = {"up": 1.0, "height": standing_height(body), "feet_down": 1.0, "top_height": 1.0}
    rest = {name: np.full(steps, known_values.get(name, 0.0)) for name in spec.feature_names}
    rest |= {name: np.zeros(steps) for name in swings_of(env)}
    return rest | {"time": spec.dt * np.arange(1, steps + 1)}


def swings_of(env: str) -> tuple[str, ...]:
    """What criteria read of the joints."""
    quantities = ("joint_swing", "leg_swing", "most_leg_swing", "pose_range")
    return tuple(name for name in part_feature_units(spec_of(env)) if name.partition(":")[0] in quantities)


def standing_height(body: RobotFacts) -> float:
    high = body.stand.high if body.stand.high != float("inf") else body.stand.low
    return (body.stand.low + high) / 2


def spins(env: str, seconds: float, turns: float) -> Iterator[Motion]:
    """At several rates to either side, for a number of turns or for ever."""
    rest = at_rest(env, seconds)
    for rate in (1.0, 2.0, 3.0, 4.0):
        for way in (1.0, -1.0):
            for stop in (turns, 2 * turns, np.inf):
                made = np.minimum(rate * rest["time"] / (2 * np.pi), stop)
                turning = rate * (made < stop)
                yield rest | {"yaw_turns": way * made, "yaw_rate": way * turning}


def jumps(env: str, seconds: float, _times: float) -> Iterator[Motion]:
    """Several numbers of jumps of several heights."""
    rest, jump = at_rest(env, seconds), body_of(spec_of(env)).jump
    for times in (0, 1, 2, 3, 4, 5, 30):
        for height in (1.1 * jump.once, 1.1 * jump.high):
            lasting = 2 * np.sqrt(2 * height / 9.81)
            aloft = np.zeros_like(rest["time"])
            for number in range(times):
                inside = np.clip((rest["time"] - 0.3 - 0.9 * number) / lasting, 0.0, 1.0)
                aloft += 4 * height * inside * (1 - inside)
            flies = aloft > 0.0
            yield rest | {
                "clearance": aloft,
                "flight_rise": aloft,
                "jump_height": aloft,
                "height": rest["height"] + aloft,
                "airborne": flies * 1.0,
                "feet_down": 1.0 - flies,
            }


def flips(env: str, seconds: float, _turns: float) -> Iterator[Motion]:
    """Several numbers of flips, both ways; after each it stands for a while."""
    rest = at_rest(env, seconds)
    for times in (0, 1, 2, 3, 8):
        for way in (1.0, -1.0):
            turned, lift = np.zeros_like(rest["time"]), np.zeros_like(rest["time"])
            for number in range(times):
                inside = np.clip((rest["time"] - 0.3 - 1.1 * number) / 0.7, 0.0, 1.0)
                turned += inside
                lift += 4 * 0.6 * inside * (1 - inside)
            yield rest | {
                "pitch_turns": way * turned,
                "pitch_rate": way * np.gradient(turned, rest["time"]) * 2 * np.pi,
                "up": np.cos(2 * np.pi * turned),
                "clearance": lift,
                "height": rest["height"] + lift,
                "airborne": 1.0 * (lift > 0.0),
                "feet_down": 1.0 - (lift > 0.0),
            }


def moves(env: str, seconds: float, speed: float) -> Iterator[Motion]:
    """At several speeds, in all directions, low or high, with or without hops."""
    rest, body = at_rest(env, seconds), body_of(spec_of(env))
    hop = np.maximum(0.0, np.sin(2 * np.pi * rest["time"] / STANCE_S))
    for pace in (0.0, 0.5, 0.9, 1.0, 1.1, 1.5, 2.0, 4.0):
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            for height in {standing_height(body), body.low - 0.01}:
                v = pace * speed
                motion = (
                    rest
                    | {
                        "velocity_x": v * x,
                        "velocity_y": v * y,
                        "forward_velocity": v * x,
                        "lateral_velocity": v * y,
                        "displacement_x": v * x * rest["time"],
                        "displacement_y": v * y * rest["time"],
                        "displacement": v * rest["time"],
                        "speed": v,
                        "height": height,
                        "airborne": hop > 0.0,
                        "clearance": 0.1 * hop,
                        "feet_down": 1.0 * (hop == 0.0),
                        "joint_speed": 2.0,
                    }
                    | dict.fromkeys(swings_of(env), 0.3)
                )
                present = {name: value for name, value in motion.items() if name in rest}
                yield {
                    name: np.broadcast_to(np.asarray(value, float), rest["time"].shape)
                    for name, value in present.items()
                }


def circles(env: str, seconds: float, _speed: float) -> Iterator[Motion]:
    """At several speeds along the heading, turning to either side."""
    walks = next(motion for motion in moves(env, seconds, 1.0) if np.any(motion["velocity_x"] > 0.0))
    for speed in (0.0, 0.3, 0.6, 1.0, 2.0):
        for rate in (0.0, 0.5, -0.5, 1.5, -1.5, 3.0, -3.0):
            yaw = rate * walks["time"]
            along, across = speed * np.cos(yaw), speed * np.sin(yaw)
            step = walks["time"][0]
            yield {
                **walks,
                "forward_velocity": np.full_like(yaw, speed),
                "speed": np.full_like(yaw, speed),
                "velocity_x": along,
                "velocity_y": across,
                "displacement_x": step * np.cumsum(along),
                "displacement_y": step * np.cumsum(across),
                "displacement": step * np.hypot(np.cumsum(along), np.cumsum(across)),
                "yaw_rate": np.full_like(yaw, rate),
                "yaw_turns": yaw / (2 * np.pi),
            }


def joined(first: Motion, second: Motion, at_s: float, seconds: float, dt: float) -> dict[str, np.ndarray]:
    """The first motion until `at_s`, then the second from there: further on, and along the heading that was reached."""
    begins, steps = round(at_s / dt), round(seconds / dt)
    one, other = _lasting(first, begins), _lasting(second, steps - begins)
    heading = 2 * np.pi * one["yaw_turns"][-1] if "yaw_turns" in one else 0.0
    for x, y in (("velocity_x", "velocity_y"), ("displacement_x", "displacement_y")):
        if y in other:
            along, across = other[x], other[y]
            other[x] = along * np.cos(heading) - across * np.sin(heading)
            other[y] = along * np.sin(heading) + across * np.cos(heading)
    for name in _ADDED_UP:
        if name in other:
            other[name] = one[name][-1] + other[name]
    both = {name: np.concatenate([one[name], other[name]]) for name in one.keys() & other.keys()}
    if "displacement" in both:
        both["displacement"] = np.hypot(both["displacement_x"], both.get("displacement_y", 0.0))
    return both | {"time": dt * np.arange(1, steps + 1)}


_ADDED_UP = ("displacement_x", "displacement_y", "yaw_turns", "pitch_turns", "roll_turns")


def _lasting(motion: Motion, steps: int) -> dict[str, np.ndarray]:
    """A motion cut to a length, or going on as in its last quarter."""
    end = len(motion["time"]) // 4
    more = max(steps - len(motion["time"]), 0)
    found = {}
    for name, values in motion.items():
        longer = np.concatenate([values, np.resize(values[-end:], more)])
        if name in _ADDED_UP:
            longer[len(values) :] = values[-1] + (values[-1] - values[-end]) / end * np.arange(1, more + 1)
        found[name] = longer[:steps]
    return found
