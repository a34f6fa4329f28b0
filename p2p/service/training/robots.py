"""Robots by names: given, listed, taken back."""

import hashlib
import re
import shutil
from pathlib import Path

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.robot import NamedRobot
from p2p.service.training.environments import find_environment, is_environment_id
from p2p.service.workspace import Workspace
from p2p.store.robots import is_archive, is_model_file, overrides_file

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}", re.ASCII)


def add_robot(ws: Workspace, name: str, file: str) -> EnvSpec:
    """Describe a robot from its model file and keep it under a name, with copies of the file and its overrides.

    Raises:
        InvalidInput: the name is taken or none, or the file is none or not taken.
    """
    if not _NAME.fullmatch(name) or is_environment_id(name):
        raise InvalidInput(
            f"{name[:60]!r} cannot be a robot's name: expected lower-case letters, digits, '_' and '-', at most 40, "
            "and not the form of an environment's id."
        )
    if not is_model_file(file) and not is_archive(file):
        raise InvalidInput(f"{file} is no model file: expected MJCF (.xml, .mjcf) or URDF (.urdf).")
    path = Path(file).expanduser().resolve()
    spec = find_environment(ws, str(path))
    with ws.runs.robots().changing() as robots:
        if name in robots and robots[name].env_id != spec.env_id:
            raise InvalidInput(f"{name} is {robots[name].env_id} already. Remove it first, or choose another name.")
        directory = ws.runs.environment_dir(spec.env_id)
        for copied in (path, overrides_file(path)):
            if copied.is_file():
                shutil.copyfile(copied, directory / f"source{copied.suffix.lower()}")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        robots[name] = NamedRobot(env_id=spec.env_id, source=str(path), sha256=digest)
    return spec


def remove_robot(ws: Workspace, name: str) -> NamedRobot:
    """Take a robot's name back. What was trained on it stays, and goes on.

    Raises:
        UnknownName: no robot has it.
    """
    with ws.runs.robots().changing() as robots:
        if name not in robots:
            raise UnknownName("robot", name[:60], robots)
        return robots.pop(name)


def named_robots(ws: Workspace) -> dict[str, NamedRobot]:
    """Robots by their names."""
    return ws.runs.robots().all()
