import json
import random
import subprocess
import sys
import warnings
from dataclasses import replace
from types import SimpleNamespace

import gymnasium
import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from conftest import random_actor_critic
from gymnasium.spaces import Box
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.worker.export.onnx import save_onnx
from p2p.worker.export.sb3 import save_sb3
from p2p.worker.export.torchscript import METADATA, save_torchscript

CASES = [("tanh", True), ("relu", False)]


@pytest.fixture
def spaces(cheetah):
    observations = Box(-np.inf, np.inf, (cheetah.obs_dim,), np.float64)
    return observations, Box(-1.0, 1.0, (cheetah.action_dim,), np.float32)


@pytest.fixture
def observations(cheetah):
    return np.random.default_rng(5).normal(0.0, 3.0, (50, cheetah.obs_dim)).astype(np.float32)


@pytest.fixture
def saved(tmp_path, cheetah, spaces):
    """Saves a policy for stable-baselines3 and opens it as anybody would."""

    def save(policy, config=None):
        zip_path, normalizer_path = tmp_path / "model.zip", tmp_path / "vecnormalize.pkl"
        save_sb3(policy, config or TrainConfig(), spaces, zip_path, normalizer_path, steps=4096)
        venv = DummyVecEnv([lambda: gymnasium.make(cheetah.env_id)])
        normalizer = VecNormalize.load(str(normalizer_path), venv)
        return SimpleNamespace(model=PPO.load(zip_path, device="cpu"), normalizer=normalizer)

    return save


@pytest.mark.parametrize(("activation", "normalized"), CASES)
def test_stable_baselines3_opens_the_files_and_acts_as_the_policy(saved, cheetah, observations, activation, normalized):
    policy = random_actor_critic(cheetah, activation, normalized)
    opened = saved(policy, TrainConfig(normalize_obs=normalized))
    actions, _ = opened.model.predict(opened.normalizer.normalize_obs(observations), deterministic=True)
    assert actions == pytest.approx(policy.act(observations), abs=1e-6)


def test_stable_baselines3_gets_the_critic_the_deviation_and_all_statistics(saved, cheetah, observations):
    policy = random_actor_critic(cheetah)
    opened = saved(policy)
    normal = opened.normalizer.normalize_obs(observations)
    with torch.no_grad():
        values = opened.model.policy.predict_values(torch.tensor(normal)).numpy()[:, 0]
    hidden = np.tanh(normal @ policy.value_weights[0] + policy.value_biases[0])
    assert values == pytest.approx((hidden @ policy.value_weights[1] + policy.value_biases[1])[:, 0], abs=1e-5)
    assert np.array_equal(opened.model.policy.log_std.detach().numpy(), policy.log_std)
    found = opened.normalizer.obs_rms
    assert np.array_equal(found.mean, policy.mean)
    assert np.array_equal(found.var, policy.variance)
    assert found.count == 4112.0
    returns = opened.normalizer.ret_rms
    assert (returns.mean, returns.var, returns.count) == (1.5, 7.0, 4096.0)
    assert (opened.normalizer.gamma, opened.normalizer.clip_reward) == (0.97, 5.0)
    assert not opened.normalizer.training, "it acts the same tomorrow"


def test_stable_baselines3_gets_the_hyperparameters(saved, cheetah):
    config = TrainConfig(seed=7, n_envs=2, n_steps=32, batch_size=32, n_epochs=3, gae_lambda=0.9, target_kl=None)
    model = saved(random_actor_critic(cheetah), config).model
    assert (model.seed, model.n_envs, model.n_steps, model.batch_size, model.n_epochs) == (7, 2, 32, 32, 3)
    assert (model.gae_lambda, model.target_kl, model.num_timesteps) == (0.9, None, 4096)
    rates = [model.lr_schedule(remaining) for remaining in (1.0, 0.5, 0.0)]
    assert rates == pytest.approx([7e-4, 0.55 * 7e-4, 7e-5])


def test_a_policy_whose_critic_was_not_kept_is_saved_with_an_untrained_one(saved, cheetah, observations):
    policy = replace(random_actor_critic(cheetah), log_std=None, value_weights=(), value_biases=(), gamma=None)
    opened = saved(policy, TrainConfig(log_std_init=-1.0))
    actions, _ = opened.model.predict(opened.normalizer.normalize_obs(observations), deterministic=True)
    assert actions == pytest.approx(policy.act(observations), abs=1e-6)
    assert opened.model.policy.log_std.detach().numpy() == pytest.approx(-1.0)
    assert opened.normalizer.gamma == 0.99


