"""Describe an environment from its live model.

`python -m p2p.worker.description.describe` writes the description of every environment p2p ships.
"""

import hashlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np

from p2p.contracts.env import Actuator, Body, Camera, EnvModule, EnvSpec, Geom, InfoKey, Joint, Morphology
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.envs.morphology import PORTRAITS, Portrait, side_view
from p2p.rewards.definitions import TorsoFreedom, features_of
from p2p.worker.description.observations import describe_observation
from p2p.worker.engine.environment import import_module, redirect_warnings
from p2p.worker.engine.morphology import (
    FREE,
    HINGE,
    SLIDE,
    base_of,
    floor_geom,
    guess_morphology,
    index_of,
    name_of,
    robot_geoms,
)
from p2p.worker.engine.robot_environment import MAX_EPISODE_STEPS, RobotEnv
from p2p.worker.features.kinematics import Floor, GeomHeights
from p2p.worker.robots.derive import derive

DATA = Path(__file__).parents[2] / "envs" / "data"
SETTLING_S = 3.0
"""Time after which a robot without control counts as resting [s]."""
ROLLOUT_STEPS = 100
"""Length of the random rollout that shows what `info` holds."""
VERSION_LENGTH = 8
"""Digits of a model's hash in a robot's id."""
USED = ("data", "dt", "init_qpos", "init_qvel", "set_state", "_get_obs")
"""What p2p uses of an environment beside its model."""
CAMERA_DISTANCE = 3.2
"""Distance of the camera of an unknown robot, in units of the robot's reach."""


def describe(env_id: str, module: EnvModule | None = None) -> EnvSpec:
    """All facts about a Gymnasium MuJoCo environment.

    Args:
        env_id: Its id, or "module:Id".
        module: The module of the latter.

    Raises:
        UnknownName: Gymnasium has no environment of that id.
        InvalidInput: it is not a MuJoCo environment with a flat observation, or cannot be started here.
    """
    if module is not None:
        import_module(module)
    with _started(env_id.rpartition(":")[2] if module is not None else env_id) as env:
        model = env.unwrapped.model
        initial = mujoco.MjData(model)
        mujoco.mj_forward(model, initial)
        portrait = PORTRAITS.get(env_id) or Portrait(
            f"{env_id}, described from its model alone.", *_guessed(model, initial, guess_morphology(model))
        )
        steps = env.spec.max_episode_steps or MAX_EPISODE_STEPS
        described = _described(env_id, env, initial, portrait, steps, SETTLING_S)
        return described.model_copy(update={"module": module}) if module is not None else described


def describe_robot(name: str, path: Path) -> EnvSpec:
    """All facts about a robot from a model file, which is its environment from then on.

    Args:
        name: What its id begins with; the rest of it is the hash of the model.
        path: MJCF or URDF, with its meshes in the same folder or below.

    Raises:
        InvalidInput: the file is broken or not taken, or the robot falls through the floor.
    """
    derived = derive(path)
    model = derived.robot
    env = RobotEnv(model, derived.frame_skip)
    initial = mujoco.MjData(env.model)
    initial.qpos[:] = model.stance
    mujoco.mj_forward(env.model, initial)
    portrait = Portrait(f"From {model.source}.", *_guessed(env.model, initial, derived.morphology))
    parts: tuple[object, ...] = (model.xml, model.stance, model.healthy, derived.morphology, derived.frame_skip)
    if derived.morphology.target is not None:  # they were not yet told when robots without a target got their ids
        parts = (*parts, derived.morphology.target_radius, derived.morphology.height_counts)
    if model.lying is not None:
        parts = (*parts, model.lying)
    version = hashlib.sha256(repr(parts).encode()).hexdigest()[:VERSION_LENGTH]
    spec = _described(f"{name}-{version}", env, initial, portrait, MAX_EPISODE_STEPS, settling_s=0.0)  # it rests
    actions = tuple(
        actuator
        if control.kind == "torque"
        else actuator.model_copy(update={"unit": _TARGETS[control.kind, actuator.unit], "gear": _rounded(action.half)})
        for actuator, control, action in zip(spec.action, model.control, derived.actions, strict=True)
    )
    return spec.model_copy(update={"robot": model, "action": actions})


_TARGETS = {("position", "N"): "m", ("position", "N m"): "rad", ("velocity", "N"): "m/s", ("velocity", "N m"): "rad/s"}
"""Unit of what a servo is asked for, by its kind and the unit of its force."""


