"""Read a model file (MJCF or URDF) into one model that needs no other file. It is untrusted input.

Meshes become their convex hulls, which is what MuJoCo collides with; textures go. Masses and inertias stay as the file
has them.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np

from p2p.contracts.errors import InvalidInput
from p2p.rewards.definitions import TorsoFreedom
from p2p.store.robots import folder_of, overrides_file
from p2p.worker.engine.environment import redirect_warnings
from p2p.worker.engine.morphology import base_of, floor_geom, guess_morphology, index_of
from p2p.worker.robots.free_base import floating_urdf, free_body
from p2p.worker.robots.visible import show_bodies

MAX_FILE_BYTES = 5_000_000
MAX_ASSET_BYTES = 200_000_000
MIN_TIMESTEP, MAX_TIMESTEP = 2e-4, 0.02
MAX_PARTS = {"bodies": 300, "geoms": 2000, "joints": 200, "actuators": 200, "sites": 1000, "tendons": 200}
HULL_VERTICES = 64
"""Most vertices of a hull: a mesh of ten thousand then weighs 2 kB in every run."""
EARTH = 9.81
LEVEL = 0.999
"""Least cosine of how far a level floor leans."""
NOT_TAKEN = ("plugins", "flexes", "hfields", "skins")


def read(path: Path, free_base: bool = False) -> tuple[mujoco.MjSpec, list[str]]:
    """A model without files beside it, and what was changed on the way, in words.

    Args:
        path: MJCF or URDF.
        free_base: Whether a robot that its file fixes to the world is to move freely.

    Raises:
        InvalidInput: it is too large, or holds what is not taken; or its base cannot be freed.
        OSError, ValueError: it cannot be read, or MuJoCo does not take it.
    """
    redirect_warnings()
    if (size := path.stat().st_size) > MAX_FILE_BYTES:
        raise InvalidInput(f"{path.name} has {size:,} bytes: expected a model file of at most {MAX_FILE_BYTES:,}.")
    urdf = floating_urdf(path) if free_base else None
    spec = mujoco.MjSpec.from_file(str(path)) if urdf is None else mujoco.MjSpec.from_string(urdf)
    choices: list[str] = []
    _require_plain(path, spec)
    bare = _find_meshes(path, spec, choices)
    for texture in list(spec.textures):
        spec.delete(texture)
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    if free_base:
        if urdf is None:
            free_body(path, spec)
        choices.append(f"base: free, as {overrides_file(path).name} says; its file fixes it to the world")
    _give_floor(spec, choices)
    _give_gravity(spec, choices)
    _name_geoms(spec)
    show_bodies(spec, bare, choices)
    return mujoco.MjSpec.from_string(_without_files(spec, choices)), choices


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Inside: what stands in the way of taking a model is said of its file."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    except (MemoryError, RuntimeError) as error:  # the second is what MuJoCo makes of the first
        raise InvalidInput(
            f"{path.name} takes more memory than a model may have. Leave out what the robot does not need to move."
        ) from error
    except ValueError as error:
        words = " ".join(str(error).split())[:400]
        raise InvalidInput(
            f"MuJoCo does not take {path.name}: {words}. `python -m mujoco.viewer` says the same."
        ) from error


def _require_plain(path: Path, spec: mujoco.MjSpec) -> None:
    for kind in NOT_TAKEN:
        if list(getattr(spec, kind)):
            raise InvalidInput(f"{path.name} has {kind}: p2p takes models of rigid bodies on flat ground without them.")
    if not MIN_TIMESTEP <= spec.option.timestep <= MAX_TIMESTEP:
        raise InvalidInput(
            f"{path.name} has a timestep of {spec.option.timestep:g} s: expected one from {MIN_TIMESTEP:g} to "
            f"{MAX_TIMESTEP:g} s."
        )
    for kind, most in MAX_PARTS.items():
        if (found := len(list(getattr(spec, kind)))) > most:
            raise InvalidInput(f"{path.name} has {found:,} {kind}: expected at most {most:,}.")


def _find_meshes(path: Path, spec: mujoco.MjSpec, choices: list[str]) -> set[int]:
    """Name the file of each mesh; leave out those that are not there and that nothing collides with.

    Returns:
        Numbers of the bodies that have lost one.
    """
    folder, total = folder_of(path), 0
    missing: dict[str, str] = {}
    for mesh in [one for one in spec.meshes if one.file]:
        mesh.name = mesh.name or Path(mesh.file).stem
        found = _file_of(path, spec, mesh.file)
        if found is None:
            missing[mesh.name] = mesh.file
            continue
        if not found.is_relative_to(folder):
            raise InvalidInput(f"{path.name} names {found}: expected files in {folder} and below. Copy it there.")
        total += found.stat().st_size
        mesh.file = str(found)
    if total > MAX_ASSET_BYTES:
        raise InvalidInput(f"The meshes of {path.name} have {total:,} bytes: expected at most {MAX_ASSET_BYTES:,}.")
    bare = set()
    for at, geom in [(at, one) for at, body in enumerate(spec.bodies) for one in body.geoms if one.meshname in missing]:
        if geom.contype or geom.conaffinity:
            raise InvalidInput(
                f"{path.name} names {missing[geom.meshname]}, which is not in {folder}, and the robot collides with "
                "it: put the file there."
            )
        bare.add(at)
        spec.delete(geom)
    for mesh in [one for one in spec.meshes if one.name in missing]:
        spec.delete(mesh)
    if missing:
        choices.append(f"left out {len(missing)} meshes that are only seen, since their files are not there")
    return bare


def _file_of(path: Path, spec: mujoco.MjSpec, name: str) -> Path | None:
    """A mesh's file; None where there is none. A ROS package is the folder that the model file is in."""
    folder = folder_of(path)
    tried = [path.parent / (spec.meshdir or "") / name, path.parent / name]
    if name.startswith("package://"):  # it may name the folder by the way to it in its repository
        parts = Path(name.removeprefix("package://")).parts
        tried += [folder.joinpath(*parts[at:]) for at in range(1, len(parts))]
    return next((one.resolve() for one in tried if one.is_file()), None)


