"""Feet of a robot: of what touches the floor in its stance, that at the ends of its legs."""

import re
from collections.abc import Iterable

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.worker.engine.morphology import Indices

HEEL = 0.25
"""Longest way from a heel's body to that of the toes, as a share of the way from the leg's first body to the toes."""
_CALLED = re.compile("foot|toe|heel|sole", re.IGNORECASE)


def feet_of(model: mujoco.MjModel, torso: int, solid: Indices, touching: Indices) -> set[int]:
    """Geoms that are feet.

    A robot that kneels or lies touches the floor with shanks and thighs too: of each branch of its tree only the
    outermost bodies that touch have feet, heels and toes alike. A leg that is a hair too short has one as well: a geom
    of the same shape and at the same depth. Where some geoms of a body are called feet, the others of it are none. A
    robot that lies on its torso and has a single branch has no legs: all of it that touches counts.

    Args:
        model: Of the robot.
        torso: Its torso.
        solid: Geoms of it that collide with the floor.
        touching: Those of them that touch it in the stance.
    """
    bodies = model.geom_bodyid
    legs = _outermost(model, torso, bodies[touching])
    if torso in bodies[touching] and len(legs) == 1:
        return {int(geom) for geom in touching}
    found = touching[np.isin(bodies[touching], _with_heels(model, torso, legs))]
    like = {_shape(model, int(geom)) for geom in found}
    alike = [int(geom) for geom in solid if _shape(model, int(geom)) in like]
    both = {*map(int, found), *alike}
    ends = _with_heels(model, torso, _outermost(model, torso, bodies[list(both)]))
    return _called_feet(model, {geom for geom in both if int(bodies[geom]) in ends})


def _called_feet(model: mujoco.MjModel, found: set[int]) -> set[int]:
    """The geoms of each body, or only those called feet where some are.

    A foot that is fixed to its shank, as in most URDF files, becomes a geom of the shank's body, and both touch.
    """
    called = {geom for geom in found if _CALLED.search(mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, geom) or "")}
    with_called = {int(model.geom_bodyid[geom]) for geom in called}
    return {geom for geom in found if geom in called or int(model.geom_bodyid[geom]) not in with_called}


def _outermost(model: mujoco.MjModel, torso: int, bodies: Iterable[int]) -> set[int]:
    """Of some bodies those on which no other of them hangs."""
    mine = {int(body) for body in bodies}
    return mine - {above for body in mine for above in _above(model, torso, body)}


def _with_heels(model: mujoco.MjModel, torso: int, ends: set[int]) -> list[int]:
    """The ends of legs, and the bodies before them that are near for so long a leg."""
    places = _places(model)
    found = set(ends)
    for end in ends:
        leg = [end, *(body for body in _above(model, torso, end) if body != torso)]
        steps = np.linalg.norm(np.diff(places[leg], axis=0), axis=1)
        near = np.flatnonzero(np.cumsum(steps) <= HEEL * steps.sum())
        found.update(leg[1 + at] for at in near)
    return sorted(found)


def _places(model: mujoco.MjModel) -> NDArray[np.float64]:
    """Where each body hangs on the one before it: its joint's anchor, else its frame, shape (nbody, 3) [m]."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    places: NDArray[np.float64] = data.xpos.copy()
    places[model.jnt_bodyid] = data.xanchor
    return places


def _above(model: mujoco.MjModel, torso: int, body: int) -> list[int]:
    """Bodies that one hangs on, up to its torso, or to the first of its tree where the torso is elsewhere."""
    found = []
    while body not in (0, torso) and (body := int(model.body_parentid[body])):
        found.append(body)
    return found


def _shape(model: mujoco.MjModel, geom: int) -> tuple[float, ...]:
    """Kind, size, collision bits and place in the tree: alike for the feet of a robot."""
    body, depth = int(model.geom_bodyid[geom]), 0
    while body:
        body, depth = int(model.body_parentid[body]), depth + 1
    bits = (int(model.geom_contype[geom]), int(model.geom_conaffinity[geom]))
    return (int(model.geom_type[geom]), *model.geom_size[geom].round(6).tolist(), *bits, depth)
