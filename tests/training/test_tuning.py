import pytest

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.service.training.plan import base_config
from p2p.training.presets import LONG, preset
from p2p.training.tuning import BOUNDS, check_bounds


@pytest.mark.parametrize("steps", [0, LONG])
@pytest.mark.parametrize("env", catalog.known())
def test_the_bounds_contain_every_preset(env: str, steps: int) -> None:
    config = TrainConfig.model_validate(preset(env, steps)).model_dump()
    for name, (low, high) in BOUNDS.items():
        assert low <= config[name] <= high, name


def test_an_author_is_told_the_bounds_and_a_user_is_free() -> None:
    draft = RewardDraft(source="", config_changes={"learning_rate": 0.5, "gamma": 0.5})
    with pytest.raises(InvalidConfig, match=r"learning_rate: an author may choose 1e-05 … 0\.005, got 0\.5\n  gamma"):
        base_config(NewSession(), draft)
    assert base_config(NewSession(config={"gamma": 0.5}), RewardDraft(source="")).gamma == 0.5


def test_nan_is_out_of_bounds_and_what_is_no_number_is_left_to_the_configuration() -> None:
    with pytest.raises(InvalidConfig, match="gamma"):
        check_bounds({"gamma": float("nan")})
    check_bounds({"gamma": "much", "activation": "tanh", "normalize_obs": True})


def test_an_author_may_choose_what_is_observed_and_not_the_world_it_is_judged_in() -> None:
    check_bounds({"env_kwargs": {"include_cfrc_ext_in_observation": False}})
    wrong = {"reset_noise_scale": 0.0, "xml_file": "lighter.xml", "exclude_current_positions_from_observation": False}
    with pytest.raises(InvalidConfig, match=r"env_kwargs\.reset_noise_scale.*\n.*env_kwargs\.xml_file") as refused:
        base_config(NewSession(), RewardDraft(source="", config_changes={"env_kwargs": wrong}))
    assert "exclude" not in str(refused.value)
    free = NewSession(config={"env_kwargs": {"reset_noise_scale": 0.0}})
    assert base_config(free, RewardDraft(source="")).env_kwargs == {"reset_noise_scale": 0.0}


def test_an_author_may_let_a_training_go_on_and_not_say_when_it_may_end() -> None:
    asked = NewSession(stop_when_clear=True, pass_threshold=0.9)
    assert base_config(asked, RewardDraft(source="")).stop_at_score == 0.9
    assert base_config(NewSession(), RewardDraft(source="")).stop_at_score is None
    assert base_config(asked, RewardDraft(source="", config_changes={"stop_at_score": None})).stop_at_score is None
    assert base_config(NewSession(config={"stop_at_score": 0.5}), RewardDraft(source="")).stop_at_score == 0.5
    with pytest.raises(InvalidConfig, match="an author may only forbid it"):
        base_config(asked, RewardDraft(source="", config_changes={"stop_at_score": 0.1}))
