"""Environment facts and default configurations."""

import re
import secrets
import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

from p2p.contracts.env import ROBOT_ID, EnvModule, EnvSpec
from p2p.contracts.errors import InvalidInput, P2PError, TrainingFailed, UnknownName
from p2p.contracts.intent import Intent
from p2p.contracts.session import NewSession
from p2p.contracts.training import TrainConfig
from p2p.contracts.work import DescribeRequest
from p2p.envs import catalog
from p2p.rewards.definitions import commanded
from p2p.service.jobs.worker_jobs import last_line, run_to_end
from p2p.service.training.plan import commands_of, parse_config
from p2p.service.workspace import Workspace
from p2p.store import files
from p2p.store.iterations import IterationRecord
from p2p.store.robots import is_archive, is_model_file
from p2p.store.trusted_modules import trust
from p2p.training.presets import preset, robot_preset

_GYMNASIUM_ID = re.compile(r"([\w-]+/)?\w[\w.-]*-v\d{1,3}", re.ASCII)
"""An id as Gymnasium registers it, without the "module:" before it that would import one."""
_MODULE_ID = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):((?:[\w-]+/)?\w[\w.-]*-v\d{1,3})", re.ASCII)
"""An id that a module of the user's own registers."""


def list_environments() -> tuple[EnvSpec, ...]:
    """Environments described in the package."""
    return tuple(catalog.load(env_id) for env_id in catalog.known())


def default_config(spec: EnvSpec) -> TrainConfig:
    """Training configuration of an environment where nothing is said."""
    return parse_config({**preset(spec.env_id, of_robot=robot_preset(spec)), "env_id": spec.env_id})


def find_environment(ws: Workspace, name: str) -> EnvSpec:
    """Facts of the environment that a user names: by its id, by the name of a robot, or by its model file's path.

    A robot's facts have an id of their own, of its name and the hash of its model, and are kept under it.

    Raises:
        UnknownName: as `describe_environment`.
        InvalidInput: the model file is missing, broken or not taken, or its robot falls through the floor.
    """
    if is_archive(name):
        raise InvalidInput(
            f"{name[:200]} is an archive, which p2p does not open: unpack it, and name the model file in it "
            "(.xml, .mjcf or .urdf)."
        )
    if is_model_file(name):
        return _add_robot(ws, Path(name).expanduser().resolve())
    if _MODULE_ID.fullmatch(name) and len(name) <= 100:
        trust(_module_of(name))
        files.discard(ws.runs.environment_dir(name))  # its code may have changed
    return describe_environment(ws, name)


def list_robots(ws: Workspace) -> tuple[EnvSpec, ...]:
    """Robots that were added from model files, by their ids."""
    found = (IterationRecord(path).read_env_spec() for path in ws.runs.environment_dirs())
    return tuple(spec for spec in found if spec is not None and spec.robot is not None)


def describe_environment(ws: Workspace, env_id: str) -> EnvSpec:
    """Facts of an environment, by its id or a robot's name; an unknown one is described once from its live model.

    An id without its version is the newest of those that come with p2p.

    Raises:
        UnknownName: Gymnasium does not know `env_id` either, or it is not a MuJoCo environment.
    """
    if env_id in catalog.known():
        return catalog.load(env_id)
    robots = {} if ROBOT_ID.fullmatch(env_id) else ws.runs.robots().all()
    if env_id in robots:
        env_id = robots[env_id].env_id
    elif (newest := catalog.newest(env_id)) != env_id:
        return catalog.load(newest)
    kept = IterationRecord(ws.runs.environment_dir(env_id)).read_env_spec() if ROBOT_ID.fullmatch(env_id) else None
    if kept is not None and kept.env_id == env_id:
        return kept
    of_module = _MODULE_ID.fullmatch(env_id)
    if len(env_id) > 100 or not (of_module or _GYMNASIUM_ID.fullmatch(env_id)):  # no process is started to learn that
        raise UnknownName("environment", env_id[:100], (*catalog.known(), *robots))
    directory = ws.runs.environment_dir(env_id)
    record = IterationRecord(directory)
    if (spec := record.read_env_spec()) is None or spec.env_id != env_id:
        module = _module_of(env_id) if of_module else None
        record.save_describe_request(DescribeRequest(env_id=env_id, module=module))
        try:
            run_to_end(ws.backend, "describe", directory)
        except P2PError:
            files.discard(directory)
            raise
        spec = record.read_env_spec()
    if spec is None:
        raise UnknownName("environment", env_id, catalog.known())
    return spec


def environment_of(ws: Workspace, session: NewSession, intent: Intent | None = None) -> EnvSpec:
    """Facts of a session's environment, with the features of the commands that its criteria or its configuration give.

    Raises:
        UnknownName: as `describe_environment`.
        InvalidConfig: the robot cannot follow the commands, or a range of them is wrong.
    """
    told = intent.commands if intent is not None else None
    return commanded(describe_environment(ws, session.env_id), told or commands_of(session.config))


def _module_of(env_id: str) -> EnvModule:
    name = env_id.partition(":")[0]
    return EnvModule(name=name, folder=_folder_of_module(name))


def _folder_of_module(name: str) -> str | None:
    """Where a module is imported from, found without importing it: the working directory, or what is installed (None).

    Raises:
        InvalidInput: there is none, or its folder is one that no worker shall read.
    """
    top = name.partition(".")[0]
    try:
        found = PathFinder.find_spec(top, [str(Path.cwd())]) or find_spec(top)
    except (ImportError, ValueError):
        found = None
    if found is None or found.origin is None or not Path(found.origin).is_file():
        raise InvalidInput(
            f"There is no module {top!r}: expected {top}.py or {top}/__init__.py in {Path.cwd()}, or a package that is "
            "installed beside p2p."
        )
    origin = Path(found.origin).resolve()
    folder = origin.parent.parent if found.submodule_search_locations else origin.parent
    if any(folder.is_relative_to(Path(prefix).resolve()) for prefix in (sys.prefix, sys.base_prefix)):
        return None
    if folder in (Path.home().resolve(), Path(folder.anchor)):
        raise InvalidInput(
            f"{origin} is in {folder}, all of which the process that imports it could read. Put it in a folder of its "
            "own."
        )
    return str(folder)


def is_environment_id(text: str) -> bool:
    """Whether a text has the form of an id, so that it can be no name of a robot."""
    return _GYMNASIUM_ID.fullmatch(text) is not None or ROBOT_ID.fullmatch(text) is not None


def _add_robot(ws: Workspace, path: Path) -> EnvSpec:
    """Describe a robot from its model file, and keep what it was: the file may change afterwards."""
    if not path.is_file():
        raise InvalidInput(f"{path} is not a file: expected a robot's model, as MJCF (.xml) or URDF (.urdf).")
    name = re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_")[:40] or "robot"
    directory = ws.runs.environment_dir(f"new-{secrets.token_hex(4)}")
    record = IterationRecord(directory)
    record.save_describe_request(DescribeRequest(env_id=name, model_path=str(path)))
    try:
        run_to_end(ws.backend, "describe", directory)
        spec = record.read_env_spec()
        assert spec is not None, "a worker that describes writes it down"
        kept = IterationRecord(ws.runs.environment_dir(spec.env_id))
        if kept.read_env_spec() is None:
            kept.save_env_spec(spec)
    except TrainingFailed as error:
        status = ws.backend.status(directory)
        if not status.over_a_limit:
            raise
        raise InvalidInput(
            f"{path.name} is too large to be described. {last_line(status.error)} "
            "Leave out what the robot does not need to move."
        ) from error
    finally:
        files.discard(directory)
    return spec
