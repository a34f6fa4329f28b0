"""Lay the terrain of a session under a robot."""

from dataclasses import dataclass
from functools import lru_cache

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.terrain import ASIDE, Terrain
from p2p.worker.engine.morphology import TERRAIN, floor_geom, index_of, robot_geoms

Floats = NDArray[np.float64]

STARTS = 12
"""Places where episodes of trainings begin, and as many others for judged ones."""
UNIT = 2.0**-10
"""Heights are whole multiples of this [m]: they are the same in the model, in its text and in every copy of both."""
THICKNESS = 1.0
"""Of the ground below its lowest place [m]: what falls fast is not to get through it."""


@dataclass(frozen=True, slots=True)
class LaidTerrain:
    """A robot on its terrain."""

    xml: str
    """The robot's model with the terrain for its floor, as one text."""
    training_starts: Floats
    """x and y of the places where episodes of trainings begin, shape (`STARTS`, 2) [m]."""
    judged_starts: Floats
    """The same of selection and report rollouts: others, so that a verdict is on ground that was not trained on."""


@lru_cache(maxsize=4)
def lay_terrain(env: EnvSpec, terrain: Terrain) -> LaidTerrain:
    """Put a height field in the place of a robot's floor; its material, friction and contacts stay as they are.

    Raises:
        InvalidConfig: the robot cannot have this terrain.
    """
    terrain.require(env)
    assert env.robot is not None, "it is required"
    spec = mujoco.MjSpec.from_string(env.robot.xml)
    model = spec.compile()
    torso = index_of(model, "body", env.morphology.torso)
    floor = floor_geom(model, torso)
    if floor is None or abs(float(model.geom_pos[floor, 2])) > 0.0 or abs(model.geom_quat[floor, 1:3]).max() > 1e-6:
        raise InvalidConfig(
            f"terrain takes the place of a level floor at height 0, and {env.env_id} has none. Leave terrain out."
        )
    reach = _reach(model, torso, np.array(env.robot.stance))
    if reach > terrain.flat_m:
        needed = float(np.ceil(20 * reach) / 20)
        if terrain.flat is not None:
            raise InvalidConfig(
                f"{env.env_id} reaches {reach:.2f} m to a side in its stance, and the ground about its start is flat "
                f"up to {terrain.flat:g} m. Give terrain a flat of {needed:g} or more, or none."
            )
        try:
            terrain = Terrain.model_validate({**terrain.model_dump(), "flat": needed})
        except ValueError as error:
            raise InvalidConfig(
                f"{env.env_id} needs flat ground up to {needed:g} m about its start. Give terrain a larger size."
            ) from error
    heights, starts = heights_of(terrain)
    lowest, highest = int(heights.min()), int(heights.max())
    rows, columns = heights.shape
    half = terrain.size / 2.0
    spec.add_hfield(
        name=TERRAIN,
        nrow=rows,
        ncol=columns,
        size=[half, half, max(1, highest - lowest) * UNIT, THICKNESS],
        userdata=heights.ravel().astype(np.float64),
    )
    for geom in spec.geoms:
        if geom.id == floor:
            geom.type = mujoco.mjtGeom.mjGEOM_HFIELD
            geom.hfieldname = TERRAIN
            geom.pos = [0.0, 0.0, lowest * UNIT]
            geom.quat = [1.0, 0.0, 0.0, 0.0]
        elif geom.type == mujoco.mjtGeom.mjGEOM_PLANE and geom.parent.name == "world":
            geom.group = 5  # a plane that is only looked at would hide what is lower
    spec.stat.extent = model.stat.extent  # pictures are cut off in the front by a share of it
    spec.stat.center = model.stat.center
    spec.compile()
    return LaidTerrain(spec.to_xml(), starts[:STARTS], starts[STARTS:])


def heights_of(terrain: Terrain) -> tuple[NDArray[np.int64], Floats]:
    """Heights of a terrain, in multiples of `UNIT`, and the places where episodes begin.

    Steps are climbed along x, the way in which every robot begins.

    Args:
        terrain: Which.

    Returns:
        Shape (number along y, number along x), and x and y of each start, shape (2 `STARTS`, 2) [m].
    """
    generator = np.random.default_rng(terrain.seed)
    starts = generator.uniform(-terrain.size / 4.0, terrain.size / 4.0, (2 * STARTS, 2))
    if terrain.kind == "rough":
        return np.rint(_rough(terrain, generator, starts) / UNIT).astype(np.int64), starts
    period = 2.0 * terrain.half_period
    aside = ASIDE * terrain.flat_m * generator.uniform(-1.0, 1.0, len(starts))
    starts[:, 0] = period * np.rint(starts[:, 0] / period) + aside
    rows, columns = terrain.shape
    x = np.linspace(-terrain.size / 2.0, terrain.size / 2.0, columns)
    away = np.abs(x - period * np.rint(x / period))
    number = np.clip(np.floor((away - terrain.lower_m) / terrain.depth) + 1.0, 0.0, terrain.count)
    profile = np.rint(number * terrain.height / UNIT).astype(np.int64)
    heights = np.repeat(profile[None], rows, axis=0)
    return heights, starts


def _rough(terrain: Terrain, generator: np.random.Generator, starts: Floats) -> Floats:
    """Noise on a grid, each height the weighted mean of its neighbours, faded out where episodes begin [m]."""
    rows, columns = terrain.shape
    noise = generator.uniform(-1.0, 1.0, (rows + 2, columns + 2))
    noise = 0.25 * noise[:-2] + 0.5 * noise[1:-1] + 0.25 * noise[2:]
    noise = 0.25 * noise[:, :-2] + 0.5 * noise[:, 1:-1] + 0.25 * noise[:, 2:]
    noise *= terrain.height / np.abs(noise).max()
    y, x = (np.linspace(-terrain.size / 2.0, terrain.size / 2.0, count) for count in (rows, columns))
    # a cell further than `flat`, so that no triangle of a flat patch has a corner beyond it
    flat = terrain.flat_m + 2.0 * terrain.spacing
    for start_x, start_y in starts:
        away = np.sqrt((x[None] - start_x) ** 2 + (y[:, None] - start_y) ** 2)
        noise *= np.clip(2.0 * (away - flat) / terrain.flat_m, 0.0, 1.0)
    return noise


def _reach(model: mujoco.MjModel, torso: int, stance: Floats) -> float:
    """How far the robot reaches from its torso to a side, at most [m]."""
    data = mujoco.MjData(model)
    data.qpos[:] = stance
    mujoco.mj_kinematics(model, data)
    geoms = robot_geoms(model, torso)
    away = data.geom_xpos[geoms, :2] - data.xpos[torso, :2]
    return float((np.sqrt((away**2).sum(axis=1)) + model.geom_rbound[geoms]).max())