def test_a_saved_model_can_be_trained_on(saved, cheetah):
    config = TrainConfig(n_envs=1, n_steps=32, batch_size=32, n_epochs=1)
    opened = saved(random_actor_critic(cheetah), config)
    before = opened.model.policy.action_net.weight.detach().clone()
    opened.normalizer.training = True
    opened.model.set_env(opened.normalizer)
    opened.model.learn(32, reset_num_timesteps=False)
    assert opened.model.num_timesteps == 4096 + 32
    assert not torch.equal(opened.model.policy.action_net.weight, before)
    assert opened.normalizer.obs_rms.count > 4112.0


def test_saving_draws_no_random_number_so_a_training_may_do_it_at_any_time(tmp_path, cheetah, spaces):
    def states():
        return random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()

    before = states()
    paths = tmp_path / "model.zip", tmp_path / "vecnormalize.pkl"
    save_sb3(random_actor_critic(cheetah), TrainConfig(), spaces, *paths)
    assert states() == before


def test_the_files_of_stable_baselines3_need_no_p2p_and_are_the_same_every_time(tmp_path, cheetah, spaces):
    paths = [(tmp_path / f"{i}.zip", tmp_path / f"{i}.pkl") for i in range(2)]
    for pair in paths:
        save_sb3(random_actor_critic(cheetah), TrainConfig(), spaces, *pair)
    code = (
        "import sys; sys.modules['p2p'] = None;"
        "from stable_baselines3 import PPO; PPO.load(sys.argv[1], device='cpu');"
        "import pickle; pickle.load(open(sys.argv[2], 'rb'))"
    )
    subprocess.run([sys.executable, "-c", code, *map(str, paths[0])], check=True)
    first, second = (PPO.load(path, device="cpu").policy.state_dict() for path, _ in paths)
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize(("activation", "normalized"), CASES)
def test_an_onnx_graph_acts_as_the_policy_to_the_bit_for_any_number_of_rows(
    tmp_path, cheetah, observations, activation, normalized
):
    policy, path = random_actor_critic(cheetah, activation, normalized), tmp_path / "policy.onnx"
    save_onnx(policy, {"environment": cheetah.env_id}, path)
    session = onnxruntime.InferenceSession(path)
    (given,), (taken,) = session.get_inputs(), session.get_outputs()
    assert (given.name, given.type, given.shape) == ("observation", "tensor(float)", ["batch", 17])
    assert (taken.name, taken.type, taken.shape) == ("action", "tensor(float)", ["batch", 6])
    for rows in (1, 7, 50):
        (actions,) = session.run(["action"], {"observation": observations[:rows]})
        assert np.array_equal(actions, policy.act(observations[:rows]))
    extreme = np.full((1, 17), 1e30, dtype=np.float32)
    (actions,) = session.run(["action"], {"observation": extreme})
    assert np.abs(actions).max() <= 1.0
    assert session.get_modelmeta().custom_metadata_map == {"environment": "HalfCheetah-v5"}
    assert onnx.load(path).opset_import[0].version == 17


def test_an_onnx_graph_is_written_without_torch():
    code = "import sys, p2p.worker.export.onnx; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(("activation", "normalized"), CASES)
def test_a_torchscript_module_acts_as_the_policy_to_the_bit_for_any_number_of_rows(
    tmp_path, cheetah, observations, activation, normalized
):
    policy, path = random_actor_critic(cheetah, activation, normalized), tmp_path / "policy.pt"
    save_torchscript(policy, {"environment": cheetah.env_id}, path)
    said = {METADATA: ""}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        module = torch.jit.load(str(path), _extra_files=said)
    assert json.loads(said[METADATA]) == {"environment": "HalfCheetah-v5"}
    for rows in (1, 7, 50):
        actions = module(torch.tensor(observations[:rows]))
        assert actions.dtype == torch.float32
        assert np.array_equal(actions.detach().numpy(), policy.act(observations[:rows]))


@pytest.mark.parametrize("env_id", ["Pusher-v5", "Humanoid-v5"])
def test_actions_are_clipped_to_each_joints_own_range(tmp_path, env_id):
    spec = catalog.load(env_id)
    policy = random_actor_critic(spec)
    wide = replace(policy, weights=(*policy.weights[:-1], 1000 * policy.weights[-1]))
    observations = np.random.default_rng(0).normal(0.0, 3.0, (20, spec.obs_dim)).astype(np.float32)
    save_onnx(wide, {}, tmp_path / "policy.onnx")
    (actions,) = onnxruntime.InferenceSession(tmp_path / "policy.onnx").run(None, {"observation": observations})
    assert np.array_equal(actions, wide.act(observations))
    assert np.array_equal(actions.max(axis=0), wide.high)
    assert np.array_equal(actions.min(axis=0), wide.low)