def _described(
    env_id: str, env: Any, initial: mujoco.MjData, portrait: Portrait, steps: int, settling_s: float
) -> EnvSpec:
    """Facts of an environment.

    Args:
        env_id: Its id.
        env: As it was made.
        initial: Its simulator in the initial pose.
        portrait: What its model does not say.
        steps: Its time limit.
        settling_s: Time after which its robot rests, from the initial pose and without control [s].
    """
    inner = env.unwrapped
    model = inner.model
    body = portrait.morphology
    torso = index_of(model, "body", body.torso)
    switch = "terminate_when_unhealthy" in inspect.signature(type(inner).__init__).parameters
    return EnvSpec(
        env_id=env_id,
        description=portrait.description,
        nq=model.nq,
        nv=model.nv,
        dt=_rounded(inner.dt),
        frame_skip=inner.frame_skip,
        max_episode_steps=steps,
        termination=_termination(inner),
        can_disable_termination=switch,
        observation=describe_observation(inner),
        action=tuple(_actuator(model, index) for index in range(model.nu)),
        info=_info(env),
        bodies=tuple(
            Body(
                name=name_of(model, "body", index),
                parent=name_of(model, "body", int(model.body_parentid[index])),
                mass=_rounded(model.body_mass[index]),
                rest_position=_triple(initial.xpos[index]),
            )
            for index in range(1, model.nbody)
        ),
        joints=tuple(_joint(model, index) for index in range(model.njnt)),
        geoms=tuple(
            Geom(
                name=name_of(model, "geom", index),
                body=name_of(model, "body", int(model.geom_bodyid[index])),
                kind=mujoco.mjtGeom(int(model.geom_type[index])).name.removeprefix("mjGEOM_").lower(),
                size=_triple(model.geom_size[index]),
            )
            for index in range(model.ngeom)
        ),
        sensors=tuple(name_of(model, "sensor", index) for index in range(model.nsensor)),
        total_mass=_rounded(model.body_mass.sum()),
        rest_height=_rounded(initial.xpos[torso, 2]),
        rest_clearance=_rest_clearance(model, initial, body, settling_s),
        morphology=body,
        camera=portrait.camera,
        features=features_of(base_of(model, torso), body, floor_geom(model, torso) is not None),
    )


@contextmanager
def _started(env_id: str) -> Iterator[Any]:
    try:
        spec = gymnasium.spec(env_id)
    except (gymnasium.error.Error, ImportError) as error:
        raise UnknownName("environment", env_id, PORTRAITS) from error
    redirect_warnings()
    try:
        env = gymnasium.make(spec, disable_env_checker=True)
    except (gymnasium.error.Error, ImportError, OSError, TypeError) as error:
        raise InvalidInput(f"{env_id} cannot be started on this machine: {error}") from error
    try:
        model = getattr(env.unwrapped, "model", None)
        if not isinstance(model, mujoco.MjModel) or not hasattr(env.unwrapped, "frame_skip"):
            raise InvalidInput(f"{env_id} is not a MuJoCo environment of Gymnasium. Known: {', '.join(PORTRAITS)}.")
        if lacking := [name for name in USED if not hasattr(env.unwrapped, name)]:
            raise InvalidInput(
                f"{env_id} lacks {', '.join(lacking)}: expected a subclass of gymnasium.envs.mujoco.MujocoEnv that "
                "makes its observations in `_get_obs()`."
            )
        if not isinstance(env.observation_space, gymnasium.spaces.Box) or len(env.observation_space.shape) != 1:
            raise InvalidInput(f"{env_id} has no flat observation vector but {env.observation_space}.")
        yield env
    finally:
        env.close()


def _guessed(model: mujoco.MjModel, initial: mujoco.MjData, morphology: Morphology) -> tuple[Morphology, Camera]:
    """The parts of an unknown robot, and a camera that has all of it in view."""
    torso = index_of(model, "body", morphology.torso)
    if base_of(model, torso) is TorsoFreedom.FIXED:  # it stays where it is, and so does what lies beside it
        seen = np.flatnonzero(model.geom_bodyid > 0)
        places = initial.geom_xpos[seen]
        middle = (places.min(axis=0) + places.max(axis=0)) / 2
        reach = np.linalg.norm(places - middle, axis=1) + model.geom_rbound[seen]
        return morphology, side_view("world", _short(CAMERA_DISTANCE * reach.max(initial=0.1)))
    geoms = robot_geoms(model, torso)
    reach = np.linalg.norm(initial.geom_xpos[geoms] - initial.xpos[torso], axis=1) + model.geom_rbound[geoms]
    return morphology, side_view(morphology.torso, _short(CAMERA_DISTANCE * reach.max(initial=0.1)))