def _give_floor(spec: mujoco.MjSpec, choices: list[str]) -> None:
    """A floor that everything of the robot can collide with."""
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    if any(geom.type == plane for geom in spec.worldbody.geoms):
        return
    bits = reduce(or_, [geom.contype | geom.conaffinity for geom in spec.geoms], 1)
    spec.worldbody.add_geom(
        name="floor", type=plane, size=[0, 0, 0.05], contype=bits, conaffinity=bits, rgba=[0.8, 0.85, 0.8, 1]
    )
    spec.worldbody.add_light(pos=[0, 0, 3.0], dir=[0, 0, -1])
    choices.append("a floor was added, since the file has none")


def _give_gravity(spec: mujoco.MjSpec, choices: list[str]) -> None:
    """Weight for a free robot in a vacuum, where it would hover: some files leave gravity to their scene."""
    off = bool(spec.option.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY))
    weightless = off or not np.any(spec.option.gravity)
    free = any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in spec.joints)
    swims = spec.option.density > 0.0 or spec.option.viscosity > 0.0
    if not weightless or not free or swims:
        return
    spec.option.gravity = [0.0, 0.0, -EARTH]
    spec.option.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    choices.append(f"gravity: {EARTH:g} m/s^2 was added, since the file has none, nor a medium to swim in")


def _name_geoms(spec: mujoco.MjSpec) -> None:
    """Contacts are told by name."""
    for number, geom in enumerate(spec.geoms):
        if not geom.name:
            geom.name = f"{geom.parent.name or 'world'}_geom{number}"


