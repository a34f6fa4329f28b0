"""Commands: drawn, told, measured, recorded and saved, and refused where a body cannot follow them."""

import math

import numpy as np
import pytest
from going_on import random_actions, stepped_on

from p2p.contracts.commands import COMMAND_FEATURES, Commands
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.start_states import StartStates
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.rewards.definitions import commanded
from p2p.service.training.plan import parse_config
from p2p.store.policy import NumpyPolicy
from p2p.worker.engine import simulation
from p2p.worker.engine.vec_env import Block, VecEnv
from p2p.worker.reward.inputs import FeatureReader, RewardInputs
from p2p.worker.rollout.episodes import run_episodes
from p2p.worker.rollout.policy_inputs import PolicyInputs

ANT = catalog.load("Ant-v5")
N = 4
ALL = Commands(velocity_x=(-0.5, 1.0), velocity_y=(-0.3, 0.3), yaw_rate=(-0.6, 0.6), resample_s=0.2)
FACING = Commands(
    velocity_x=(-0.5, 1.0), velocity_y=(-0.3, 0.3), heading=(-3.0, 3.0), height=(0.4, 0.7), resample_s=0.2
)
SPEEDS = {"command_velocity_x", "command_velocity_y", "velocity_error"}
TOLD = SPEEDS | {"command_yaw_rate", "yaw_rate_error"}
"""Features that `ALL` adds."""
MORE = SPEEDS | {"command_heading", "heading_error", "command_height", "height_error"}
"""Features that `FACING` adds."""


def acting(spec, commands=0):
    """A policy that acts by all it sees."""
    inputs = spec.obs_dim + commands
    return NumpyPolicy(
        weights=(np.random.default_rng(0).normal(0.0, 0.3, (inputs, spec.action_dim)).astype(np.float32),),
        biases=(np.zeros(spec.action_dim, np.float32),),
        activation="tanh",
        mean=np.zeros(inputs),
        variance=np.ones(inputs),
        clip=10.0,
        low=np.array([one.low for one in spec.action], np.float32),
        high=np.array([one.high for one in spec.action], np.float32),
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "command nothing"),
        ({"velocity_x": [0.0, 0.0]}, "command nothing"),
        ({"velocity_x": [1.0, 0.5]}, r"low <= high.*\[1.0, 0.5\]"),
        ({"velocity_x": [0.0, math.nan]}, "finite number"),
        ({"velocity_x": [0.0, 50.0]}, "20"),
        ({"velocity_x": [0.0]}, "commands.velocity_x"),
        ({"velocity_z": [0.0, 1.0]}, "commands.velocity_z: unknown key; did you mean 'commands.velocity_"),
        ({"velocity_x": [0.0, 1.0], "resample_s": 0.0}, "commands.resample_s"),
        ({"velocity_x": [0.0, 1.0], "stand_share": 1.0}, "commands.stand_share"),
        ({"height": [0.0, 0.5]}, r"heights above 0 m, got \[0.0, 0.5\]"),
        ({"heading": [-4.0, 4.0]}, r"half a turn.*\[-4.0, 4.0\]"),
        ({"heading": [-1.0, 1.0], "yaw_rate": [-1.0, 1.0]}, "heading and yaw_rate"),
    ],
)
def test_commands_that_contradict_themselves_are_refused_by_name(fields, message):
    with pytest.raises(InvalidConfig, match=message):
        parse_config({"commands": fields})


@pytest.mark.parametrize(
    ("env_id", "fields", "message"),
    [
        (
            "HalfCheetah-v5",
            {"yaw_rate": (-1.0, 1.0)},
            "Cheetah-v5 cannot follow yaw_rate; it can be told velocity_x",
        ),
        ("Hopper-v5", {"velocity_x": (0.0, 1.0), "velocity_y": (0.0, 0.2)}, "cannot follow velocity_y"),
        ("Hopper-v5", {"heading": (-1.0, 1.0)}, "cannot follow heading; it can be told velocity_x and height"),
        ("Swimmer-v5", {"height": (0.1, 0.2)}, "cannot follow height"),
        ("Reacher-v5", {"velocity_x": (0.0, 1.0)}, "cannot be told to go anywhere"),
        ("InvertedPendulum-v5", {"velocity_x": (0.0, 1.0)}, "cannot be told to go anywhere"),
    ],
)
def test_what_a_body_cannot_follow_is_refused_by_name(env_id, fields, message):
    with pytest.raises(InvalidConfig, match=message):
        VecEnv(TrainConfig(env_id=env_id, commands=Commands(**fields)), catalog.load(env_id), 1)