def _termination(env: Any) -> str:
    fixed = _TERMINATION.get(type(env).__name__)
    if fixed is not None:
        return fixed
    if not getattr(env, "_terminate_when_unhealthy", False):
        return "never" if isinstance(env, RobotEnv) else "by a rule of the environment's own, if it has one"
    rules = [_leaving("the torso's height", "m", env._healthy_z_range)]
    if hasattr(env, "_healthy_angle_range"):
        rules.append(_leaving("its pitch", "rad", env._healthy_angle_range))
    if hasattr(env, "_healthy_state_range"):
        rules.append(_leaving("any joint's position or velocity", "SI units", env._healthy_state_range))
    return "when " + ", or ".join(rules)


def _leaving(what: str, unit: str, limits: tuple[float, float]) -> str:
    low, high = limits
    if np.isinf(high):
        return f"{what} falls to {low:g} {unit}"
    return f"{what} leaves [{low:g}, {high:g}] {unit}"


_TERMINATION = {
    "HalfCheetahEnv": "never",
    "SwimmerEnv": "never",
    "ReacherEnv": "never",
    "PusherEnv": "never",
    "HumanoidStandupEnv": "never",
    "InvertedPendulumEnv": "when the pole leans by more than 0.2 rad",
    "InvertedDoublePendulumEnv": "when the tip of the upper pole is at 1 m or lower",
}


def _actuator(model: mujoco.MjModel, index: int) -> Actuator:
    target = int(model.actuator_trnid[index, 0])
    kind = mujoco.mjtTrn(int(model.actuator_trntype[index])).name.removeprefix("mjTRN_").lower()
    at_joint = kind.startswith("joint")
    low, high = model.actuator_ctrlrange[index]
    name = name_of(model, "joint" if at_joint else _PULLED.get(kind, "body"), target)
    return Actuator(
        index=index,
        name=model.actuator(index).name or name,
        joint=name,
        low=_rounded(low),
        high=_rounded(high),
        unit="N m" if at_joint and model.jnt_type[target] != SLIDE else "N",
        gear=_rounded(model.actuator_gear[index, 0]),
    )


_PULLED = {"tendon": "tendon", "site": "site", "slidercrank": "site"}
"""What an actuator acts on, by its kind of transmission."""


def _info(env: Any) -> tuple[InfoKey, ...]:
    """Smallest and largest value per key of `info`, over a short reproducible random rollout."""
    env.reset(seed=0)
    env.action_space.seed(0)
    seen: dict[str, list[float]] = {}
    for _ in range(ROLLOUT_STEPS):
        *_, terminated, truncated, info = env.step(env.action_space.sample())
        for key, value in info.items():
            seen.setdefault(key, []).extend(np.ravel(value).astype(float).tolist())
        if terminated or truncated:
            env.reset()
    return tuple(InfoKey(name=key, low=_short(min(values)), high=_short(max(values))) for key, values in seen.items())


def _joint(model: mujoco.MjModel, index: int) -> Joint:
    limits = [_rounded(end) for end in model.jnt_range[index]] if model.jnt_limited[index] else [None, None]
    return Joint(
        name=name_of(model, "joint", index),
        kind={FREE: "free", SLIDE: "slide", HINGE: "hinge"}.get(int(model.jnt_type[index]), "ball"),
        body=name_of(model, "body", int(model.jnt_bodyid[index])),
        axis=_triple(model.jnt_axis[index]),
        low=limits[0],
        high=limits[1],
        qpos_index=int(model.jnt_qposadr[index]),
        qvel_index=int(model.jnt_dofadr[index]),
    )


def _rest_clearance(model: mujoco.MjModel, initial: mujoco.MjData, body: Morphology, settling_s: float) -> float:
    """Distance of the lowest geom to the floor after some seconds without control, rounded to 0.1 mm [m]."""
    torso = index_of(model, "body", body.torso)
    if floor_geom(model, torso) is None or base_of(model, torso) is TorsoFreedom.FIXED:
        return 0.0
    data = mujoco.MjData(model)
    data.qpos[:] = initial.qpos
    mujoco.mj_step(model, data, nstep=round(settling_s / model.opt.timestep))
    mujoco.mj_kinematics(model, data)
    lowest = GeomHeights(model, torso).lowest(data.geom_xpos[None, :, 2], data.geom_xmat[None, :, 6:])
    low, *_ = Floor(model, torso, body.feet, body.trunk).read(lowest)
    return round(float(low[0]), 4)


def _rounded(value: float) -> float:
    return round(float(value), 6)


def _short(value: float) -> float:
    return float(f"{value:.3g}") + 0.0


def _triple(values: Any) -> tuple[float, float, float]:
    x, y, z = (_rounded(value) for value in values)
    return x, y, z


def main() -> None:
    """Regenerate the packaged descriptions."""
    for env_id in PORTRAITS:
        (DATA / f"{env_id}.json").write_text(describe(env_id).model_dump_json(indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
