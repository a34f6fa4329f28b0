"""Training settings per environment and kind of robot, as far as they do not depend on what is trained.

The figures come from trainings of half a minute to a minute on one core.
"""

from collections.abc import Mapping

from p2p.contracts.env import EnvSpec, legs_of

_LONG_ROLLOUTS: dict[str, object] = {
    "n_envs": 8,
    "n_steps": 128,
    "n_epochs": 10,
    "learning_rate": 5e-4,
    "gamma": 0.995,
    "gae_lambda": 0.97,
}
_FEW_STEPS: dict[str, object] = {"log_std_init": -1.0, "n_epochs": 10, "batch_size": 64, "gamma": 0.97}
_ONLY_POSITIONS_AND_VELOCITIES: dict[str, object] = {
    "env_kwargs": {
        "include_cinert_in_observation": False,
        "include_cvel_in_observation": False,
        "include_qfrc_actuator_in_observation": False,
        "include_cfrc_ext_in_observation": False,
    }
}

_PRESETS: dict[str, dict[str, object]] = {
    "HalfCheetah-v5": {},
    "Hopper-v5": _LONG_ROLLOUTS,
    "Walker2d-v5": {},
    "Ant-v5": {**_FEW_STEPS, "env_kwargs": {"include_cfrc_ext_in_observation": False}},
    "Humanoid-v5": {**_FEW_STEPS, "gamma": 0.99, **_ONLY_POSITIONS_AND_VELOCITIES},
    "HumanoidStandup-v5": {**_FEW_STEPS, "gamma": 0.99, **_ONLY_POSITIONS_AND_VELOCITIES},
    "Swimmer-v5": {
        "n_envs": 8,
        "n_steps": 512,
        "n_epochs": 10,
        "learning_rate": 5e-4,
        "activation": "tanh",
        "log_std_init": 0.0,
        "gamma": 0.9999,
        "gae_lambda": 0.98,
    },
    "Reacher-v5": {"episode_s": 2.0},
    "Pusher-v5": {},
    "InvertedPendulum-v5": {"terminate_when_unhealthy": True},
    "InvertedDoublePendulum-v5": {"terminate_when_unhealthy": True, "episode_s": 5.0},
}
"""Gymnasium's episodes of the double pendulum last 50 s. Once it balances, it sees nothing else in them, and forgets
how to catch a start that leans: of 20 starts one to five then fail at once."""


_PATIENT: dict[str, object] = {"n_steps": 128, "batch_size": 64, "n_epochs": 10, "learning_rate": 5e-4}
_SMOOTH: dict[str, object] = {**_PATIENT, "activation": "tanh", "log_std_init": -1.0, "gae_lambda": 0.9}
_WIDE: dict[str, object] = {
    **_PATIENT,
    "net_arch": (256, 256),
    "batch_size": 128,
    "learning_rate": 2e-4,
    "log_std_init": -1.0,
    "gae_lambda": 0.9,
}
_MYOPIC: dict[str, object] = {"batch_size": 64, "n_epochs": 10, "log_std_init": -1.0, "gamma": 0.95}

_LONG_PRESETS: dict[str, dict[str, object]] = {
    "HalfCheetah-v5": {**_SMOOTH, "gamma": 0.98, "learning_rate": 7e-4},
    "Hopper-v5": {**_PATIENT, "n_envs": 8, "n_steps": 256, "learning_rate": 3e-4, "gamma": 0.995, "gae_lambda": 0.95},
    "Walker2d-v5": _SMOOTH,
    "Ant-v5": {**_SMOOTH, "gamma": 0.98},
    "Humanoid-v5": _WIDE,
    "HumanoidStandup-v5": {**_SMOOTH, "gamma": 0.98},
    "Reacher-v5": _MYOPIC,
    "Pusher-v5": _MYOPIC,
    "InvertedDoublePendulum-v5": {"learning_rate": 5e-4, "learning_rate_end": 0.0, "n_epochs": 2},
}
_OF_A_FILE: dict[str, object] = {"num_evals": 12}
"""A training of a robot from a model file may need a tenth of its steps, and ends when an evaluation shows it: twelve,
so that one comes soon."""
_ON_MANY_LEGS: dict[str, object] = {**_OF_A_FILE, **_SMOOTH, "gamma": 0.98}
"""Found on Unitree's Go1, "move forward"; docs/robots.md has what it buys, there and on other robots."""
_ON_TWO_LEGS: dict[str, object] = {**_OF_A_FILE, "log_std_init": -1.0, "gamma": 0.98}
"""The same, found on Unitree's H1."""
_MANY_LEGS = 4
"""Three are the example snake's, which has no legs: the two wheels of its head, and all that follows it."""
LONG = 600_000
"""Steps from which a training is long enough for the settings found at a million."""


def preset(env_id: str, total_timesteps: int = 0, of_robot: Mapping[str, object] = {}) -> dict[str, object]:
    """Fields of `TrainConfig` that suit an environment; none, which is its defaults, for an unknown one.

    Args:
        env_id: Which environment.
        total_timesteps: Length of the training; short ones have settings of their own.
        of_robot: What suits a robot from a model file, as `robot_preset` or its session has it.
    """
    long = _LONG_PRESETS.get(env_id, {}) if total_timesteps >= LONG else {}
    return {**_PRESETS.get(env_id, {}), **long, **of_robot}


def robot_preset(spec: EnvSpec) -> dict[str, object]:
    """Fields of `TrainConfig` that suit a robot from a model file, by its kind; none for any other robot.

    The kind is the number of its legs, of a robot that moves its joints by servos and does not begin lying.
    """
    robot = spec.robot
    if robot is None:
        return {}
    walks = not spec.begins_lying and all(control.kind == "position" for control in robot.control)
    match len(legs_of(spec)) if walks else 0:
        case 1 | 2:
            return dict(_ON_TWO_LEGS)
        case legs if legs >= _MANY_LEGS:
            return dict(_ON_MANY_LEGS)
    return dict(_OF_A_FILE)
