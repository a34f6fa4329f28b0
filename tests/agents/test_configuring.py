"""What an author's changes of a training may be."""

import pytest

from p2p.agents.model.configuring import config_problems, planned_config
from p2p.contracts.training import TrainConfig


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"lr": 1e-3}, "no fields lr"),
        ({"seed": 3, "device": "cuda", "n_eval_episodes": 3}, "no fields device, n_eval_episodes, seed"),
        ({"learning_rate": 0.5}, "1e-05 … 0.005, got 0.5"),
        ({"gamma": float("nan")}, "got nan"),
        ({"gamma": "0.99"}, "must be a number, got '0.99'"),
        ({"learning_rate": [7e-4, 3e-4]}, "must be a number"),
        ({"n_epochs": True}, "must be a number, got True"),
        ({"n_epochs": 7.5}, "n_epochs"),
        ({"normalize_obs": "perhaps"}, "normalize_obs"),
        ({"net_arch": 64}, "net_arch"),
        ({"total_timesteps": 50_000}, "more than the 40,000 steps"),
    ],
)
def test_what_cannot_be_trained_is_named(changes: dict[str, object], said: str) -> None:
    assert said in " ".join(config_problems(changes, steps_left=40_000))


@pytest.mark.parametrize(
    "changes",
    [
        {"net_arch": [128, 64], "activation": "tanh"},
        {"n_epochs": 8, "normalize_obs": False, "gamma": 0.98},
        {"total_timesteps": 40_000, "terminate_when_unhealthy": True, "episode_s": 8.0},
        {"learning_rate": None},
        {"start_states": {"share": 0.5, "pitch": [-3.0, 3.0]}},
    ],
)
def test_what_can_be_trained_is_taken_as_it_is(changes: dict[str, object]) -> None:
    assert config_problems(changes, steps_left=40_000) == []


def test_null_sets_a_field_back_to_the_preset() -> None:
    base = TrainConfig(env_id="Hopper-v5", learning_rate=1e-3, gamma=0.9)
    planned = planned_config(base, {"learning_rate": None, "n_epochs": 7})
    assert (planned.learning_rate, planned.gamma, planned.n_epochs) == (5e-4, 0.9, 7)
    assert planned_config(TrainConfig(env_id="dog-1f2e3d4c"), {"gamma": None}, {"gamma": 0.98}).gamma == 0.98


def test_changes_that_do_not_go_together_leave_a_configuration_as_it_is() -> None:
    assert planned_config(TrainConfig(), {"n_envs": 1, "n_steps": 16}) == TrainConfig()
