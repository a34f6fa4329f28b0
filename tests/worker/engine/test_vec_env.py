import gymnasium
import numpy as np
import pytest

from p2p.contracts.errors import InvalidConfig
from p2p.contracts.start_states import StartStates
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.rewards.rotations import forward_axis, upness
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.features.kinematics import Kinematics
from p2p.worker.reward.inputs import RewardInputs
from p2p.worker.rollout.starts import StartPlacer


def make(env_id="HalfCheetah-v5", n=3, terminate=False, **fields):
    return VecEnv(TrainConfig(env_id=env_id, **fields), catalog.load(env_id), n, terminate)


def started(env, first_seed=0):
    env.reset(range(env.n), list(range(first_seed, first_seed + env.n)))
    return env


def actions_for(env, steps, seed=0):
    space = env.simulation.action_space
    rng = np.random.default_rng(seed)
    return rng.uniform(space.low, space.high, (steps, env.n, *space.shape)).astype(np.float32)


def test_a_block_holds_what_was_stepped_through_in_the_order_of_time():
    env = started(make())
    first, actions = env.now, actions_for(env, 4)
    steps = [env.step(row) for row in actions]
    block = env.take_block()
    assert np.array_equal(block.grid(block.before.observations)[0], first.observations)
    assert np.array_equal(block.grid(block.before.qpos)[1:], block.grid(block.after.qpos)[:-1])
    assert np.array_equal(block.grid(block.after.qvel)[3], steps[3].after.qvel)
    assert np.array_equal(block.grid(block.actions), actions)
    assert block.starts.tolist() == [[True] * 3] + [[False] * 3] * 3


def test_a_reset_within_a_block_shows_as_a_start_and_leaves_the_end_in_place():
    env = started(make(n=2))
    actions = actions_for(env, 3)
    env.step(actions[0])
    ended = env.step(actions[1])
    fresh = env.reset([1], [9])
    env.step(actions[2])
    block = env.take_block()
    assert block.starts.tolist() == [[True, True], [False, False], [False, True]]
    assert np.array_equal(block.grid(block.after.qpos)[1], ended.after.qpos)
    assert np.array_equal(block.grid(block.before.qpos)[2], [ended.after.qpos[0], fresh.qpos[0]])


def test_blocks_follow_one_another_without_a_gap():
    env = started(make())
    actions = actions_for(env, 4)
    for row in actions[:2]:
        env.step(row)
    first = env.take_block()
    for row in actions[2:]:
        env.step(row)
    second = env.take_block()
    assert np.array_equal(first.grid(first.after.qpos)[-1], second.grid(second.before.qpos)[0])
    assert not second.starts.any()


def test_stepping_before_the_first_reset_is_refused():
    with pytest.raises(RuntimeError, match="reset the environments"):
        make().step(np.zeros((3, 6)))


def test_info_holds_gymnasiums_values_and_every_feature(cheetah):
    env = started(make())
    env.step(np.ones((3, 6), dtype=np.float32))
    columns = RewardInputs(env.simulation).read(env.take_block())
    plain = gymnasium.make("HalfCheetah-v5")
    plain.reset(seed=1)
    info = plain.step(np.ones(6, dtype=np.float32))[4]
    assert {"_episode_start", "env_reward", *info, *cheetah.feature_names} == columns.keys()
    assert {name: columns[name][1] for name in info} == pytest.approx(info)
    assert columns["forward_velocity"] == pytest.approx(columns["x_velocity"], abs=0.2)


def test_features_of_blocks_do_not_depend_on_where_they_are_cut(cheetah):
    def features(cuts):
        env = started(make(n=2))
        inputs, parts = RewardInputs(env.simulation), []
        for t, row in enumerate(actions_for(env, 20), start=1):
            env.step(row)
            if t == 8:
                env.reset([1], [5])
            if t in cuts:
                parts.append(inputs.read(env.take_block()))
        return {name: np.concatenate([part[name] for part in parts]) for name in cheetah.feature_names}

    whole, cut = features([20]), features([3, 8, 12, 20])
    assert all(np.array_equal(whole[name], cut[name]) for name in whole)


