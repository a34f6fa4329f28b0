import itertools
from dataclasses import fields, replace

import numpy as np
import pytest

from p2p.contracts.errors import InvalidInput
from p2p.store.policy import NumpyPolicy, load_policy


def random_policy(seed=0, obs_dim=17, action_dim=6, activation="tanh", bound=1.0):
    rng = np.random.default_rng(seed)
    sizes = (obs_dim, 64, 64, action_dim)
    return NumpyPolicy(
        weights=tuple(rng.normal(0.0, 0.4, shape).astype(np.float32) for shape in itertools.pairwise(sizes)),
        biases=tuple(rng.normal(0.0, 0.1, size).astype(np.float32) for size in sizes[1:]),
        activation=activation,
        mean=rng.normal(size=obs_dim),
        variance=rng.uniform(0.5, 2.0, obs_dim),
        clip=10.0,
        low=np.full(action_dim, -bound, dtype=np.float32),
        high=np.full(action_dim, bound, dtype=np.float32),
    )


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_the_action_is_the_networks_on_normalised_observations(activation):
    policy = random_policy(activation=activation, bound=1e9)
    observation = np.random.default_rng(1).normal(size=17)
    function = np.tanh if activation == "tanh" else lambda x: np.maximum(x, 0.0)
    hidden = (observation - policy.mean) / np.sqrt(policy.variance)
    hidden = function(hidden @ policy.weights[0] + policy.biases[0])
    hidden = function(hidden @ policy.weights[1] + policy.biases[1])
    expected = hidden @ policy.weights[2] + policy.biases[2]
    assert policy.act(observation[None])[0] == pytest.approx(expected, abs=1e-4)


def test_actions_and_observations_are_clipped():
    policy = random_policy(bound=0.1)
    actions = policy.act(np.array([np.full(17, 1e6), np.full(17, 1e9)]))
    assert np.abs(actions).max() == np.float32(0.1)
    assert np.array_equal(actions[0], actions[1])


def test_a_row_is_the_same_to_the_bit_whatever_other_rows_there_are():
    policy = random_policy()
    observations = np.random.default_rng(2).normal(size=(25, 17))
    together = policy.act(observations)
    for size in (1, 2, 7, 16):
        for start in range(0, 25, size):
            rows = slice(start, start + size)
            assert np.array_equal(policy.act(observations[rows]), together[rows])


def test_the_order_in_which_a_library_sums_does_not_show():
    policy = random_policy()
    shuffle = np.random.default_rng(4).permutation(64)
    first, second, last = policy.weights
    shuffled = replace(
        policy,
        weights=(first[:, shuffle], second[shuffle], last),
        biases=(policy.biases[0][shuffle], *policy.biases[1:]),
    )
    observations = np.random.default_rng(2).normal(size=(200, 17))
    assert np.array_equal(shuffled.act(observations), policy.act(observations))
    rounded = observations.astype(np.float32)
    assert np.array_equal(policy.act(rounded), policy.act(observations))


def test_a_saved_policy_acts_the_same(tmp_path):
    policy = random_policy()
    policy.save(tmp_path / "policy.npz")
    observations = np.random.default_rng(3).normal(size=(5, 17))
    assert np.array_equal(load_policy(tmp_path / "policy.npz").act(observations), policy.act(observations))


def test_a_saved_policy_keeps_the_whole_actor_critic_with_its_normaliser(tmp_path):
    policy = replace(
        random_policy(),
        log_std=np.full(6, -0.5, dtype=np.float32),
        value_weights=tuple(np.ones(shape, dtype=np.float32) for shape in ((17, 8), (8, 1))),
        value_biases=(np.zeros(8, dtype=np.float32), np.zeros(1, dtype=np.float32)),
        observation_count=4096.5,
        reward_mean=-1.5,
        reward_variance=3.25,
        reward_count=4000.0,
        gamma=0.99,
        clip_reward=10.0,
    )
    policy.save(tmp_path / "policy.npz")
    loaded = load_policy(tmp_path / "policy.npz")
    for field in fields(policy):
        saved, read = getattr(policy, field.name), getattr(loaded, field.name)
        assert type(saved) is type(read), field.name
        pairs = zip(saved, read, strict=True) if isinstance(saved, tuple) else [(saved, read)]
        assert all(np.array_equal(a, b) for a, b in pairs), field.name


def test_a_file_with_the_actor_alone_still_loads(tmp_path):
    policy = random_policy()
    policy.save(tmp_path / "policy.npz")
    old = {"activation", "mean", "variance", "clip", "low", "high"}
    with np.load(tmp_path / "policy.npz") as archive:
        kept = {name: archive[name] for name in archive.files if name in old or name.startswith(("weight_", "bias_"))}
    np.savez(tmp_path / "policy.npz", **kept)
    loaded = load_policy(tmp_path / "policy.npz")
    assert (loaded.log_std, loaded.value_weights, loaded.gamma) == (None, (), None)
    observations = np.random.default_rng(3).normal(size=(5, 17))
    assert np.array_equal(loaded.act(observations), policy.act(observations))


@pytest.mark.parametrize("clip", [10.0, float("inf")])
def test_a_policy_without_a_normaliser_says_so(clip):
    assert replace(random_policy(), clip=clip).normalizes == np.isfinite(clip)


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 broken"])
def test_a_policy_that_is_missing_or_broken_is_named(tmp_path, content):
    path = tmp_path / "policy.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"policy\.npz holds no policy"):
        load_policy(path)
