"""The speed of a robot of one's own is held against the plain class, one simulator each."""

from pathlib import Path

import numpy as np
import pytest

from p2p.contracts.errors import InvalidInput
from p2p.contracts.training import TrainConfig
from p2p.lab.speed.throughput import REWARD, MeasurementPlan, ThroughputBenchmark
from p2p.lab.worker.speed.baseline import make_environment
from p2p.worker.description.describe import describe_robot
from p2p.worker.reward_source.loader import LoadedReward

PONY = Path(__file__).parents[3] / "examples" / "pony.xml"


def test_the_baseline_steps_the_robot_as_it_is_and_ends_its_episodes():
    spec = describe_robot("pony", PONY)
    config = TrainConfig(env_id=spec.env_id, max_episode_steps=5)
    env = make_environment(config, spec, LoadedReward(REWARD).fresh())
    seen, _ = env.reset(seed=0)
    assert seen.shape == (spec.obs_dim,)
    ends = [env.step(np.zeros(8, dtype=np.float32))[2:4] for _ in range(5)]
    assert ends == [(False, False)] * 4 + [(False, True)]


def test_a_file_that_is_not_there_is_refused(ws, tmp_path):
    with pytest.raises(InvalidInput, match="is not a file"):
        ThroughputBenchmark(ws, tmp_path, MeasurementPlan(), print).case_of(str(tmp_path / "gone.xml"))