def test_only_what_is_wanted_is_read():
    env = started(make())
    env.step(np.ones((3, 6), dtype=np.float32))
    inputs = RewardInputs(env.simulation, frozenset({"x_velocity", "nothing"}))
    assert inputs.read(env.take_block()).keys() == {"x_velocity"}


def test_side_info_adds_copies_of_the_simulators_arrays():
    env = started(make(side_info=True))
    env.step(np.ones((3, 6), dtype=np.float32))
    block = env.take_block()
    columns = RewardInputs(env.simulation).read(block)
    assert columns["xpos"].shape == (3, 8, 3)
    assert np.array_equal(columns["qpos"], block.after.qpos)
    before = columns["qpos"].copy()
    env.step(np.ones((3, 6), dtype=np.float32))
    assert np.array_equal(columns["qpos"], before)


def test_time_is_up_after_the_configured_episode():
    env = started(make(episode_s=0.2))
    assert env.episode_steps == 4
    assert [env.step(np.zeros((3, 6))).truncated.tolist() for _ in range(4)] == [[False] * 3] * 3 + [[True] * 3]


@pytest.mark.parametrize("env_id", ["Hopper-v5", "InvertedPendulum-v5"])
def test_episodes_end_by_the_environments_rule_only_when_asked(env_id):
    ends = {}
    for asked in (False, True):
        env = started(make(env_id=env_id, terminate=True, terminate_when_unhealthy=asked))
        ends[asked] = any(env.step(actions).terminated.any() for actions in actions_for(env, 100))
    assert ends == {False: False, True: True}


def test_evaluation_never_ends_early_whatever_the_configuration_says():
    env = started(make(env_id="Hopper-v5", terminate=False, terminate_when_unhealthy=True))
    assert not any(env.step(actions).terminated.any() for actions in actions_for(env, 100))


def test_wrong_arguments_of_the_environment_are_refused():
    with pytest.raises(InvalidConfig, match="does not take env_kwargs"):
        make(env_kwargs={"gravity_of_mars": 3.7})


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5"])
def test_start_states_pitch_the_nose_up_and_turn_it_further_up(env_id):
    env = make(env_id=env_id)
    reader = Kinematics(env.simulation.model, env.spec)
    starts = StartStates(share=1.0, pitch=(0.6, 0.6), raised=(1.0, 1.0), pitch_rate=(2.0, 2.0))
    ids = range(env.n)
    plain = env.simulation.reset(ids, [0, 1, 2])
    rest = reader.read(plain.qpos, plain.qvel)
    frame = env.begin(ids, StartPlacer(env, starts, 0).apply(ids, plain))
    moved = reader.read(frame.qpos, frame.qvel)
    assert moved.position[:, 2] - rest.position[:, 2] == pytest.approx(1.0)
    placed = env.simulation.place(0, frame.qpos[0], frame.qvel[0])
    assert np.array_equal(placed.observations[0], frame.observations[0])
    env.step(np.zeros((3, env.spec.action_dim), dtype=np.float32))
    features = RewardInputs(env.simulation).read(env.take_block())
    pitch = np.arctan2(forward_axis(rest.quaternion)[:, 2], upness(rest.quaternion))
    assert features["pitch"] == pytest.approx(pitch + 0.6 + 2.0 * env.spec.dt, abs=0.1)
    assert features["pitch_rate"] == pytest.approx(2.0, abs=1.0)


def test_start_states_move_a_share_of_the_resets_and_nothing_below_the_floor():
    env = make(n=40)
    ids = range(env.n)
    plain = env.simulation.reset(ids, list(ids))
    starts = StartStates(share=0.5, pitch=(-3.0, 3.0))
    frame = StartPlacer(env, starts, 0).apply(ids, plain)
    moved = (frame.qpos != plain.qpos).any(axis=1)
    assert 10 <= moved.sum() <= 30
    lows = Kinematics(env.simulation.model, env.spec).read(frame.qpos, frame.qvel).low
    assert (lows[moved] >= env.spec.rest_clearance - 1e-9).all()


def test_start_states_need_a_robot_that_can_pitch():
    with pytest.raises(InvalidConfig, match="Reacher-v5 does not have"):
        StartPlacer(make(env_id="Reacher-v5"), StartStates(), 0)
