import itertools
from collections import Counter

import gymnasium
import numpy as np
import pytest

from p2p.analysis.predicates import measure
from p2p.analysis.scoring import Scores, score
from p2p.contracts.errors import RewardFailed
from p2p.contracts.intent import Category, Comparison, Criterion, Intent, Predicate, Statistic
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.rewards.features import measure_trajectory
from p2p.store.arrays import load_arrays, save_arrays
from p2p.store.policy import NumpyPolicy
from p2p.worker.engine.environment import compiled_model
from p2p.worker.features.kinematics import Kinematics
from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.rollout.episodes import (
    RecordedRollout,
    judged_config,
    judged_order,
    labelled,
    run_episodes,
    trajectory,
)

CONFIG = TrainConfig(episode_s=1.0)


def random_policy(spec, seed=0):
    rng = np.random.default_rng(seed)
    sizes = (spec.obs_dim, 32, spec.action_dim)
    return NumpyPolicy(
        weights=tuple(rng.normal(0.0, 0.5, s).astype(np.float32) for s in itertools.pairwise(sizes)),
        biases=tuple(np.zeros(size, dtype=np.float32) for size in sizes[1:]),
        activation="relu",
        mean=np.zeros(spec.obs_dim),
        variance=np.ones(spec.obs_dim),
        clip=10.0,
        low=np.array([a.low for a in spec.action], dtype=np.float32),
        high=np.array([a.high for a in spec.action], dtype=np.float32),
    )


@pytest.fixture(scope="module")
def policy(cheetah):
    return random_policy(cheetah)


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Ant-v5"])
def test_an_episode_is_the_same_to_the_bit_alone_and_among_others(env_id, class_reward):
    spec, reward = catalog.load(env_id), LoadedReward(class_reward)
    acting = random_policy(spec)
    seeds = list(range(100, 128))
    together = run_episodes(CONFIG, spec, acting, seeds, reward)
    assert [rollout.seed for rollout in together] == seeds
    for index in (0, 24, 25, 27):
        (alone,) = run_episodes(CONFIG, spec, acting, [seeds[index]], reward)
        assert alone.episode_return == together[index].episode_return
        for name, values in alone.arrays.items():
            assert np.array_equal(values, together[index].arrays[name]), name
        for name, values in alone.features.items():
            assert np.array_equal(values, together[index].features[name]), name


def test_episodes_are_those_of_gymnasium(cheetah, policy):
    (rollout,) = run_episodes(CONFIG, cheetah, policy, [7])
    env = gymnasium.make("HalfCheetah-v5")
    observation, _ = env.reset(seed=7)
    total = 0.0
    for _ in range(rollout.length):
        observation, reward, *_ = env.step(policy.act(observation[None])[0])
        total += float(reward)
    assert rollout.length == 20
    assert rollout.episode_return == pytest.approx(total)


def test_episodes_always_run_their_time(class_reward):
    spec = catalog.load("InvertedPendulum-v5")
    config = TrainConfig(env_id=spec.env_id, episode_s=3.0, terminate_when_unhealthy=True)
    rollouts = run_episodes(config, spec, random_policy(spec), range(5), LoadedReward(class_reward))
    assert {rollout.length for rollout in rollouts} == {75}
    assert max(np.abs(rollout.features["pole_angle"]).max() for rollout in rollouts) > 0.5


def test_the_trajectory_file_has_every_field_in_full_precision(tmp_path, cheetah, policy, class_reward):
    (rollout,) = run_episodes(CONFIG, cheetah, policy, [3], LoadedReward(class_reward))
    path = tmp_path / "trajectory.npz"
    model = compiled_model(cheetah)
    save_arrays(path, trajectory(rollout, cheetah, model))
    arrays = load_arrays(path)
    shapes = {name: values.shape for name, values in arrays.items()}
    n_features = len(cheetah.features)
    assert shapes == {
        **dict.fromkeys(("step", "timestamp", "reward", "terminated", "truncated", "control_cost"), (20,)),
        "obs": (20, 17),
        "next_obs": (20, 17),
        "action": (20, 6),
        "reward_terms": (20, 2),
        "_reward_term_names": (2,),
        "features": (20, n_features),
        "_feature_names": (n_features,),
        "qpos": (20, 9),
        "qvel": (20, 9),
        "initial_qpos": (9,),
        "initial_qvel": (9,),
        "xpos": (20, 8, 3),
        "xquat": (20, 8, 4),
        "cvel": (20, 8, 6),
        "cfrc_ext": (20, 8, 6),
    }
    assert arrays["terminated"].dtype == arrays["truncated"].dtype == np.bool_
    assert {arrays[name].dtype for name in ("obs", "next_obs", "action")} == {np.dtype(np.float32)}
    assert arrays["_reward_term_names"].tolist() == ["speed", "ctrl"]
    assert arrays["step"][0] == 1
    assert arrays["timestamp"][-1] == pytest.approx(1.0)
    assert arrays["truncated"].tolist() == [False] * 19 + [True]
    assert arrays["reward"].sum() == rollout.episode_return
    assert np.array_equal(arrays["obs"][1:], arrays["next_obs"][:-1])
    assert arrays["reward_terms"].sum(axis=1) == pytest.approx(arrays["reward"])
    assert arrays["xpos"][:, 1, 0] == pytest.approx(arrays["qpos"][:, 0], abs=1e-6)

    qpos = np.concatenate([arrays["initial_qpos"][None], arrays["qpos"]])
    qvel = np.concatenate([arrays["initial_qvel"][None], arrays["qvel"]])
    measured = measure_trajectory(cheetah, Kinematics(model, cheetah).read(qpos, qvel), arrays["action"])
    for column, name in enumerate(arrays["_feature_names"]):
        assert np.array_equal(arrays["features"][:, column], measured[str(name)]), name


