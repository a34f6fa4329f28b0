"""Robots that stay where they are: arms, and carts with poles. Their motions are written as joint positions."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.known_motions import ClaimKind
from p2p.worker.known_motions.motion import ramp
from p2p.worker.known_motions.scene import EXPLOIT, NEAR_MISS, POSITIVE, Random

Floats = NDArray[np.float64]
States = tuple[Floats, Floats]
"""Joint positions of shape (T + 1, nq), and the amplitude of the actions as a share of their range, shape (T + 1,)."""
UPPER_ARM = 0.1
FOREARM = 0.11
"""Links of the reacher [m]."""


@dataclass(frozen=True)
class Paths:
    """One motion, as joint positions."""

    key: str
    words: str
    kind: ClaimKind
    make: Callable[[Floats, Random], States]
    """From the times [s]."""


# Reacher ------------------------------------------------------------------------------------------------------------
def _reach(
    seconds: float = 0.9, miss: float = 0.0, stays: float = 1.0, shaking: float = 0.0, beside: bool = False
) -> Callable[[Floats, Random], States]:
    """Bring the fingertip to the target.

    Args:
        seconds: Until it is there [s].
        miss: Distance at which it stops [m].
        stays: Share of the rest of the time for which it stays; then it goes back.
        shaking: Of both joints, at 6 times a second [rad].
        beside: Whether it turns the other way, to a place beside.
    """

    def make(t: Floats, rng: Random) -> States:
        angle, radius = rng.uniform(-np.pi, np.pi), rng.uniform(0.12, 0.18)
        place = radius * np.array([np.cos(angle), np.sin(angle)])
        aim = place * (1.0 - miss / radius)
        if beside:
            aim = np.array([aim[1], -aim[0]])
        far = float(np.hypot(*aim))
        elbow = np.arccos(np.clip((far**2 - UPPER_ARM**2 - FOREARM**2) / (2 * UPPER_ARM * FOREARM), -1.0, 1.0))
        shoulder = np.arctan2(aim[1], aim[0]) - np.arctan2(FOREARM * np.sin(elbow), UPPER_ARM + FOREARM * np.cos(elbow))
        share = ramp(t, 0.0, seconds)
        if stays < 1.0:
            share = share - ramp(t, seconds + stays * (t[-1] - seconds), 0.4)
        shake = shaking * np.sin(2.0 * np.pi * 6.0 * t)
        qpos = np.stack([shoulder * share + shake, elbow * share - shake, 0 * t + place[0], 0 * t + place[1]], axis=1)
        return qpos, 0.1 + 0.0 * t + 2.0 * shaking

    return make


REACHES = (
    Paths("positive", "reaches it and stays", POSITIVE, _reach()),
    Paths("nothing", "does nothing", EXPLOIT, _reach(seconds=1e9)),
    Paths("little", "stops short of it", NEAR_MISS, _reach(miss=0.06)),
    Paths("leaves", "reaches it and leaves again", NEAR_MISS, _reach(stays=0.5)),
    Paths("way", "goes to another place", NEAR_MISS, _reach(beside=True)),
    Paths("late", "gets there too late", NEAR_MISS, _reach(seconds=2.9)),
    Paths("shakes", "trembles about it", EXPLOIT, _reach(shaking=0.35)),
)
GENTLE = (
    Paths("positive", "reaches it slowly and evenly", POSITIVE, _reach(seconds=1.6)),
    *(one for one in REACHES if one.key not in ("positive", "late")),
    Paths("late", "does not get there in time", NEAR_MISS, _reach(seconds=4.0)),
    Paths("jerks", "jerks there at once", NEAR_MISS, _reach(seconds=0.12)),
    Paths("unsteady", "trembles on the way and there", NEAR_MISS, _reach(seconds=1.6, shaking=0.06)),
)


# Pusher -------------------------------------------------------------------------------------------------------------
def _push(
    share: float = 1.0, over: float = 0.0, arm: float = 0.0, drift: float = 0.0
) -> Callable[[Floats, Random], States]:
    """Push the object towards the goal.

    Args:
        share: Of the way to it.
        over: Share of the way by which it goes on beyond.
        arm: How far the arm goes on swinging at the end [rad].
        drift: How far it is pushed on at the end [m].
    """

    def make(t: Floats, rng: Random) -> States:
        start = np.array([rng.uniform(-0.2, 0.2), rng.uniform(-0.3, -0.2)])
        gone = ramp(t, 0.8, 1.6) * (share + over) + drift / 0.25 * ramp(t, t[-1] - 0.8, 0.8)
        swing = 0.8 * ramp(t, 0.0, 2.4) + arm * np.sin(2.0 * np.pi * 1.2 * t) * ramp(t, 2.4, 0.3)
        qpos = np.zeros((len(t), 11))
        qpos[:, 0] = swing
        qpos[:, 1] = 0.5 * swing
        qpos[:, 3] = -swing
        qpos[:, 7:9] = start * (1.0 - gone[:, None])
        return qpos, 0.2 * (1.0 - ramp(t, 2.4, 0.3))

    return make


def _thrown(t: Floats, rng: Random) -> States:
    qpos, effort = _push()(t, rng)
    qpos[:, 7:9] *= 1.0 + 3.0 * ramp(t, 0.8, 0.5)[:, None] - 2.0 * ramp(t, 1.3, 0.5)[:, None]
    return qpos, effort


PUSHES = (
    Paths("positive", "pushes it to the goal and rests", POSITIVE, _push()),
    Paths("nothing", "does nothing", EXPLOIT, _push(share=0.0)),
    Paths("little", "pushes it half of the way", NEAR_MISS, _push(share=0.5)),
    Paths("short", "leaves it short of the goal", NEAR_MISS, _push(share=0.55)),
    Paths("way", "pushes it away", NEAR_MISS, _push(share=-1.0)),
    Paths("over", "pushes it on beyond", NEAR_MISS, _push(over=0.8)),
    Paths("drift", "pushes it off the goal at the end", NEAR_MISS, _push(drift=0.2)),
    Paths("restless", "goes on swinging its arm", NEAR_MISS, _push(arm=0.6)),
)


# Carts --------------------------------------------------------------------------------------------------------------
def _pole(
    poles: int, lean: float = 0.02, falls: bool = False, away: float = 0.0, effort: float = 0.1, to: float = 0.0
) -> Callable[[Floats, Random], States]:
    """Balance.

    Args:
        poles: How many.
        lean: Amplitude of its swing [rad].
        falls: Whether it falls at some time.
        away: How far the cart goes off [m].
        effort: Amplitude of the actions.
        to: How far the cart goes to and fro [m].
    """

    def make(t: Floats, rng: Random) -> States:
        hz = rng.uniform(0.6, 1.2)
        swing = lean * np.sin(2.0 * np.pi * hz * t + rng.uniform(0.0, 6.0))
        if falls:
            swing = swing + rng.choice([-1.0, 1.0]) * 1.2 * ramp(t, rng.uniform(0.4, 0.9) * t[-1], 0.6)
        side = rng.choice([-1.0, 1.0])
        cart = 0.02 * np.sin(2.0 * np.pi * hz * t) + side * away * ramp(t, 0.0, 2.0)
        cart = cart + to * np.sin(2.0 * np.pi * 0.5 * t)
        second = [-0.5 * swing] if poles == 2 else []
        return np.stack([cart, swing, *second], axis=1), effort + 0.0 * t

    return make


def _balancing(poles: int) -> tuple[Paths, ...]:
    return (
        Paths("positive", "balances", POSITIVE, _pole(poles)),
        Paths("falls", "lets it fall", NEAR_MISS, _pole(poles, falls=True)),
        Paths("leans", "swings far", NEAR_MISS, _pole(poles, lean=0.5)),
    )


ONE_POLE = (
    *_balancing(1),
    Paths("away", "rolls away to the end of the rail", NEAR_MISS, _pole(1, away=0.85)),
    Paths("fro", "rolls to and fro along the rail", NEAR_MISS, _pole(1, to=0.8)),
    Paths("nods", "leans by 12 degrees to either side", NEAR_MISS, _pole(1, lean=0.21)),
)
TWO_POLES = (
    *_balancing(2),
    Paths("lavish", "balances with all its strength", NEAR_MISS, _pole(2, effort=0.95)),
    Paths("half", "balances with half of its strength", NEAR_MISS, _pole(2, effort=0.6)),
    Paths("fro", "rolls to and fro along the rail", NEAR_MISS, _pole(2, to=0.8, effort=0.5)),
)
PLAIN_POLE = (*_balancing(1), Paths("nods", "leans by 14 degrees to either side", NEAR_MISS, _pole(1, lean=0.25)))

PATHS: dict[tuple[str, str], tuple[Paths, ...]] = {
    ("basic", "pendulum-balance"): PLAIN_POLE,
    ("basic", "reacher-reach"): REACHES,
    ("p2p-60", "pendulum-middle"): ONE_POLE,
    ("p2p-60", "reacher-hold"): REACHES,
    ("p2p-60", "reacher-gentle"): GENTLE,
    ("p2p-60", "pusher-leave"): PUSHES,
    ("p2p-60", "double-pendulum-thrifty"): TWO_POLES,
}
