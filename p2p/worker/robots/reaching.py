"""What a robot reaches for, and with what: a thing beside an arm, and the end of the arm."""

import re
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from p2p.contracts.env import Morphology
from p2p.contracts.errors import InvalidInput
from p2p.contracts.robot import RobotOverrides
from p2p.rewards.definitions import TorsoFreedom
from p2p.worker.engine.loose_thing import SPREAD_M
from p2p.worker.engine.morphology import FREE, base_of, index_of, largest_geom, name_of
from p2p.worker.robots.overrides import named, names

TIPS = ("grip", "pinch", "tcp", "ee", "eef", "effector", "attachment")
"""Words in the names of sites that say where an arm grips, the most telling first; "grip" stands for "gripper" too."""
TIP = "reaching_tip"
"""Name of a site that is added where the end of a chain has no site and no body of its own."""


@dataclass(frozen=True, slots=True)
class Reaching:
    """What reaches, and what for."""

    effector: str
    """A body or a site of the robot."""
    target: str
    """A body."""
    radius: float
    """Of the target [m]."""
    loose: str | None
    """The target, where it lies beside a robot that is fixed to the ground; None for what is part of either."""

    def of(self, morphology: Morphology) -> Morphology:
        """The parts of a body, with these two."""
        found = {"effector": self.effector, "target": self.target, "target_radius": self.radius}
        return morphology.model_copy(update={**found, "height_counts": True})


def find_reaching(
    spec: mujoco.MjSpec, torso: int, over: RobotOverrides, says: str, choices: list[str]
) -> Reaching | None:
    """What is said, else the one thing that lies loose beside a robot that is fixed to the ground; None without it.

    Args:
        spec: The model; a site may be added to it.
        torso: Body of the robot.
        over: What the file beside the model says.
        says: The same in words.
        choices: What is chosen is added to them.

    Raises:
        UnknownName: the file beside the model names what there is not.
        InvalidInput: it names what reaches, and there is nothing to be reached, or the other way round.
    """
    model = spec.compile()
    fixed = base_of(model, torso) is TorsoFreedom.FIXED
    loose = loose_bodies(model, torso)
    if over.target is not None:
        body = names(model, "body").index(named("body", over.target, names(model, "body")))
        target, why = _named_body(spec, body), says
    elif fixed and len(loose) == 1:
        target, why = _named_body(spec, loose[0]), "the one thing beside the robot that moves freely"
    else:
        _require_none_said(over, says)
        return None
    lies = fixed and index_of(model, "body", target) in loose
    laid = f"; laid within {100 * SPREAD_M:g} cm of its place anew in each episode" if lies else ""
    choices.append(f"to be reached: {target}, {why}{laid}")
    if over.end_effector is not None:
        sites = [model.site(site).name for site in range(model.nsite)]
        effector = named("body or site", over.end_effector, (*names(model, "body"), *filter(None, sites)))
        choices.append(f"reaches with: {effector}, {says}")
    elif fixed:
        effector, why = _end_of_chain(spec, model, torso)
        choices.append(f"reaches with: {effector}, {why}")
    else:
        _require_none_said(over, says)
        return None
    geom = largest_geom(model, index_of(model, "body", target))
    radius = float(model.geom_aabb[geom, 3:].min()) if geom is not None else 0.0
    return Reaching(effector, target, round(radius, 6), target if lies else None)


def _require_none_said(over: RobotOverrides, says: str) -> None:
    if over.end_effector is not None or over.target is not None:
        raise InvalidInput(
            f"end_effector and target belong together, {says}: expected both or none, for the other is found only "
            "where a robot is fixed to the ground with one loose thing beside it."
        )


def loose_bodies(model: mujoco.MjModel, torso: int) -> list[int]:
    """Bodies with a free joint that are not of the robot."""
    free = model.jnt_bodyid[model.jnt_type == FREE]
    return [int(body) for body in free if model.body_rootid[body] != model.body_rootid[torso]]


def _named_body(spec: mujoco.MjSpec, body: int) -> str:
    """Name of a body, which gets one where it has none."""
    found = list(spec.bodies)[body]
    found.name = found.name or f"body{body}"
    return str(found.name)


def _end_of_chain(spec: mujoco.MjSpec, model: mujoco.MjModel, torso: int) -> tuple[str, str]:
    """A site called like a gripper, else what is at the end of the robot's longest chain of joints; and why that."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    joints = {0: 0}
    """Body -> joints between it and the world."""
    for body in range(1, model.nbody):
        joints[body] = joints[int(model.body_parentid[body])] + int(model.body_jntnum[body])
    robot = [body for body in range(1, model.nbody) if model.body_rootid[body] == model.body_rootid[torso]]
    bodies = set(names(model, "body"))
    sites = {
        site: model.site(site).name
        for site in range(model.nsite)
        if int(model.site_bodyid[site]) in robot and joints[int(model.site_bodyid[site])]
        if model.site(site).name and model.site(site).name not in bodies  # such a name would mean the body
    }
    for word in TIPS:
        called = [site for site, name in sites.items() if _says(name, word)]
        if called:
            return sites[max(called, key=lambda site: joints[int(model.site_bodyid[site])])], "a site, by its name"
    longest = max(joints[body] for body in robot)
    why = f"at the end of its longest chain, of {longest} joints"
    ends = [body for body in robot if joints[body] == longest]
    last = int(model.body_weldid[max(ends, key=lambda body: np.linalg.norm(data.xpos[body] - data.xpos[torso]))])
    welded = [body for body in ends if int(model.body_weldid[body]) == last]
    here = [site for site in sites if int(model.site_bodyid[site]) in welded]
    if here:
        away = np.linalg.norm(data.site_xpos[here] - data.xpos[last], axis=1)
        return sites[here[int(away.argmax())]], f"a site {why}"
    if len(welded) > 1:  # bodies without a joint of their own, such as a tool's
        away = np.linalg.norm(data.xpos[welded] - data.xpos[last], axis=1)
        return _named_body(spec, welded[int(away.argmax())]), f"a body {why}"
    tip = _tip(model, last)
    if tip is None:
        return _named_body(spec, last), f"a body {why}"
    list(spec.bodies)[last].add_site(name=TIP, pos=tip)
    return TIP, f"the tip of {name_of(model, 'body', last)}, {why}"


def _says(name: str, word: str) -> bool:
    parts = re.findall(r"[a-z]+", name.lower())
    return any(part == word or (word == "grip" and part.startswith("grip")) for part in parts)


def _tip(model: mujoco.MjModel, body: int) -> NDArray[np.float64] | None:
    """Point of a body's shapes that is farthest from its joint, in its frame, shape (3,) [m]; None without shapes."""
    best: NDArray[np.float64] | None = None
    for geom in np.flatnonzero(model.geom_bodyid == body):
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
        axes = rotation.reshape(3, 3)
        centre = model.geom_pos[geom] + axes @ model.geom_aabb[geom, :3]
        length = float(np.linalg.norm(centre))
        if length < 1e-6:
            continue
        along = centre / length
        tip = centre + along * float(np.abs(axes.T @ along) @ model.geom_aabb[geom, 3:])
        if best is None or np.linalg.norm(tip) > np.linalg.norm(best):
            best = tip
    return best
