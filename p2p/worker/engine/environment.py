"""Make the Gymnasium environment of a configuration, without its renderer and without MuJoCo's log file."""

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NoReturn

import gymnasium
import mujoco

from p2p.contracts.env import EnvModule, EnvSpec
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.terrain import Terrain
from p2p.worker.engine.robot_environment import RobotEnv
from p2p.worker.engine.terrain import lay_terrain

EnvKwargs = Mapping[str, bool | int | float | str]
TERMINATE = "terminate_when_unhealthy"
RENDERING = "gymnasium.envs.mujoco.mujoco_rendering"
"""Gymnasium's renderer. Its first MuJoCo environment imports it, and with it glfw and imageio: 3 MB in every training,
and a program that glfw starts to look for its library."""


def redirect_warnings() -> None:
    """Print simulation warnings to stderr, not into a log file in the working directory; drop those about a model
    file's wording."""

    def show(message: str) -> None:
        if "deprecated" not in message:
            print(f"mujoco: {message}", file=sys.stderr)

    mujoco.set_mju_user_warning(show)


class NoRenderer:
    """Replacement for Gymnasium's `MujocoRenderer`; p2p renders in separate processes."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        pass

    def render(self, *_args: Any) -> NoReturn:
        """Refused."""
        raise RuntimeError("environments are not drawn where they are stepped; use p2p.worker.render.")

    def close(self) -> None:
        """Nothing to close."""


def without_windows() -> None:
    """Make environments without a renderer, unless Gymnasium's is already loaded."""
    if RENDERING not in sys.modules:
        replacement: Any = ModuleType(RENDERING)
        replacement.MujocoRenderer = NoRenderer
        sys.modules[RENDERING] = replacement


def import_module(module: EnvModule) -> None:
    """Import a module that registers environments; it is its user's own code.

    Raises:
        InvalidConfig: it is not there, or raises.
    """
    if module.folder is not None and module.folder not in sys.path:
        sys.path.append(module.folder)
    try:
        importlib.import_module(module.name)
    except Exception as error:  # whatever code of the user's own raises
        where = module.folder or "what is installed"
        raise InvalidConfig(
            f"The module {module.name!r} of {where} cannot be imported: {type(error).__name__}: {error}. It is "
            "imported in a confined process, which reads its folder, has no network and writes nothing outside its job."
        ) from error


def make_environment(
    spec: EnvSpec,
    env_kwargs: EnvKwargs | None = None,
    terminate_when_unhealthy: bool = False,
    terrain: Terrain | None = None,
    training: bool = False,
) -> Any:
    """Environment without wrappers, hence without a time limit.

    Args:
        spec: Which environment.
        env_kwargs: Passed to `gymnasium.make`, or to the class of a robot.
        terminate_when_unhealthy: Passed too where the environment knows it.
        terrain: Its ground; None for the floor of its model.
        training: Whether its episodes begin at the places on the terrain that are a training's.

    Raises:
        InvalidConfig: the environment refuses `env_kwargs`, or they change the body; or it cannot have the terrain.
    """
    redirect_warnings()
    without_windows()
    if spec.module is not None:
        import_module(spec.module)
    kwargs: dict[str, Any] = dict(env_kwargs or {})
    if spec.can_disable_termination:
        kwargs[TERMINATE] = terminate_when_unhealthy
    laid = lay_terrain(spec, terrain) if terrain is not None else None
    try:
        env: Any = (
            RobotEnv(spec.robot, spec.frame_skip, laid=laid, training=training, **kwargs)
            if spec.robot is not None
            else gymnasium.make(spec.env_id, disable_env_checker=True, **kwargs).unwrapped
        )
    except (TypeError, ValueError, AssertionError, OSError) as error:
        raise InvalidConfig(f"{spec.env_id} does not take env_kwargs {dict(env_kwargs or {})}: {error}.") from error
    # Features and criteria assume the time step and the joints of `spec`.
    found = (env.dt, env.model.nq, env.model.nv)
    expected = (spec.dt, spec.nq, spec.nv)
    if found[1:] != expected[1:] or abs(found[0] - expected[0]) > 1e-9:
        raise InvalidConfig(
            f"env_kwargs change the body of {spec.env_id}: expected (dt, nq, nv) = {expected}, got {found}. "
            "Leave frame_skip and xml_file as they are."
        )
    return env


def compiled_model(
    spec: EnvSpec, env_kwargs: EnvKwargs | None = None, terrain: Terrain | None = None
) -> mujoco.MjModel:
    """MuJoCo model of an environment."""
    return make_environment(spec, env_kwargs, terrain=terrain).model
