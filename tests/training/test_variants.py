"""What is tried beside a configuration."""

import pytest

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.training.presets import LONG, preset
from p2p.training.tuning import HYPERPARAMETERS, TASK_FIELDS, VARIED
from p2p.training.variants import STEPS, usual_variants, varied


@pytest.mark.parametrize("steps", [0, LONG])
@pytest.mark.parametrize("env", catalog.known())
def test_the_usual_variants_are_valid_and_differ_in_every_environment(env: str, steps: int) -> None:
    base = TrainConfig.model_validate({"env_id": env, **preset(env, steps)})
    configs = [varied(base, variant.changes) for variant in usual_variants(base)]
    assert len(configs) >= 5
    assert len({config.model_dump_json() for config in (base, *configs)}) == len(configs) + 1
    assert {config.total_timesteps for config in configs} == {base.total_timesteps}


def test_what_a_person_fixed_is_not_varied() -> None:
    fields = {step.field for step in STEPS}
    left = {name for variant in usual_variants(TrainConfig(), tuple(fields - {"gamma"})) for name in variant.changes}
    assert left == {"gamma"}


def test_a_variant_ends_at_its_bound() -> None:
    (fast, *_) = usual_variants(TrainConfig(learning_rate=4e-3))
    assert fast.changes == {"learning_rate": 5e-3}
    assert "fast" not in {variant.config_id for variant in usual_variants(TrainConfig(learning_rate=5e-3))}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learning_rate": 0.5}, "out of bounds"),
        ({"learning_rate": float("nan")}, "out of bounds"),
        ({"learning_rate": "3e-4"}, "must be a number, got '3e-4'"),
        ({"n_epochs": None}, "must be a number, got None"),
        ({"n_epochs": True}, "must be a number, got True"),
        ({"n_epochs": 7.5}, "n_epochs"),
        ({"normalize_obs": "perhaps"}, "normalize_obs"),
        ({"net_arch": [64, 0.5]}, "net_arch"),
        ({"batch_size": 8192}, "larger than a rollout"),
        ({"total_timesteps": 20_000}, "cannot change total_timesteps"),
        ({"seed": 3, "device": "cuda"}, "cannot change device, seed"),
        ({"gamma": 0.95}, "The user fixed gamma"),
        ({"clip_range": 0.2}, "equals the base"),
        ({}, "equals the base"),
    ],
)
def test_what_is_no_variant_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidConfig, match=message):
        varied(TrainConfig(), changes, pinned=("gamma",))


def test_a_network_is_a_list_and_a_whole_number_stays_one() -> None:
    config = varied(TrainConfig(), {"net_arch": [128, 64], "n_epochs": 8.0, "normalize_obs": False})
    assert (config.net_arch, config.n_epochs, config.normalize_obs) == ((128, 64), 8, False)
    assert isinstance(config.n_epochs, int)


def test_every_field_an_author_may_set_is_one_of_a_training() -> None:
    assert {*HYPERPARAMETERS, *TASK_FIELDS} <= set(TrainConfig.model_fields)
    assert set(VARIED) < set(HYPERPARAMETERS)
    assert not set(HYPERPARAMETERS) & set(TASK_FIELDS)
