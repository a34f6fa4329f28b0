"""Ground that a sentence asks for, in the size of the robot."""

from collections.abc import Iterator

from p2p.contracts.env import EnvSpec
from p2p.contracts.terrain import Terrain

ROUGH = 0.15
"""Height of rough ground above and below the level, as a share of the torso's height."""
STEP = 0.2
"""Height of a step, as a share of the torso's height. A proposal: that of a stair for a person, 17 cm at 90."""
DEPTH = 1.0
"""Depth of a step, as a share of the torso's height, and at least `LEAST_DEPTH_M`."""
LEAST_DEPTH_M = 0.3


def terrain_for(kind: str, env: EnvSpec) -> Terrain:
    """Terrain of a kind that a robot of this size can be expected to cross."""
    tall = max(0.1, env.rest_height)
    if kind == "rough":
        return Terrain(kind="rough", height=round(min(1.0, max(0.01, ROUGH * tall)), 2))
    depth = round(min(1.0, max(LEAST_DEPTH_M, DEPTH * tall)), 2)
    return Terrain(kind="steps", height=round(min(1.0, max(0.01, STEP * tall)), 2), depth=depth)


def on_ground(terrain: Terrain | None) -> Iterator[str]:
    """What is taken for granted of it, as a sentence."""
    if terrain is not None:
        yield f"The ground is of a size for this robot, {terrain.words}: `terrain` of the configuration sets another."
