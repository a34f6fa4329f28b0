import pytest

from p2p.contracts.errors import InvalidConfig, InvalidInput
from p2p.service.training.plan import parse_config
from p2p.settings import Settings


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"n_envs": None}, "n_envs: Input should be a valid integer, got None"),
        ({"num_envs": "many"}, "n_envs: .*got 'many'"),
        ({"num_minibatches": 0}, "num_minibatches must be a whole number from 1, got 0"),
        ({"device": "cuda:0"}, 'device cuda:0 needs learner "sb3": the learner "fast" computes on the CPU$'),
        ({"batch_size": 5000}, "batch_size 5000 is larger than a rollout of n_envs x n_steps = 1024 transitions$"),
    ],
)
def test_a_value_no_configuration_can_have_is_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidConfig, match=message):
        parse_config(fields)


def test_minibatches_become_a_batch_size() -> None:
    assert parse_config({"num_envs": 4, "num_steps": 100, "num_minibatches": 2}).batch_size == 200


@pytest.mark.parametrize("value", ["0", "two"])
def test_an_environment_variable_with_a_wrong_value_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("P2P_MAX_PARALLEL", value)
    with pytest.raises(InvalidInput, match=f"P2P_MAX_PARALLEL={value}"):
        Settings.from_environment()
