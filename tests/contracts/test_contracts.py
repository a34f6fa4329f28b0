import subprocess
import sys

import pytest
from pydantic import ValidationError

from p2p.contracts.intent import Bound, Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.training import SEED_BLOCK, Purpose, TrainConfig, first_seed, report_seed_offset
from p2p.envs import catalog

FAST = Predicate(
    statistic=Statistic.MEAN,
    feature="velocity_x",
    comparison=Comparison.AT_LEAST,
    threshold=3.0,
    unit="m/s",
    margin=1.0,
)


def _criterion(key: str, after: str | None = None) -> Criterion:
    return Criterion(key=key, title=key, description=key, category=Category.GAIT, predicate=FAST, after=after)


def test_seeds_for_training_selection_and_report_never_meet() -> None:
    of_training = [purpose for purpose in Purpose if purpose is not Purpose.EXAM]
    blocks = [first_seed(purpose, seed) for purpose in of_training for seed in range(1000)]
    assert len(set(blocks)) == len(blocks)
    assert min(b - a for a, b in zip(sorted(blocks), sorted(blocks)[1:], strict=False)) == 100_000
    with pytest.raises(ValueError, match=r"in \[0, 1000\)"):
        first_seed(Purpose.TRAINING, 1000)
    with pytest.raises(ValueError, match="do not depend on the training seed"):
        first_seed(Purpose.EXAM, 1)


def test_two_sessions_of_the_same_training_seed_are_judged_on_different_starts() -> None:
    offsets = {report_seed_offset(f"session_20261122_04{number:04d}_{number:08x}") for number in range(300)}
    assert len(offsets) >= 299
    assert all(offset % SEED_BLOCK == 0 and 0 <= offset < 1e14 for offset in offsets)
    assert report_seed_offset("a") == report_seed_offset("a")


def test_criteria_of_a_sequence_refer_to_earlier_ones() -> None:
    Intent(prompt="a, then b", env_id="x", criteria=(_criterion("a"), _criterion("b", after="a")))
    with pytest.raises(ValidationError, match="not an earlier criterion"):
        Intent(prompt="b", env_id="x", criteria=(_criterion("b", after="a"), _criterion("a")))
    with pytest.raises(ValidationError, match="two criteria"):
        Intent(prompt="a", env_id="x", criteria=(_criterion("a"), _criterion("a")))
    with pytest.raises(ValidationError, match="at most 20"):
        Intent(prompt="a", env_id="x", criteria=tuple(_criterion(f"k{i}") for i in range(21)))


def test_a_predicate_reads_a_feature_or_the_steps_at_which_something_holds() -> None:
    bound = Bound(feature="up", comparison=Comparison.AT_LEAST, threshold=0.7)
    with pytest.raises(ValidationError, match="reads `where`"):
        Predicate(**{**FAST.model_dump(), "statistic": Statistic.COUNT_EVENTS})
    with pytest.raises(ValidationError, match="reads `feature`"):
        Predicate(**{**FAST.model_dump(), "where": (bound,)})
    with pytest.raises(ValidationError, match="belongs to `between`"):
        Predicate(**{**FAST.model_dump(), "upper": 4.0})


def test_a_configuration_refuses_unknown_keys() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        TrainConfig.model_validate({"learning_rte": 1e-3})


def test_a_configuration_may_be_spelt_as_in_cleanrl() -> None:
    config = TrainConfig.model_validate({"num_envs": 4, "num_steps": 256, "num_minibatches": 8, "clip_coef": 0.1})
    assert (config.n_envs, config.n_steps, config.batch_size, config.clip_range) == (4, 256, 128, 0.1)


@pytest.mark.parametrize(("dt", "steps"), [(0.05, 100), (0.008, 625), (0.015, 333), (0.04, 125)])
def test_episodes_last_five_seconds_in_every_environment(dt: float, steps: int) -> None:
    assert TrainConfig().episode_steps(dt) == steps


@pytest.mark.parametrize("env_id", catalog.known())
def test_an_episode_has_as_many_steps_as_its_seconds_take_in_each_environment(env_id: str) -> None:
    dt = catalog.load(env_id).dt
    assert TrainConfig(episode_s=2.5).episode_steps(dt) == round(2.5 / dt)
    assert TrainConfig(episode_s=dt / 100).episode_steps(dt) == 1
    assert TrainConfig(max_episode_steps=7).episode_steps(dt) == 7


@pytest.mark.parametrize("module", ["p2p.contracts.protocols", "p2p.service", "p2p.cli.app", "p2p.session.run_session"])
def test_the_front_starts_without_anything_heavy(module: str) -> None:
    heavy = "{'torch', 'stable_baselines3', 'mujoco', 'gymnasium', 'numpy', 'matplotlib'}"
    code = f"import sys, {module}; assert not {heavy} & set(sys.modules), {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


USED_FIRST_BY_THREADS = """
import importlib, pkgutil, sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from pydantic import ValidationError
from p2p import contracts
from p2p.contracts.base import Contract

def read(contract):
    together.wait()
    try:
        return str(contract.model_validate({}))
    except ValidationError as error:
        return str(error)

for module in pkgutil.iter_modules(contracts.__path__, "p2p.contracts."):
    importlib.import_module(module.name)
kinds = Contract.__subclasses__()
for kind in kinds:
    kinds += kind.__subclasses__()
sys.setswitchinterval(1e-6)
with ThreadPoolExecutor(8) as pool:
    for kind in kinds:
        together = Barrier(8)
        assert len(set(pool.map(read, [kind] * 8))) == 1, kind
"""


def test_threads_that_are_the_first_to_use_a_contract_do_not_disturb_one_another() -> None:
    done = subprocess.run([sys.executable, "-c", USED_FIRST_BY_THREADS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
