import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from p2p.contracts.errors import EnvironmentProblem, InvalidInput
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.lab.contracts.measurement import MeasureRequest
from p2p.lab.records import MeasurementRecord
from p2p.lab.worker.speed import stopwatch as stopwatches
from p2p.lab.worker.speed.arithmetic import arithmetic_rate, update_operations
from p2p.lab.worker.speed.baseline import make_environment
from p2p.lab.worker.speed.job import measure
from p2p.lab.worker.speed.stopwatch import WARM_UP_LAPS, Stopwatch, stopwatch
from p2p.worker.learners.ppo import ActorCritic
from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.training.process import age_s

REWARD = '''
def reward_fn(obs, action, next_obs, info):
    """
    LaTeX: r = 1 - z'^2
    Terms:
        upright: closeness to the upright
    """
    upright = 1.0 - next_obs[1] ** 2
    return upright, {"upright": upright}
'''


def prepared(directory: Path, subject: str, **request) -> MeasurementRecord:
    record = MeasurementRecord(directory)
    config = {"n_envs": 2, "n_steps": 16, "batch_size": 16, "n_epochs": 1, "net_arch": (8,), "max_episode_steps": 20}
    record.run.save_config(TrainConfig(env_id="InvertedPendulum-v5", terminate_when_unhealthy=True, **config))
    record.run.save_env_spec(catalog.load("InvertedPendulum-v5"))
    record.run.save_reward_source(REWARD)
    record.save_request(MeasureRequest(subject=subject, seconds=0.1, **request))
    return record


@pytest.mark.parametrize(
    ("subject", "pays"), [("ours", True), ("confinement", True), ("baseline", True), ("physics", False)]
)
def test_every_subject_is_measured_over_whole_rollouts(tmp_path, subject, pays):
    record = prepared(tmp_path / "job", subject)
    measure(record.path)
    found = record.read_result()
    assert found.steps > 0
    assert found.steps % 32 == 0
    assert found.seconds > 0
    assert found.steps_per_second == found.steps / found.seconds
    assert 0 < found.ready_s <= age_s()
    assert found.peak_memory_mb > 10
    assert (found.method is not None) == pays


def test_measurements_beside_each_other_wait_until_all_are_warm(tmp_path, monkeypatch):
    monkeypatch.setattr(stopwatches, "PATIENCE_S", 0.05)
    record, other = prepared(tmp_path / "a", "ours", beside=("../b",)), MeasurementRecord(tmp_path / "b")
    with pytest.raises(EnvironmentProblem, match="did not begin"):
        measure(record.path)
    assert record.is_warm
    other.path.mkdir()
    other.mark_warm()
    measure(record.path)
    assert record.read_result() is not None


def test_what_comes_before_the_warm_up_ends_and_what_is_paused_does_not_count():
    met = []
    watch = Stopwatch(1e-9, lambda: met.append(True))
    for lap in range(WARM_UP_LAPS):
        assert not watch.lap(10 * lap)
    assert not met
    began = time.perf_counter()
    assert not watch.lap(10 * WARM_UP_LAPS)
    assert met
    with watch.paused():
        paused = time.perf_counter()
        while time.perf_counter() < paused + 0.05:
            pass
    assert watch.lap(10 * WARM_UP_LAPS + 5)
    assert watch.result().steps == 5
    assert watch.result().seconds <= time.perf_counter() - began - 0.05


def test_a_directory_without_a_request_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="no readable request"):
        measure(tmp_path)


def test_a_stopwatch_alone_waits_for_nobody(tmp_path):
    record = MeasurementRecord(tmp_path)
    watch = stopwatch(record, MeasureRequest(subject="ours", seconds=1.0))
    for _ in range(WARM_UP_LAPS + 1):
        assert not watch.lap(0)
    assert record.is_warm


def test_the_baseline_pays_the_reward_of_every_step_and_ends_episodes_as_gymnasium_does():
    config = TrainConfig(env_id="InvertedPendulum-v5", max_episode_steps=7)
    env = make_environment(config, catalog.load(config.env_id), LoadedReward(REWARD).fresh())
    env.reset(seed=0)
    for t in range(7):
        seen, reward, terminated, truncated, _ = env.step(np.zeros(1, dtype=np.float32))
        assert reward == pytest.approx(1.0 - seen[1] ** 2)
        assert (terminated, truncated) == (False, t == 6)


def test_our_training_loads_neither_torch_nor_what_opens_windows(tmp_path):
    record = prepared(tmp_path / "job", "ours")
    code = (
        "import sys; from p2p.lab.worker.__main__ import VERBS, run; run('p2p.lab.worker', VERBS, sys.argv[1:]);"
        "sys.exit(bool({'torch', 'glfw', 'imageio'} & set(sys.modules)))"
    )
    words = [sys.executable, "-c", code, "measure", str(record.path)]
    assert subprocess.run(words, env=os.environ, check=False).returncode == 0
    assert record.read_result() is not None


def test_an_updates_operations_are_those_of_its_matrix_products(monkeypatch):
    counted = []
    real = np.matmul

    def counting(left, right, **kwargs):
        counted.append(2 * left.size * right.shape[-1] if min(left.ndim, right.ndim) > 1 else 0)
        return real(left, right, **kwargs)

    network = ActorCritic(5, 3, (16, 24), "relu", np.random.default_rng(1), 0.0)
    buffers = network.activations(32)
    buffers.output_gradients[:] = 1.0  # they are as the memory was found
    monkeypatch.setattr(np, "matmul", counting)
    observations = np.ones((32, 6), np.float32)
    network.forward(observations, buffers)
    network.backward(observations, buffers)
    extra = 2 * 32 * (2 * 2 * 16 + 3 * 24 * 4)  # the biases among the first weights, and the zero half of the head
    assert sum(counted) == update_operations(32, 5, 3, (16, 24)) + extra


def test_an_update_is_timed_against_a_product():
    config = TrainConfig(n_envs=4, n_steps=64, batch_size=64, n_epochs=2, net_arch=(64, 64))
    rate = arithmetic_rate(config, 17, 6)
    assert 0.01 < rate.share < 1.5
    assert arithmetic_rate(config.model_copy(update={"net_arch": ()}), 17, 6) is None
