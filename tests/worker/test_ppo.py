from itertools import pairwise

import numpy as np
import pytest
from p2p.worker.ppo import LearnerEnv, export_policy, make_learner
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

from p2p.contracts.rollout import Purpose, first_seed
from p2p.contracts.training import StartStates, TrainConfig
from p2p.worker.evaluate import run_episodes
from p2p.worker.reward_loader import LoadedReward
from p2p.worker.start_states import StartPlacer
from p2p.worker.vec_env import VecEnv

FORWARD = "def reward_fn(obs, action, next_obs, info):\n    v = info['velocity_x']\n    return v, {'v': v}\n"


def learner_env(spec, config, source=FORWARD):
    env = VecEnv(config, spec, config.n_envs, LoadedReward(source), terminate=True)
    placer = StartPlacer(env, config.start_states, 0) if config.start_states else None
    return LearnerEnv(env, first_seed(Purpose.TRAINING, config.seed), placer)


def trained(spec, config, source=FORWARD):
    model = make_learner(config, learner_env(spec, config, source))
    model.learn(config.total_timesteps)
    return model


def weights(policy):
    return [*policy.weights, *policy.biases, policy.mean, policy.variance]


@pytest.mark.parametrize(("activation", "normalize"), [("relu", True), ("tanh", False)])
def test_the_exported_policy_acts_as_stable_baselines3_does(cheetah, small, activation, normalize):
    config = small.model_copy(update={"activation": activation, "normalize_obs": normalize, "total_timesteps": 1024})
    model = trained(cheetah, config)
    observations = np.random.default_rng(0).normal(0.0, 3.0, (50, 17))
    expected, _ = model.predict(model.get_vec_normalize_env().normalize_obs(observations), deterministic=True)
    assert export_policy(model).act(observations) == pytest.approx(expected, abs=1e-5)


def test_the_saved_model_and_normaliser_act_as_the_exported_policy(tmp_path, cheetah, small):
    model = trained(cheetah, small.model_copy(update={"total_timesteps": 1024}))
    model.save(tmp_path / "model.zip")
    model.get_vec_normalize_env().save(str(tmp_path / "vecnormalize.pkl"))
    loaded = PPO.load(tmp_path / "model.zip", device="cpu")
    normalizer = VecNormalize.load(str(tmp_path / "vecnormalize.pkl"), learner_env(cheetah, small))
    observations = np.random.default_rng(0).normal(0.0, 3.0, (50, 17))
    expected, _ = loaded.predict(normalizer.normalize_obs(observations), deterministic=True)
    assert export_policy(model).act(observations) == pytest.approx(expected, abs=1e-5)


def test_the_same_seed_gives_the_same_policy_to_the_bit_and_another_seed_another(cheetah, small):
    starts = StartStates(share=0.5, pitch=(-1.0, 1.0))
    config = small.model_copy(update={"total_timesteps": 2048, "start_states": starts})
    first, second = (export_policy(trained(cheetah, config)) for _ in range(2))
    other = export_policy(trained(cheetah, config.model_copy(update={"seed": 2})))
    assert all(np.array_equal(a, b) for a, b in zip(weights(first), weights(second), strict=True))
    assert not np.array_equal(first.weights[0], other.weights[0])


def test_a_finished_environment_is_reset_and_its_last_observation_kept(cheetah, small):
    env = learner_env(cheetah, small)
    env.reset()
    actions = np.zeros((16, 6), dtype=np.float32)
    ends = np.zeros(16, dtype=int)
    for _ in range(20):
        observations, _, done, infos = env.step(actions)
        ends += done
        for i in range(16):
            assert ("terminal_observation" in infos[i]) == bool(done[i])
            if done[i]:
                assert infos[i]["TimeLimit.truncated"]
                assert not np.array_equal(infos[i]["terminal_observation"], observations[i])
    assert (ends >= 1).all()


def test_first_episodes_are_staggered_and_do_not_count_as_whole_ones(cheetah, small):
    env = learner_env(cheetah, small)
    env.reset()
    ended = [np.flatnonzero(env.step(np.zeros((16, 6), dtype=np.float32))[2]).tolist() for _ in range(20)]
    assert max(len(ids) for ids in ended) <= 4
    assert [episode.length for episode in env.episodes] == [20]
    assert env.n_episodes == sum(len(ids) for ids in ended) >= 16


def test_terms_are_averaged_per_step_since_they_were_last_asked_for(cheetah, small):
    env = learner_env(cheetah, small, "def reward_fn(o, a, n, i):\n    t = i['time']\n    return t, {'time': t}\n")
    env.reset()
    assert env.drain_terms() == {}
    env.step(np.zeros((16, 6), dtype=np.float32))
    assert env.drain_terms() == {"time": pytest.approx(0.05)}


def test_the_learning_rate_falls_linearly_to_its_end(cheetah, small):
    model = make_learner(small, learner_env(cheetah, small))
    rates = [model.lr_schedule(remaining) for remaining in (1.0, 0.5, 0.0)]
    assert rates == pytest.approx([7e-4, 0.55 * 7e-4, 7e-5])


def test_training_uses_the_configured_hyperparameters(cheetah):
    config = TrainConfig(net_arch=(8, 8, 8), n_envs=2, n_steps=32, batch_size=32, log_std_init=-1.0, ent_coef=0.01)
    model = make_learner(config, learner_env(cheetah, config))
    assert [w.shape for w in export_policy(model).weights] == [*pairwise((17, 8, 8, 8, 6))]
    assert model.policy.log_std.detach().numpy() == pytest.approx(-1.0)
    assert (model.n_steps, model.batch_size, model.n_epochs, model.ent_coef) == (32, 32, 5, 0.01)
    assert (model.target_kl, model.gamma, model.gae_lambda) == (0.04, 0.99, 0.95)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1, -1])
def test_ppo_learns_what_the_reward_says_also_when_a_term_has_the_wrong_sign(cheetah, sign):
    config = TrainConfig(total_timesteps=24_000, episode_s=1.0)
    source = FORWARD.replace("= info", f"= {sign} * info")
    policy = export_policy(trained(cheetah, config, source))
    rollouts = run_episodes(config, cheetah, policy, range(5))
    speed = np.mean([rollout.features["velocity_x"].mean() for rollout in rollouts])
    assert sign * speed > 0.3
