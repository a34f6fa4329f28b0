"""Trainings that go on from a policy: the same to the bit, also after a kill, and refused where they do not fit."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from p2p.contracts.errors import InvalidInput
from p2p.contracts.start_policy import StartPolicy
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.service.training.start_policies import KeptPolicy
from p2p.store.arrays import load_arrays
from p2p.store.iterations import IterationRecord, save_inputs
from p2p.store.policy import load_policy
from p2p.worker.training.resume import ResumePoints
from p2p.worker.training.run import Run
from p2p.worker.training.start import REWARD_ROLLOUTS
from p2p.worker.training.train import Training, begin, train_run

pytestmark = pytest.mark.slow

STILL = """
from p2p.training.reward_function import RewardFunction

class Still(RewardFunction):
    latex = "r"
    terms = {"up": "the pole's angle, squared"}

    def compute(self, obs, action, next_obs, info):
        return {SIGN}obs[1] ** 2, {"up": {SIGN}obs[1] ** 2}
"""
CONFIG = TrainConfig(
    env_id="InvertedPendulum-v5",
    total_timesteps=1024,
    n_envs=4,
    n_steps=64,
    num_evals=2,
    n_eval_episodes=3,
    episode_s=1.0,
)


def prepared(path: Path, sign: str = "", start: IterationRecord | None = None, resume: bool = False, **fields: object):
    """A run that is to be trained, from the last policy of `start`."""
    run = IterationRecord(path / "baseline_seed_1")
    config = CONFIG.model_validate({**CONFIG.model_dump(), **fields})
    if start is not None:
        kept = KeptPolicy("session_a", 1, start, start.checkpoints()[-1].step)
        kept.copy_to(run.start_policy, resume_optimizer=resume)
    save_inputs(run, STILL.replace("{SIGN}", sign), catalog.load(config.env_id), config)
    return run


def trained(run: IterationRecord) -> IterationRecord:
    train_run(Run.open(run)).remove()
    return run


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> IterationRecord:
    return trained(prepared(tmp_path_factory.mktemp("first")))


def last_policy(run: IterationRecord) -> dict[str, np.ndarray]:
    arrays = load_arrays(run.checkpoints()[-1].policy_path)
    assert arrays is not None
    return arrays


def assert_equal(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert one.keys() == other.keys()
    assert [name for name in one if one[name].tobytes() != other[name].tobytes()] == []


@pytest.mark.parametrize("resume", [False, True])
def test_the_same_policy_and_seed_give_the_same_policy_and_another_than_from_zero(
    tmp_path: Path, first: IterationRecord, resume: bool
) -> None:
    one = trained(prepared(tmp_path / "one", "-", first, resume))
    other = trained(prepared(tmp_path / "other", "-", first, resume))
    zero = trained(prepared(tmp_path / "zero", "-"))
    assert_equal(last_policy(one), last_policy(other))
    assert last_policy(one)["weight_0"].tobytes() != last_policy(zero)["weight_0"].tobytes()
    summary = one.read_summary()
    assert summary is not None
    assert (summary.total_timesteps, summary.inherited_steps) == (1024, 1024)


def test_a_resumed_optimiser_makes_another_policy_than_a_fresh_one(tmp_path: Path, first: IterationRecord) -> None:
    fresh = trained(prepared(tmp_path / "fresh", "", first))
    resumed = trained(prepared(tmp_path / "resumed", "", first, True))
    assert last_policy(fresh)["weight_0"].tobytes() != last_policy(resumed)["weight_0"].tobytes()


def test_actor_critic_and_normaliser_are_those_of_the_policy(tmp_path: Path, first: IterationRecord) -> None:
    run = Run.open(prepared(tmp_path, "-", first, n_envs=8, episode_s=2.0))
    training = begin(run, 1, ResumePoints(run))
    old = load_policy(first.checkpoints()[-1].policy_path)
    state = training.state()
    networks = training._learner.networks()
    assert all(np.array_equal(a, b) for a, b in zip(networks.weights, old.weights, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(networks.value_weights, old.value_weights, strict=True))
    assert state["collector.observations.count"] == pytest.approx(old.observation_count + 8)  # and the first states
    assert state["collector.rewards.statistics.var"] == old.reward_variance
    assert state["collector.rewards.statistics.count"] == min(old.reward_count, REWARD_ROLLOUTS * 8 * 64)


def test_a_kill_changes_nothing(tmp_path: Path, first: IterationRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("P2P_RESUME_S", "0")
    whole = trained(prepared(tmp_path / "whole", "-", first))
    killed = prepared(tmp_path / "killed", "-", first)
    learn = Training.learn

    def learn_some(self: Training, steps: int) -> None:
        if steps > 512:
            raise KeyboardInterrupt
        learn(self, steps)

    with monkeypatch.context() as patch:
        patch.setattr(Training, "learn", learn_some)
        with pytest.raises(KeyboardInterrupt):
            train_run(Run.open(killed))
    trained(killed)
    summary = killed.read_summary()
    assert summary is not None
    assert summary.resumed == 1
    assert_equal(last_policy(whole), last_policy(killed))


def test_it_trains_in_a_confined_process_of_its_own(tmp_path: Path, first: IterationRecord) -> None:
    one, other = (prepared(tmp_path / name, "", first) for name in ("one", "other"))
    for run in (one, other):
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}  # BLAS sums in another order with another number of them
        subprocess.run([sys.executable, "-m", "p2p.worker", "train", str(run.path)], check=True, env=environment)
    assert_equal(last_policy(one), last_policy(other))
    summary = one.read_summary()
    assert summary is not None
    assert summary.inherited_steps == 1024


def test_a_copy_that_has_changed_is_refused(tmp_path: Path, first: IterationRecord) -> None:
    run = prepared(tmp_path, "", first)
    run.start_policy.policy_path.write_bytes(run.start_policy.policy_path.read_bytes() + b"x")
    with pytest.raises(InvalidInput, match="not the file that was copied"):
        trained(run)


def test_networks_of_another_size_are_refused(tmp_path: Path, first: IterationRecord) -> None:
    run = prepared(tmp_path, "", first, net_arch=(32, 32))
    with pytest.raises(InvalidInput, match="does not fit this training"):
        trained(run)


def test_steps_add_up_along_a_chain(tmp_path: Path, first: IterationRecord) -> None:
    second = trained(prepared(tmp_path / "second", "", first))
    third = prepared(tmp_path / "third", "", second)
    start = third.start_policy.read()
    assert isinstance(start, StartPolicy)
    assert start.steps == third.inherited_steps == 2 * 1024


def test_a_policy_that_was_told_nothing_begins_acting_as_it_did_where_it_is_told_more(tmp_path: Path) -> None:
    first = trained(prepared(tmp_path / "first"))
    run = prepared(tmp_path / "second", start=first, observe=["time"])
    training = begin(Run.open(run), 1, ResumePoints(Run.open(run)))
    old = load_policy(first.checkpoints()[-1].policy_path)
    training.checkpoints.evaluate = lambda _step: None
    training.measure_untrained()
    told = load_policy(run.checkpoint(0).policy_path)
    assert told.observed == ("time",)
    observations = np.random.default_rng(1).normal(size=(20, 4))
    shown = np.concatenate([observations, np.full((20, 1), 0.4)], axis=1)
    assert told.weights[0][-1].tolist() == [0.0] * 64
    old_as_told = replace(old, mean=told.mean[:4], variance=told.variance[:4])
    assert told.act(shown) == pytest.approx(old_as_told.act(observations), abs=1e-6)
    train_run(Run.open(run)).remove()
    assert np.abs(load_policy(run.checkpoints()[-1].policy_path).weights[0][-1]).max() > 0.0
