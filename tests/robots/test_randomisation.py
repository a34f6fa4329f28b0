"""Robots that differ from their model: as one that was changed by hand, reproducible, and in training alone."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from going_on import policies_of_both
from pydantic import ValidationError
from robot_files import PONY

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.randomisation import Randomisation
from p2p.contracts.training import TrainConfig
from p2p.store.iterations import IterationRecord
from p2p.store.policy import NumpyPolicy, load_policy
from p2p.worker.description.describe import describe_robot
from p2p.worker.engine import simulation
from p2p.worker.engine.batch_simulation import BatchSimulation
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.rollout.episodes import run_episodes
from p2p.worker.training.run import Run

USUAL = TrainConfig.model_validate({"observation": "robot", "randomisation": "usual", "episode_s": 0.6})
REWARD = "def reward_fn(obs, action, next_obs, info):\n    v = info['forward_velocity']\n    return v, {'v': v}\n"


@pytest.fixture(scope="module")
def pony() -> EnvSpec:
    return describe_robot("pony", PONY)


def policy(spec: EnvSpec) -> NumpyPolicy:
    inputs = 6 + 3 * spec.action_dim
    weights = np.random.default_rng(0).normal(0.0, 0.3, (inputs, spec.action_dim)).astype(np.float32)
    ends = np.ones(spec.action_dim, np.float32)
    zeros = np.zeros(inputs)
    return NumpyPolicy((weights,), (0 * ends,), "tanh", zeros, zeros + 1, 10.0, -ends, ends, observation="robot")


def test_a_robot_of_a_batch_moves_as_one_whose_model_was_changed_by_hand(pony: EnvSpec) -> None:
    ranges = Randomisation(
        friction=(0.4, 0.6), mass=(1.2, 1.4), payload=(0.1, 0.2), gains=(0.7, 0.9), motor_strength=(0.5, 0.8),
        latency=(2, 2), slope=(0.1, 0.3),
    )  # fmt: skip
    env = VecEnv(TrainConfig(randomisation=ranges), pony, 3, randomise=True)
    start = env.reset(range(3), [7, 8, 9])
    friction, mass, payload, latency, *fall = env.draws[1, :6]
    gains = env.draws[1, 6:]
    stiffness, damping, strength = gains.reshape(3, 8)
    assert pony.robot is not None
    model = mujoco.MjModel.from_xml_string(pony.robot.xml)
    trunk = model.body("trunk").id
    added = payload * model.body_mass.sum()
    model.geom_friction[:, 0] *= friction
    model.body_inertia[trunk] *= 1.0 + added / model.body_mass[trunk]
    model.body_mass[trunk] += added
    model.body_mass *= mass
    model.body_inertia *= mass
    model.actuator_gainprm[:, 0] *= strength * stiffness
    model.actuator_biasprm[:, :2] *= (strength * stiffness)[:, None]
    model.actuator_biasprm[:, 2] *= strength * damping
    model.actuator_forcerange *= strength[:, None]
    model.opt.gravity[:] = 9.81 * np.array([*fall, -np.sqrt(1.0 - fall[0] ** 2 - fall[1] ** 2)])
    data = mujoco.MjData(model)
    mujoco.mj_setConst(model, data)
    mujoco.mj_resetData(model, data)
    data.qpos[:], data.qvel[:] = start.qpos[1], start.qvel[1]
    mujoco.mj_forward(model, data)
    sent = [np.zeros(8, np.float32)] * int(latency)
    rng = np.random.default_rng(0)
    for _ in range(40):
        actions = rng.uniform(-1, 1, (3, 8)).astype(np.float32)
        after = env.step(actions).after
        sent.append(actions[1])
        data.ctrl[:] = sent.pop(0)
        mujoco.mj_step(model, data, nstep=pony.frame_skip)
        assert np.array_equal(after.qpos[1], data.qpos)
        assert np.array_equal(after.qvel[1], data.qvel)
    assert len(np.unique(env.draws[:, 0])) == 3


@pytest.mark.parametrize(
    ("fields", "moved"),
    [
        ({"friction": (0.2, 0.3)}, True),
        ({"payload": (0.1, 0.2)}, True),
        ({"motor_strength": (0.5, 0.6)}, True),
        ({"slope": (0.1, 0.2)}, True),
        ({"friction": (1.0, 1.0)}, False),
    ],
)
def test_each_range_alone_moves_the_robot_otherwise(pony: EnvSpec, fields: dict[str, object], moved: bool) -> None:
    config = TrainConfig.model_validate({"observation": "robot", "episode_s": 0.6, "randomisation": fields})
    drawn, nominal = (run_episodes(config, pony, policy(pony), [4], randomise=one)[0] for one in (True, False))
    assert np.array_equal(drawn.arrays["qpos"], nominal.arrays["qpos"]) != moved


def test_a_randomised_episode_is_its_seeds_alone(pony: EnvSpec) -> None:
    many = run_episodes(USUAL, pony, policy(pony), [3, 4, 5], randomise=True)
    (one,) = run_episodes(USUAL, pony, policy(pony), [4], randomise=True)
    (nominal,) = run_episodes(USUAL, pony, policy(pony), [4])
    (plain,) = run_episodes(USUAL.model_copy(update={"randomisation": None}), pony, policy(pony), [4])
    for name in ("qpos", "action", "seen"):
        assert np.array_equal(many[1].arrays[name], one.arrays[name])
        assert np.array_equal(nominal.arrays[name], plain.arrays[name])
        assert not np.array_equal(nominal.arrays[name], one.arrays[name])
    assert np.array_equal(one.arrays["initial_qpos"], nominal.arrays["initial_qpos"])


def test_a_training_of_randomised_robots_goes_on_from_a_saved_state(pony: EnvSpec, tmp_path: Path) -> None:
    record = IterationRecord(tmp_path)
    sizes = {"n_envs": 4, "n_steps": 32, "batch_size": 64, "net_arch": (8, 8), "critic_observation": "full"}
    record.save_config(USUAL.model_copy(update=sizes))
    record.save_env_spec(pony)
    record.save_reward_source(REWARD)
    run = Run.open(record)
    found = []
    for made in policies_of_both(run):
        found.append([*made.weights, *made.value_weights, made.mean, made.privileged_variance])
        privileged = pony.obs_dim + 6 + 3 * pony.action_dim
        assert made.value_weights[0].shape[0] == made.weights[0].shape[0] + privileged
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))


def test_without_batches_it_is_refused(pony: EnvSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(VecEnv(USUAL, pony, 1, randomise=True).simulation, BatchSimulation)
    monkeypatch.setattr(simulation, "unavailable", lambda: "no batches here")
    with pytest.raises(InvalidConfig, match=r"randomisation needs MuJoCo's batches.*no batches here"):
        VecEnv(USUAL, pony, 1, randomise=True)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"friction": (1.2, 0.8)}, "low <= high"),
        ({"mass": (0.5, 20.0)}, "low <= high <= 10"),
        ({"latency": (0, 99)}, "control steps"),
        ({"slope": (0, 1.2)}, "at most 0.8 rad"),
        ({"noise": {}}, 'observation "robot"'),
        ({"colour": (0, 1)}, "colour"),
    ],
)
def test_what_cannot_be_drawn_is_refused(fields: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        TrainConfig.model_validate({"randomisation": fields})


def test_a_policy_keeps_what_its_critic_saw(pony: EnvSpec, tmp_path: Path) -> None:
    made = replace(policy(pony), privileged_mean=np.arange(3.0), privileged_variance=np.ones(3))
    for number, one in enumerate((made, policy(pony))):
        one.save(tmp_path / f"{number}.npz")
        loaded = load_policy(tmp_path / f"{number}.npz")
        assert loaded.observation == "robot"
        assert np.array_equal(loaded.privileged_mean, one.privileged_mean)


def test_on_a_slope_gravity_is_felt_to_one_side(pony: EnvSpec) -> None:
    steep = {"observation": "robot", "randomisation": {"slope": (0.3, 0.3)}, "episode_s": 0.6}
    config = TrainConfig.model_validate(steep)
    (rollout,) = run_episodes(config, pony, policy(pony), [4], randomise=True)
    felt = rollout.arrays["seen"][0, :3]
    assert np.linalg.norm(felt) == pytest.approx(1.0, abs=1e-6)
    assert np.hypot(*felt[:2]) == pytest.approx(np.sin(0.3), abs=0.05)
    (level,) = run_episodes(config, pony, policy(pony), [4])
    assert np.hypot(*level.arrays["seen"][0, :2]) < 0.05
