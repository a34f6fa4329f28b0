"""Let every body of a robot be seen in pictures, whatever meshes its file is without."""

import mujoco
import numpy as np

SHOWN_GROUPS = 3
"""Groups of geoms that are drawn: 0, 1 and 2, as MuJoCo's viewer draws them."""
SLENDERNESS = 0.1
"""Radius of a stick, as a share of its length."""
SHORTEST_M = 0.005
"""Shortest stick that is drawn [m]."""


def show_bodies(spec: mujoco.MjSpec, bare: set[int], choices: list[str]) -> None:
    """Show the hidden shapes of each body of which nothing is seen; one without any is drawn as sticks to its children.

    Sticks weigh nothing and touch nothing: masses and motion stay as they are.

    Args:
        spec: The model.
        bare: Numbers of the bodies that are without a mesh of theirs. They show all their shapes.
        choices: What is drawn is added to them.
    """
    model = spec.compile()
    bodies = list(spec.bodies)
    drawn = set()
    for at, body in enumerate(bodies):
        geoms = list(body.geoms)
        seen = any(geom.group < SHOWN_GROUPS and geom.rgba[3] > 0.0 for geom in geoms)
        if at in bare or not seen:
            for geom in geoms:
                geom.group = 0
        if geoms or at == 0:
            continue
        for child in np.flatnonzero(model.body_parentid == at):
            place = model.body_pos[child]
            length = float(np.linalg.norm(place))
            if child != 0 and length > SHORTEST_M:
                body.add_geom(
                    name=f"{body.name or at}_to_{bodies[child].name or child}",
                    type=mujoco.mjtGeom.mjGEOM_CAPSULE,
                    fromto=[0.0, 0.0, 0.0, *place],
                    size=[SLENDERNESS * length, 0.0, 0.0],
                    mass=0.0,
                    contype=0,
                    conaffinity=0,
                    group=0,
                )
                drawn.add(at)
    if drawn:
        choices.append(f"{len(drawn)} bodies of which nothing is seen are drawn as sticks")
