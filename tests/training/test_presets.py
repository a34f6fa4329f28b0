import pytest

from p2p.contracts.training import TrainConfig
from p2p.envs.catalog import known
from p2p.training import presets
from p2p.training.presets import LONG, preset


@pytest.mark.parametrize("env", known())
@pytest.mark.parametrize("steps", [300_000, 1_000_000])
def test_a_preset_is_a_valid_configuration(env: str, steps: int) -> None:
    TrainConfig.model_validate(preset(env, steps))


def test_settings_are_kept_under_the_names_that_people_type() -> None:
    assert set(presets._PRESETS) == set(known())
    assert set(presets._LONG_PRESETS) <= set(known())


@pytest.mark.parametrize("env", known())
@pytest.mark.parametrize("n_envs", [4, 8, 16, 64])
def test_with_more_or_fewer_environments_a_batch_still_fits_into_a_rollout(env: str, n_envs: int) -> None:
    config = TrainConfig.model_validate({**preset(env), "num_envs": n_envs})
    assert config.batch_size <= config.n_envs * config.n_steps
    assert TrainConfig.model_validate({**preset(env), "n_envs": TrainConfig.model_validate(preset(env)).n_envs}) == (
        TrainConfig.model_validate(preset(env))
    )


def test_a_long_training_has_settings_of_its_own_and_sees_the_same() -> None:
    short, long = preset("Ant-v5", LONG - 1), preset("Ant-v5", LONG)
    assert short["gamma"] != long["gamma"]
    assert short["env_kwargs"] == long["env_kwargs"]


def test_an_unknown_environment_gets_the_defaults() -> None:
    assert preset("Unheard-v0") == {}


def test_a_preset_is_a_copy() -> None:
    before = preset("Ant-v5")
    preset("Ant-v5")["gamma"] = 0.5
    assert preset("Ant-v5") == before


def test_the_ant_observes_positions_and_velocities_only() -> None:
    assert preset("Ant-v5")["env_kwargs"] == {"include_cfrc_ext_in_observation": False}
