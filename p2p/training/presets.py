"""Training settings per environment, as far as they do not depend on what is trained.

The figures come from trainings of half a minute to a minute on one core.
"""

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
    "Swimmer-v5": {"gamma": 0.9999},
    "Reacher-v5": {"episode_s": 2.0},
    "Pusher-v5": {},
    "InvertedPendulum-v5": {"terminate_when_unhealthy": True},
    "InvertedDoublePendulum-v5": {"terminate_when_unhealthy": True},
}


def preset(env_id: str) -> dict[str, object]:
    """Fields of `TrainConfig` that suit an environment; none, which is its defaults, for an unknown one."""
    return dict(_PRESETS.get(env_id, {}))
