"""Give a robot whose file fixes it to the world a base that moves freely, as `base = "free"` asks for."""

from pathlib import Path
from xml.etree import ElementTree

import mujoco

from p2p.contracts.errors import InvalidInput
from p2p.rewards.definitions import TorsoFreedom
from p2p.store.robots import overrides_file
from p2p.worker.engine.morphology import base_of, guess_morphology, index_of, name_of

WORLD = "world"


def floating_urdf(path: Path) -> str | None:
    """The text of a URDF whose root hangs on the world by a joint of type `floating`; None of an MJCF file.

    Without such a joint MuJoCo merges the root into the world when it reads the file, and its mass with it.

    Raises:
        InvalidInput: the root floats already, moves by other joints, or is not one link.
    """
    try:
        robot = ElementTree.fromstring(path.read_bytes())
    except ElementTree.ParseError as error:
        raise ValueError(f"XML Error: {error}") from error
    if robot.tag != "robot":
        return None
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    roots = [name for link in robot.iterfind("link") if (name := link.get("name", "")) not in children]
    if len(roots) != 1:
        raise InvalidInput(f"{path.name} has the roots {', '.join(roots)}: expected one link that is no joint's child.")
    joints = [joint for joint in robot.iterfind("joint") if _end(joint, "parent") == roots[0]]
    if any(joint.get("type") == "floating" for joint in joints):
        raise _already(path, roots[0])
    if roots[0] != WORLD:
        ElementTree.SubElement(robot, "link", name=WORLD)
        joint = ElementTree.SubElement(robot, "joint", name=f"{roots[0]}_free", type="floating")
        ElementTree.SubElement(joint, "parent", link=WORLD)
        ElementTree.SubElement(joint, "child", link=roots[0])
    elif len(joints) == 1 and joints[0].get("type") == "fixed":
        joints[0].set("type", "floating")
    else:
        raise _moves(path, [joint.get("name", "") for joint in joints])
    return ElementTree.tostring(robot, encoding="unicode")


def free_body(path: Path, spec: mujoco.MjSpec) -> None:
    """Give the first body of an MJCF robot a free joint, and its keyframes the place where that body is.

    Raises:
        InvalidInput: it is free already, or moves by other joints.
    """
    model = spec.compile()
    torso = index_of(model, "body", guess_morphology(model).torso)
    root = int(model.body_rootid[torso])
    if base_of(model, torso) is TorsoFreedom.FREE:
        raise _already(path, name_of(model, "body", torso))
    own = [joint for joint in range(model.njnt) if int(model.jnt_bodyid[joint]) == root]
    if own:
        raise _moves(path, [name_of(model, "joint", joint) for joint in own])
    below = model.body_rootid[model.jnt_bodyid] == root
    if not below.any():
        return  # nothing moves, which is said later
    at, dof = int(model.jnt_qposadr[below][0]), int(model.jnt_dofadr[below][0])
    place = [*model.body_pos[root], *model.body_quat[root]]
    for key in spec.keys:
        if len(key.qpos):
            key.qpos = [*list(key.qpos)[:at], *place, *list(key.qpos)[at:]]
        if len(key.qvel):
            key.qvel = [*list(key.qvel)[:dof], *[0.0] * 6, *list(key.qvel)[dof:]]
    list(spec.bodies)[root].add_freejoint()


def _end(joint: ElementTree.Element, which: str) -> str | None:
    found = joint.find(which)
    return None if found is None else found.get("link")


def _already(path: Path, base: str) -> InvalidInput:
    return InvalidInput(
        f'{overrides_file(path).name} says base = "free", and {base} of {path.name} is free already: leave the key out.'
    )


def _moves(path: Path, joints: list[str]) -> InvalidInput:
    return InvalidInput(
        f'{overrides_file(path).name} says base = "free", and the base of {path.name} moves by '
        f"{', '.join(joints)}: expected a base that is fixed to the world. Take these joints out of the file, or leave "
        "the key out."
    )