def test_an_environment_has_the_features_of_commands_only_while_it_has_commands():
    told = commanded(ANT, ALL)
    assert set(told.feature_names) - set(ANT.feature_names) == TOLD
    assert told.feature_names[: len(ANT.feature_names)] == ANT.feature_names
    assert commanded(commanded(told, ALL), None) == ANT
    assert commanded(ANT, None) is ANT
    planar = commanded(catalog.load("Hopper-v5"), Commands(velocity_x=(0.0, 1.0)))
    assert planar.feature_names[-2:] == ("command_velocity_x", "velocity_error")


def test_a_robot_is_told_heading_and_height_only_where_they_are_asked_for():
    told = commanded(ANT, FACING)
    assert set(told.feature_names) - set(ANT.feature_names) == MORE
    assert TOLD | MORE == COMMAND_FEATURES
    assert FACING.components(told) == ("velocity_x", "velocity_y", "heading", "height")
    assert ALL.components(commanded(ANT, ALL)) == ("velocity_x", "velocity_y", "yaw_rate")
    assert "heading" not in ALL.model_dump(mode="json")


def test_what_is_left_to_turn_is_told_at_every_step_and_a_draw_to_stand_keeps_the_height():
    env = VecEnv(TrainConfig(env_id="Ant-v5", commands=FACING.model_copy(update={"stand_share": 0.5})), ANT, N)
    env.reset(range(N), range(N))
    for t in range(40):
        env.step(random_actions(ANT, t, N))
    block = env.take_block()
    assert block.commands is not None
    found = {name: values.reshape(40, N) for name, values in RewardInputs(env.simulation).read(block).items()}
    told = block.commands.reshape(40, N, 4)
    for start in range(4, 40, 4):  # 0.2 s, that one command lasts
        aims = told[start, :, 2] + found["yaw"][start - 1]
        for t in range(start + 1, start + 4):
            apart = told[t, :, 2] + found["yaw"][t - 1] - aims
            assert np.cos(apart) == pytest.approx(1.0, abs=1e-9)
    assert np.array_equal(found["command_heading"], told[..., 2])
    assert found["height_error"] == pytest.approx(np.abs(told[..., 3] - found["height"]), abs=1e-12)
    later = np.abs(told[1:, :, 2])
    kept = np.arange(1, 40) % 4 != 0  # the next step has the same command
    assert found["heading_error"][:-1][kept] == pytest.approx(later[kept], abs=1e-9)
    stands = (told[..., :2] == 0.0).all(axis=-1)
    assert 0.2 < stands.mean() < 0.8
    assert ((told[..., 3] >= 0.4) & (told[..., 3] <= 0.7)).all()
    begins = stands & (np.arange(40) % 4 == 0)[:, None]
    assert (told[..., 2][begins] == 0.0).all()


def test_draws_are_uniform_over_their_ranges_but_for_the_share_that_stands():
    env = VecEnv(TrainConfig(env_id="Ant-v5", commands=ALL.model_copy(update={"stand_share": 0.25})), ANT, 1)
    assert env.commands is not None
    frame = env.reset([0], [0])
    found = []
    for seed in range(4000):
        env.commands.begin([0], [seed], frame)
        found.append(env.commands.now[0])
    drawn = np.array(found)
    stands = (drawn == 0.0).all(axis=1)
    assert stands.mean() == pytest.approx(0.25, abs=0.03)
    low, high = np.array([(-0.5, 1.0), (-0.3, 0.3), (-0.6, 0.6)]).T
    going = drawn[~stands]
    assert (going >= low).all()
    assert (going <= high).all()
    assert going.mean(axis=0) == pytest.approx((low + high) / 2, abs=0.03)
    assert going.std(axis=0) == pytest.approx((high - low) / math.sqrt(12), rel=0.05)
    assert np.abs(np.corrcoef(going.T) - np.eye(3)).max() < 0.06


def test_a_command_stays_for_its_time_and_is_then_drawn_anew():
    config = TrainConfig(env_id="Ant-v5", commands=ALL.model_copy(update={"stand_share": 0.0}))  # 0.2 s: 4 steps
    env = VecEnv(config, ANT, 2)
    env.reset(range(2), [3, 4])
    told = [env.step(random_actions(ANT, t, 2)).commands for t in range(12)]
    assert all(row is not None for row in told)
    changes = [t for t in range(1, 12) if not np.array_equal(told[t], told[t - 1])]
    assert changes == [4, 8]
    whole = VecEnv(TrainConfig(env_id="Ant-v5", commands=Commands(velocity_x=(0.1, 1.0))), ANT, 1)
    whole.reset([0], [3])
    kept = [whole.step(random_actions(ANT, t, 1)).commands for t in range(30)]
    assert all(np.array_equal(row, kept[0]) for row in kept)


