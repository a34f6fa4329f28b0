"""Which leg of a four-legged body is where."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from p2p.contracts.env import bodies_of_legs, legs_of
from p2p.rewards.rotations import conjugate, forward_axis, left_axis

if TYPE_CHECKING:  # see `p2p.rewards.features`
    from p2p.contracts.env import EnvSpec


class FourFeet(NamedTuple):
    """The feet of a four-legged body, by where their legs are."""

    front_left: str
    front_right: str
    rear_left: str
    rear_right: str


def four_feet(spec: "EnvSpec") -> FourFeet | None:
    """The first foot of each of four legs, one at each corner of the torso; None for any other body.

    Names are not trusted: those of an ant say "front" of two legs on its left.
    """
    legs = legs_of(spec)
    if len(legs) != len(FourFeet._fields):
        return None
    places = {body.name: np.array(body.rest_position) for body in spec.bodies}
    faces = conjugate(np.array([spec.morphology.upright]))
    found: dict[tuple[bool, bool], str] = {}
    for foot, *_ in legs:
        bodies = bodies_of_legs(spec)[foot]
        if not bodies:
            return None
        way = places[bodies[0]] - places[spec.morphology.torso]
        found[bool(way @ forward_axis(faces)[0] > 0.0), bool(way @ left_axis(faces)[0] > 0.0)] = foot
    corners = ((True, True), (True, False), (False, True), (False, False))
    return FourFeet(*(found[corner] for corner in corners)) if set(found) == set(corners) else None