def test_a_stateful_reward_begins_anew_with_every_episode(cheetah, policy):
    source = (
        "n = 0\ndef reward_fn(obs, action, next_obs, info):\n    global n\n    n += 1\n    return n, {'n': float(n)}\n"
    )
    rollouts = run_episodes(CONFIG, cheetah, policy, range(27), LoadedReward(source))
    assert {rollout.episode_return for rollout in rollouts} == {sum(range(1, 21))}


def test_a_reward_that_fails_says_so(cheetah, policy):
    reward = LoadedReward("def reward_fn(obs, action, next_obs, info):\n    return np.nan, {'n': np.nan}\n")
    with pytest.raises(RewardFailed, match="term 'n' became nan"):
        run_episodes(CONFIG, cheetah, policy, [0], reward)


def test_the_kept_rollouts_are_at_the_percentiles_of_the_order():
    assert labelled([(float(value),) for value in (5, 1, 4, 2, 3)]) == {1: "p10", 4: "median", 0: "p90"}
    assert labelled([(float(value),) for value in range(50)]) == {5: "p10", 24: "median", 44: "p90"}
    assert labelled([(1.0, 5.0), (1.0, 3.0), (0.0, 9.0)]) == {2: "p10", 1: "median", 0: "p90"}


def test_what_is_shown_does_not_depend_on_the_trained_reward(cheetah, policy):
    """A reward that counts and returns what it likes chose which three of fifty rollouts a judge with eyes saw."""
    for_eyes = Criterion(
        key="graceful", title="Graceful", description="Looks good", category=Category.GAIT, predicate=None
    )
    intent = Intent(prompt="look good", env_id="HalfCheetah-v5", episode_s=1.0, criteria=(for_eyes,))
    shown = []
    for sign in (1, -1):
        body = f"    r = {sign} * float(obs.sum())\n    return r, {{'r': r}}\n"
        source = f"def reward_fn(obs, action, next_obs, info):\n{body}"
        rollouts = run_episodes(CONFIG, cheetah, policy, range(20), LoadedReward(source))
        measured = [measure(intent, rollout.features, cheetah.dt) for rollout in rollouts]
        scores = score(intent, measured, [rollout.summary() for rollout in rollouts])
        shown.append(labelled(judged_order(rollouts, scores)))
    assert shown[0] == shown[1]


def test_among_equal_rollouts_those_that_are_shown_are_drawn_evenly():
    drawn = Counter()
    for begin in range(0, 20_000, 50):
        same = [RecordedRollout(seed, float(seed), {}, {}, {}) for seed in range(begin, begin + 50)]
        drawn.update(index // 10 for index in labelled(judged_order(same, Scores((), (), None, None, None, None))))
    assert all(abs(drawn[fifth] - 240) < 60 for fifth in range(5)), drawn  # 1,200 draws over five fifths; 4 sigma is 55


def test_judged_episodes_have_the_intents_length():
    predicate = Predicate(
        statistic=Statistic.MEAN, feature="speed", comparison=Comparison.AT_LEAST, threshold=1, unit="m/s", margin=1
    )
    criterion = Criterion(key="fast", title="Fast", description="", category=Category.GAIT, predicate=predicate)
    intent = Intent(prompt="run", env_id="HalfCheetah-v5", criteria=(criterion,), episode_s=2.0)
    config = TrainConfig(max_episode_steps=7)
    assert judged_config(config, intent).episode_steps(0.05) == 40
    assert judged_config(config, None).episode_steps(0.05) == 7