def test_features_without_commands_are_the_same_to_the_bit():
    plain = VecEnv(TrainConfig(env_id="Ant-v5"), ANT, N)
    told = VecEnv(TrainConfig(env_id="Ant-v5", commands=ALL), ANT, N)
    for env in (plain, told):
        env.reset(range(N), range(N))
        for t in range(30):
            env.step(random_actions(ANT, t, N))
    found, more = (RewardInputs(env.simulation).read(env.take_block()) for env in (plain, told))
    assert set(more) - set(found) == TOLD
    for name, column in found.items():
        assert np.array_equal(column, more[name]), name


def test_errors_are_the_distance_of_motion_and_command_and_blocks_are_cut_as_one_likes():
    env = VecEnv(TrainConfig(env_id="Ant-v5", commands=ALL), ANT, N)
    env.reset(range(N), range(N))
    step_by_step = FeatureReader(env.simulation)
    at_once = FeatureReader(env.simulation)
    single = []
    for t in range(25):
        step = env.step(random_actions(ANT, t, N))
        single.append(step_by_step.read(Block.of([step])))
        if t == 11:
            env.reset([1], [9])
    block = env.take_block()
    found = at_once.read(block)
    for name in TOLD:
        assert np.array_equal(found[name], np.concatenate([row[name] for row in single])), name
    assert block.commands is not None
    x, y, yaw = block.commands.T
    assert np.array_equal(found["command_velocity_y"], y)
    apart = np.hypot(x - found["forward_velocity"], y - found["lateral_velocity"])
    assert found["velocity_error"] == pytest.approx(apart, abs=1e-12)
    assert found["yaw_rate_error"] == pytest.approx(np.abs(yaw - found["yaw_rate"]), abs=1e-12)


def test_the_policy_sees_the_command_that_the_step_is_measured_by():
    env = VecEnv(TrainConfig(env_id="Ant-v5", commands=ALL), ANT, 2)
    inputs = PolicyInputs(TrainConfig(env_id="Ant-v5", commands=ALL), env)
    env.reset(range(2), [3, 4])
    inputs.begin(range(2))
    assert inputs.space.shape == (ANT.obs_dim + 3,)
    for t in range(10):
        seen = inputs.now[:, -3:].copy()
        step = env.step(random_actions(ANT, t, 2))
        inputs.follow(step)
        assert np.array_equal(seen, step.commands)


def test_evaluation_draws_follow_from_each_episodes_seed_alone_and_are_recorded():
    config = TrainConfig(env_id="Ant-v5", commands=ALL, episode_s=0.6)
    policy = acting(ANT, 3)
    together = run_episodes(config, ANT, policy, [5, 6, 7])
    alone = run_episodes(config, ANT, policy, [6])
    for name, values in alone[0].features.items():
        assert np.array_equal(values, together[1].features[name]), name
    assert np.array_equal(alone[0].arrays["observed"], together[1].arrays["observed"])
    assert not np.array_equal(together[0].features["command_velocity_x"], together[2].features["command_velocity_x"])
    told = np.stack([alone[0].features[f"command_{name}"] for name in ("velocity_x", "velocity_y", "yaw_rate")], axis=1)
    assert np.array_equal(told.astype(np.float32), alone[0].arrays["observed"])


@pytest.mark.parametrize(("commands", "added"), [(ALL, TOLD), (FACING, MORE)])
@pytest.mark.parametrize("engine", ["batch", "gymnasium"])
def test_the_batch_and_the_plain_simulation_are_told_and_measure_the_same(engine, commands, added, monkeypatch):
    config = TrainConfig(env_id="Ant-v5", commands=commands, episode_s=0.5)
    policy = acting(ANT, len(commands.components(ANT)))
    (reference,) = run_episodes(config, ANT, policy, [5])
    if engine == "gymnasium":
        monkeypatch.setattr(simulation, "unavailable", lambda: "switched off")
    (found,) = run_episodes(config, ANT, policy, [5])
    for name in added:
        assert np.array_equal(found.features[name], reference.features[name]), name


@pytest.mark.parametrize("commands", [ALL, FACING])
def test_a_training_that_goes_on_from_a_saved_state_is_told_the_same(commands):
    starts = StartStates(raised=(0.1, 0.3))
    config = TrainConfig(env_id="Ant-v5", episode_s=0.5, commands=commands, start_states=starts)

    env, other, seen = stepped_on(config, ANT, N)
    assert (np.std(seen[..., -3:], axis=(0, 1)) > 0.0).all()
    one, two = (each.take_block().commands for each in (env, other))
    assert np.array_equal(one, two)