def _without_files(spec: mujoco.MjSpec, choices: list[str]) -> str:
    """MJCF with hulls in place of mesh files, and with the masses that MuJoCo computed from the meshes."""
    model = spec.compile()
    root = ElementTree.fromstring(spec.to_xml())
    _level_floor(root, model, choices)
    if not model.nmesh:
        return ElementTree.tostring(root, encoding="unicode")
    meant, flat = _with_hulls(spec)
    for parent in list(root.iter()):
        for element in [one for one in parent if one.tag in ("mesh", "geom") and _mesh_of(one) in flat]:
            parent.remove(element)
    if flat:
        choices.append(f"left out {len(flat)} flat meshes, which are only seen")
    for element in root.iterfind("asset/mesh"):
        at = meant.mesh(element.attrib["name"]).id
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, meant.mesh_quat[at])
        corners = _hull(meant, at) @ rotation.reshape(3, 3).T + meant.mesh_pos[at]
        element.attrib.clear()
        element.attrib.update(name=meant.mesh(at).name, vertex=_numbers(corners.ravel()), inertia="convex")
        del element[:]
    world = root.find("worldbody")
    assert world is not None, "MuJoCo writes one"
    for at, body in enumerate(world.iter("body"), start=1):  # in the order of their numbers
        if body.find("inertial") is None:  # it would follow the hulls
            inertial = ElementTree.Element(
                "inertial",
                pos=_numbers(model.body_ipos[at]),
                quat=_numbers(model.body_iquat[at]),
                mass=_numbers(model.body_mass[at : at + 1]),
                diaginertia=_numbers(model.body_inertia[at]),
            )
            if model.body_mass[at] > 0.0:
                body.insert(0, inertial)
    choices.append(f"{model.nmesh} meshes became their convex hulls of at most {HULL_VERTICES} corners")
    return ElementTree.tostring(root, encoding="unicode")


def _level_floor(root: ElementTree.Element, model: mujoco.MjModel, choices: list[str]) -> None:
    """Move everything so that the floor is at height 0: heights are then over the floor."""
    torso = index_of(model, "body", guess_morphology(model).torso)
    floor = floor_geom(model, torso)
    if floor is None or base_of(model, torso) is TorsoFreedom.FIXED:
        return
    normal = np.zeros(3)
    mujoco.mju_rotVecQuat(normal, np.array([0.0, 0.0, 1.0]), model.geom_quat[floor])
    if normal[2] < LEVEL:
        raise InvalidInput(
            f"The floor leans by {np.degrees(np.arccos(np.clip(normal[2], -1, 1))):.0f} degrees: expected a level "
            "plane, with its z axis upwards."
        )
    height = float(model.geom_pos[floor, 2])
    if height == 0.0:
        return
    world = root.find("worldbody")
    assert world is not None, "MuJoCo writes one"
    for element in world:
        for name in ("pos",) if "fromto" not in element.attrib else ("fromto",):
            numbers = [float(one) for one in element.get(name, "0 0 0").split()]
            for at in range(2, len(numbers), 3):
                numbers[at] -= height
            element.set(name, _numbers(numbers))
    free = model.jnt_qposadr[model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)]
    for key in root.iterfind("keyframe/key[@qpos]"):
        pose = [float(one) for one in key.attrib["qpos"].split()]
        for at in free:
            pose[at + 2] -= height
        key.set("qpos", _numbers(pose))
    choices.append(f"the floor was at {height:g} m: everything was moved, so that it is at 0")


def _mesh_of(element: ElementTree.Element) -> str | None:
    return element.get("name") if element.tag == "mesh" else element.get("mesh")


def _with_hulls(spec: mujoco.MjSpec) -> tuple[mujoco.MjModel, set[str]]:
    """The model with a hull for each mesh, and the meshes that have none, since they are flat."""
    flat: set[str] = set()
    while True:
        copied = spec.copy()
        for geom in copied.geoms:  # MuJoCo makes hulls only of what collides
            if geom.meshname in flat:
                if geom.contype or geom.conaffinity:
                    raise ValueError(f"mesh {geom.meshname!r} is flat, and the robot collides with it")
            else:
                geom.contype = geom.conaffinity = 1
        for mesh in copied.meshes:
            mesh.maxhullvert = HULL_VERTICES
        try:
            return copied.compile(), flat
        except ValueError as error:
            found = re.search(r"mesh '([^']+)' has coplanar vertices", str(error))
            if found is None or found[1] in flat:
                raise
            flat.add(found[1])


def _numbers(values: Any) -> str:
    return " ".join(f"{value:.7g}" for value in values)


def _hull(model: mujoco.MjModel, mesh: int) -> Any:
    """Corners of a compiled mesh's convex hull, shape (n, 3), in the frame that MuJoCo gave it [m]."""
    start = model.mesh_vertadr[mesh]
    vertices = model.mesh_vert[start : start + model.mesh_vertnum[mesh]].astype(np.float64)
    graph = int(model.mesh_graphadr[mesh])
    if graph < 0:
        return vertices
    count = int(model.mesh_graph[graph])
    return vertices[model.mesh_graph[graph + 2 + count : graph + 2 + 2 * count]]
