"""Which configuration a training has, and who set each field of it."""

import pytest

from p2p.contracts.background import StartTraining
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession
from p2p.contracts.training import TrainConfig
from p2p.service.training.plan import effective_config, run_configs

NOT_CHOSEN = {"seed", "iteration_id"}


def test_every_field_has_one_origin_and_the_value_that_is_trained_with() -> None:
    session = NewSession(env_id="Hopper-v5", config={"gamma": 0.9}, stop_when_clear=True, pass_threshold=0.7)
    draft = RewardDraft(source="", config_changes={"ent_coef": 0.01, "gamma": 0.98})
    start = StartTraining(total_timesteps=7000, configs={"wide": {"net_arch": [32, 32]}})

    found = effective_config(session, draft, start)

    groups = [getattr(found, who) for who in type(found).model_fields]
    names = [name for group in groups for name in group]
    assert sorted(names) == sorted(set(TrainConfig.model_fields) - NOT_CHOSEN)
    assert found.reward == {"ent_coef": 0.01}
    assert found.session == {"env_id": "Hopper-v5", "gamma": 0.9, "stop_at_score": 0.7}
    assert found.training == {"total_timesteps": 7000, "net_arch": [32, 32]}
    assert "gae_lambda" in found.preset
    config = next(iter(run_configs(session, draft, start).values()))
    trained = config.model_dump(mode="json", exclude=NOT_CHOSEN)
    assert {name: value for group in groups for name, value in group.items()} == trained


@pytest.mark.parametrize(("steps", "evaluations"), [(2_000_000, 4), (3_000_000, 6), (1_000_000_000, 40)])
def test_a_long_training_is_evaluated_more_often(steps: int, evaluations: int) -> None:
    session = NewSession(env_id="Humanoid-v5", config={"total_timesteps": steps})
    draft = RewardDraft(source="")
    assert next(iter(run_configs(session, draft).values())).num_evals == evaluations
    often = session.model_copy(update={"preset": {"num_evals": 12}})
    assert next(iter(run_configs(often, draft).values())).num_evals == max(12, evaluations)
    said = session.model_copy(update={"config": {**session.config, "num_evals": 3}})
    assert next(iter(run_configs(said, draft).values())).num_evals == 3


def test_cleanrl_spellings_are_told_under_the_names_they_stand_for() -> None:
    found = effective_config(NewSession(config={"clip_coef": 0.3}), RewardDraft(source=""))
    assert found.session["clip_range"] == 0.3


def test_a_wrong_field_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="did you mean 'gamma'"):
        effective_config(NewSession(config={"gama": 0.3}), RewardDraft(source=""))
