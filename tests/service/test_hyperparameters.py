from p2p.contracts.training import EffectiveConfig
from p2p.service.progress.hyperparameters import hyperparameter_pairs, hyperparameters

CONFIG = EffectiveConfig(
    default={"gamma": 0.99, "n_envs": 4}, preset={"gamma": 0.98}, reward={"learning_rate": 1e-3}, session={"n_envs": 8}
)


def test_each_field_has_the_value_of_whoever_set_it_last() -> None:
    found = {field.name: (field.value, field.set_by) for field in hyperparameters(CONFIG)}
    assert found == {"n_envs": (8, "session"), "learning_rate": (1e-3, "reward"), "gamma": (0.98, "preset")}
    assert [field.set_by for field in hyperparameters(CONFIG)] == ["session", "reward", "preset"]


def test_only_what_differs_is_a_pair() -> None:
    other = CONFIG.model_copy(update={"reward": {"clip_range": 0.1}})
    pairs = hyperparameter_pairs(CONFIG, other)
    assert [(pair.name, pair.values) for pair in pairs] == [
        ("clip_range", (None, 0.1)),
        ("learning_rate", (1e-3, None)),
    ]
    assert hyperparameter_pairs(None, None) == ()
