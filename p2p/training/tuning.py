"""How far an author may move the hyperparameters. A person may set any value that `TrainConfig` accepts."""

import re
from collections.abc import Mapping

from p2p.contracts.errors import InvalidConfig

BOUNDS: dict[str, tuple[float, float]] = {
    "total_timesteps": (10_000, 20_000_000),
    "n_envs": (1, 256),
    "n_steps": (16, 4096),
    "batch_size": (16, 8192),
    "n_epochs": (1, 30),
    "learning_rate": (1e-5, 5e-3),
    "learning_rate_end": (0.0, 1.0),
    "gamma": (0.8, 0.99999),
    "gae_lambda": (0.8, 1.0),
    "clip_range": (0.05, 0.4),
    "ent_coef": (0.0, 0.1),
    "vf_coef": (0.1, 2.0),
    "max_grad_norm": (0.1, 10.0),
    "target_kl": (0.005, 0.2),
    "log_std_init": (-3.0, 0.5),
    "episode_s": (0.5, 60.0),
}
"""Field of `TrainConfig` -> smallest and largest value; they contain every preset."""
TASK_FIELDS = (
    "episode_s",
    "max_episode_steps",
    "terminate_when_unhealthy",
    "end_when",
    "end_when_lost",
    "start_states",
    "curriculum",
    "observe",
    "commands",
    "observation",
    "side_info",
    "env_kwargs",
)
"""What an episode is, and what a reward may read in it: a reward's author chooses it where the hyperparameters are
fixed, too."""
HYPERPARAMETERS = (
    *(name for name in BOUNDS if name not in TASK_FIELDS),
    *(
        "clip_range_vf",
        "net_arch",
        "activation",
        "mirror",
        "normalize_obs",
        "normalize_reward",
        "clip_obs",
        "clip_reward",
    ),
    "stop_at_score",
)
"""How it is learnt. The fields of `TrainConfig` that are in neither are the session's own: no author sets them."""
VARIED = tuple(name for name in HYPERPARAMETERS if name not in ("total_timesteps", "stop_at_score"))
"""What variants of a configuration may differ in: they are compared at equal steps."""


OBSERVATION = re.compile(r"include_\w+_in_observation|exclude_current_positions_from_observation")
"""Of the `env_kwargs` of Gymnasium's environments: those that change what a policy sees, and nothing of the world."""


def of_the_world(env_kwargs: object) -> tuple[str, ...]:
    """Names of the `env_kwargs` that change more than what a policy sees, such as the noise of a reset."""
    names = env_kwargs if isinstance(env_kwargs, Mapping) else {}
    return tuple(name for name in names if not OBSERVATION.fullmatch(str(name)))


def check_bounds(changes: Mapping[str, object]) -> None:
    """Refuse what an author asks for outside the bounds; fields without bounds, and values that are no numbers, pass.

    An author may forbid that a training ends early, but not choose the score at which it does; and choose what a policy
    sees, but not the world that it is judged in.

    Raises:
        InvalidConfig: naming each such field with its bounds.
    """
    wrong = [
        f"  {name}: an author may choose {low:g} … {high:g}, got {value:g}"
        for name, (low, high) in BOUNDS.items()
        if isinstance(value := changes.get(name), int | float) and not low <= value <= high
    ]
    wrong += [
        f"  env_kwargs.{name}: the policy is judged in the same world, and that is the session's; an author may only "
        "choose what is observed"
        for name in of_the_world(changes.get("env_kwargs"))
    ]
    if changes.get("terrain") is not None:
        wrong.append("  terrain: the policy is judged on the same ground, and that is the session's")
    if changes.get("stop_at_score") is not None:
        wrong.append(
            "  stop_at_score: the session decides whether a training may end early; an author may only forbid it"
        )
    if wrong:
        raise InvalidConfig("The reward asks for hyperparameters out of bounds:\n" + "\n".join(wrong))


def without_hyperparameters(changes: Mapping[str, object]) -> dict[str, object]:
    """What is left of an author's changes where the hyperparameters are fixed."""
    return {name: value for name, value in changes.items() if name in TASK_FIELDS}
