import gymnasium
import numpy as np
import pytest
from stable_baselines3.common.running_mean_std import RunningMeanStd as TheirStatistics
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from p2p.worker.learners.normalizer import ObservationNormalizer, RewardNormalizer, RunningMeanStd

STEPS, BLOCK = 250, 50
CLIP = 1.5
"""Small enough to be felt."""


@pytest.fixture(scope="module", params=[1, 5, 16])
def recorded(request):
    """What a VecNormalize was given and gave, over a few hundred steps of an environment that often ends."""
    n = request.param
    env = DummyVecEnv([lambda: gymnasium.make("Hopper-v5", max_episode_steps=30)] * n)
    env.seed(1)
    normalizer = VecNormalize(env, clip_obs=CLIP, clip_reward=CLIP, gamma=0.95)
    observations = [normalizer.reset()]
    originals, rewards, original_rewards, dones, ends = [normalizer.get_original_obs()], [], [], [], []
    random = np.random.default_rng(0)
    for _ in range(STEPS):
        observation, reward, done, infos = normalizer.step(random.uniform(-1, 1, (n, 3)).astype(np.float32))
        observations.append(observation)
        originals.append(normalizer.get_original_obs())
        rewards.append(reward)
        original_rewards.append(normalizer.get_original_reward())
        dones.append(done)
        ends.append([info["terminal_observation"] for info in infos if "terminal_observation" in info])
    env.close()
    assert np.sum(dones) >= 5 * n
    arrays = (observations, originals, rewards, original_rewards, dones)
    return normalizer, *map(np.array, arrays), ends


def equal_statistics(ours, theirs):
    return (
        np.array_equal(ours.mean, theirs.mean) and np.array_equal(ours.var, theirs.var) and ours.count == theirs.count
    )


def test_observations_are_those_of_vecnormalize_to_the_bit(recorded):
    theirs, observations, originals, _, _, _, _ = recorded
    ours = ObservationNormalizer(11, CLIP, enabled=True)
    for expected, original in zip(observations, originals, strict=True):
        got = ours.update_and_apply(original)
        assert got.dtype == np.float32
        assert np.array_equal(got, expected)
    assert np.abs(observations).max() == np.float32(CLIP)
    assert equal_statistics(ours.statistics, theirs.obs_rms)


def test_rewards_of_whole_blocks_are_those_of_vecnormalize_to_the_bit(recorded):
    theirs, _, _, rewards, originals, dones, _ = recorded
    ours = RewardNormalizer(rewards.shape[1], 0.95, CLIP, enabled=True)
    blocks = [slice(start, start + BLOCK) for start in range(0, STEPS, BLOCK)]
    got = np.concatenate([ours.apply(originals[block], dones[block]) for block in blocks])
    assert got.dtype == np.float32
    assert np.array_equal(got, rewards)
    assert equal_statistics(ours.statistics, theirs.ret_rms)


def test_applying_leaves_statistics_and_observations_as_they_were(recorded):
    _, _, originals, _, _, _, _ = recorded
    ours = ObservationNormalizer(11, CLIP, enabled=True)
    ours.update_and_apply(originals[0])
    before, original = ours.statistics.mean, originals[1].copy()
    ours.apply(originals[1])
    assert np.array_equal(ours.statistics.mean, before)
    assert np.array_equal(originals[1], original)


def test_what_is_not_normalised_is_only_converted(recorded):
    _, _, originals, _, original_rewards, dones, _ = recorded
    observations = ObservationNormalizer(11, CLIP, enabled=False).update_and_apply(originals[0])
    rewards = RewardNormalizer(dones.shape[1], 0.95, CLIP, enabled=False).apply(original_rewards, dones)
    assert np.array_equal(observations, originals[0].astype(np.float32))
    assert np.array_equal(rewards, original_rewards.astype(np.float32))


def test_statistics_go_on_from_where_they_were_put():
    ours, theirs = RunningMeanStd((3,)), TheirStatistics(shape=(3,))
    for statistics in (ours, theirs):
        statistics.mean, statistics.var, statistics.count = np.arange(3.0), np.arange(1.0, 4.0), 1000.0
        statistics.update(np.random.default_rng(0).normal(size=(7, 3)))
    assert equal_statistics(ours, theirs)
