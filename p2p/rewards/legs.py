"""Which leg of a four-legged body is where. Front ends load this: no numpy."""

from typing import TYPE_CHECKING, NamedTuple

from p2p.contracts.env import bodies_of_legs, legs_of

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
    places = {body.name: body.rest_position for body in spec.bodies}
    w, x, y, z = spec.morphology.upright
    # The world's x and y axis as the torso sees them when it stands facing +x: forward and left in its own frame.
    forward = (1 - 2 * (y * y + z * z), 2 * (x * y - w * z))
    left = (2 * (x * y + w * z), 1 - 2 * (x * x + z * z))
    torso = places[spec.morphology.torso]
    found: dict[tuple[bool, bool], str] = {}
    for foot, *_ in legs:
        bodies = bodies_of_legs(spec)[foot]
        if not bodies:
            return None
        away = tuple(there - here for there, here in zip(places[bodies[0]], torso, strict=True))
        corner = tuple(away[0] * axis[0] + away[1] * axis[1] > 0.0 for axis in (forward, left))
        found[corner[0], corner[1]] = foot
    corners = ((True, True), (True, False), (False, True), (False, False))
    return FourFeet(*(found[corner] for corner in corners)) if set(found) == set(corners) else None
