"""Make a robot's environment out of a model file: stance, actions, feet, forward axis, healthy heights."""

from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from p2p.contracts.env import Morphology, RobotModel
from p2p.contracts.errors import InvalidInput
from p2p.rewards.definitions import TorsoFreedom
from p2p.worker.engine.morphology import base_of, floor_geom, guess_morphology, index_of, name_of, robot_geoms
from p2p.worker.robots.actions import Action, actions_of, add_servos, compile_actions
from p2p.worker.robots.model_file import naming, read
from p2p.worker.robots.stance import find_stance

CONTROL_S = 0.02
"""Control period [s], as legged robots are controlled."""
HEALTHY = (0.55, 1.6)
"""Lowest and highest torso of a robot that has not fallen, as shares of its height in the stance."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A robot, and the parts of it that sentences and features name."""

    robot: RobotModel
    morphology: Morphology
    actions: list[Action]
    frame_skip: int


def derive(path: Path) -> Derived:
    """Everything about a robot that its file does not say.

    Raises:
        InvalidInput: the file is broken or not taken, or the robot falls through the floor.
    """
    with naming(path):
        return _derived(path)


def _derived(path: Path) -> Derived:
    spec, choices = read(path)
    add_servos(spec, choices)
    model = spec.compile()
    if not model.nu:
        raise InvalidInput(f"{path.name} has nothing that moves: expected joints inside the robot.")
    guessed = guess_morphology(model)
    torso = index_of(model, "body", guessed.torso)
    free = base_of(model, torso) is TorsoFreedom.FREE
    stance = find_stance(model, torso, free, choices)
    actions = actions_of(model, stance.asked)
    compile_actions(spec, actions)
    xml = spec.to_xml()
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qpos[:] = stance.rests
    mujoco.mj_forward(model, data)
    morphology = guessed
    healthy = None
    if free:
        feet = _touching(model, data, torso)
        if feet:
            choices.append(f"feet: {', '.join(feet)}, on which it stands")
            morphology = guessed.model_copy(update={"feet": feet})
        sideways = _faces_sideways(model, data, torso)
        turn = 0.5**0.5
        if sideways:  # its y axis points forwards: it stands facing +x when it is turned to the right
            morphology = morphology.model_copy(update={"upright": (turn, 0.0, 0.0, -turn)})
        choices.append(f"forwards: its {'y' if sideways else 'x'} axis, about which its masses are mirrored")
        low, high = (share * float(data.xpos[torso, 2]) for share in HEALTHY)
        healthy = (low, high)
    elif base_of(model, torso) is TorsoFreedom.FIXED:
        choices.append(
            "fixed to the ground, since its base has no free joint (in URDF: a joint of type `floating` whose parent "
            "is `world`)"
        )
    robot = RobotModel(
        source=path.name, xml=xml, stance=tuple(stance.rests.tolist()), healthy=healthy, choices=tuple(choices)
    )
    return Derived(robot, morphology, actions, max(1, round(CONTROL_S / model.opt.timestep)))


def _touching(model: mujoco.MjModel, data: mujoco.MjData, torso: int) -> tuple[str, ...]:
    """Geoms of the robot that touch the floor, and those of the same shape at the same place of other legs."""
    floor = floor_geom(model, torso)
    pairs = [set(contact.geom.tolist()) for contact in data.contact]
    touching = {geom for pair in pairs if floor in pair for geom in pair - {floor}}
    like = {_shape(model, geom) for geom in touching}  # a leg that is a hair too short has a foot too
    found = [geom for geom in robot_geoms(model, torso).tolist() if _shape(model, geom) in like]
    return tuple(name_of(model, "geom", geom) for geom in found)


def _shape(model: mujoco.MjModel, geom: int) -> tuple[float, ...]:
    """Kind, size, collision bits and place in the tree: alike for the feet of a robot."""
    body, depth = int(model.geom_bodyid[geom]), 0
    while body:
        body, depth = int(model.body_parentid[body]), depth + 1
    bits = (int(model.geom_contype[geom]), int(model.geom_conaffinity[geom]))
    return (int(model.geom_type[geom]), *model.geom_size[geom].round(6).tolist(), *bits, depth)


def _faces_sideways(model: mujoco.MjModel, data: mujoco.MjData, torso: int) -> bool:
    """Whether its masses are mirrored across the y-z plane of the torso and not across the x-z plane."""
    bodies = np.flatnonzero(model.body_rootid == model.body_rootid[torso])
    places = (data.xipos[bodies] - data.xpos[torso]) @ data.xmat[torso].reshape(3, 3)
    masses = model.body_mass[bodies]

    def unlike(axis: int) -> float:
        mirrored = places.copy()
        mirrored[:, axis] *= -1.0
        gaps = np.linalg.norm(places[:, None] - mirrored[None], axis=2).min(axis=1)
        return float(masses @ gaps / masses.sum())

    return unlike(0) < unlike(1) - 0.005
