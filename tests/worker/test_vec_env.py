import gymnasium
import numpy as np
import pytest

from p2p.contracts.errors import InvalidConfig, RewardFailed
from p2p.contracts.training import StartStates, TrainConfig
from p2p.envs import catalog
from p2p.rewards.features import measure_trajectory
from p2p.rewards.rotations import forward_axis, upness
from p2p.worker.reward_loader import LoadedReward
from p2p.worker.start_states import StartPlacer
from p2p.worker.vec_env import VecEnv


def make(reward=None, env_id="HalfCheetah-v5", n=3, terminate=False, **fields):
    config = TrainConfig(env_id=env_id, **fields)
    return VecEnv(config, catalog.load(env_id), n, reward and LoadedReward(reward), terminate)


def started(env, first_seed=0):
    env.reset(range(env.n), list(range(first_seed, first_seed + env.n)))
    return env


def run(env, steps):
    for _ in range(steps):
        env.step(np.zeros((env.n, env.spec.action_dim)))


def function(body):
    return f"def reward_fn(obs, action, next_obs, info):\n    {body}\n"


def actions_for(env, steps, seed=0):
    space = env.simulation.action_space
    rng = np.random.default_rng(seed)
    return rng.uniform(space.low, space.high, (steps, env.n, *space.shape)).astype(np.float32)


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Hopper-v5", "Ant-v5", "InvertedPendulum-v5"])
def test_the_simulation_is_gymnasiums_to_the_bit(env_id):
    env = make(env_id=env_id, n=2)
    first = env.reset(range(2), [5, 6]).observations
    plain = gymnasium.make(env_id)
    assert np.array_equal(first[1], plain.reset(seed=6)[0])
    for actions in actions_for(env, 30):
        step, (observation, reward, ended, *_) = env.step(actions), plain.step(actions[1])
        assert np.array_equal(step.observations[1], observation)
        assert step.rewards[1] == pytest.approx(reward)
        if ended:
            break


def test_the_reward_takes_the_place_of_gymnasiums_and_its_terms_are_there(class_reward):
    env = started(make(class_reward))
    step = env.step(np.ones((3, 6)))
    assert env.term_names == ("speed", "ctrl")
    assert step.terms[:, 1] == pytest.approx(-0.6)
    assert np.array_equal(step.rewards, step.terms[:, 0] + step.terms[:, 1])
    assert step.terms[:, 0] == pytest.approx(step.features["velocity_x"])


def test_info_holds_gymnasiums_values_and_every_feature(cheetah):
    env = started(make())
    info = env.step(np.ones((3, 6))).infos[2]
    assert {"x_position", "x_velocity", "reward_forward", "reward_ctrl", *cheetah.feature_names} <= info.keys()
    assert all(type(info[name]) is float for name in cheetah.feature_names)
    assert "qpos" not in info


def test_side_info_adds_copies_of_the_simulators_arrays():
    env = started(make(side_info=True))
    info = env.step(np.ones((3, 6))).infos[1]
    assert info["qpos"].shape == (9,)
    assert info["xpos"].shape == (8, 3)
    before = info["qpos"].copy()
    env.step(np.ones((3, 6)))
    assert np.array_equal(info["qpos"], before)


def test_features_along_the_way_equal_those_of_the_saved_trajectory(cheetah):
    env = make(n=2)
    frame = env.reset(range(2), [1, 2])
    actions = actions_for(env, 20)
    steps = [env.step(row) for row in actions]
    for i in range(2):
        qpos = np.array([frame.qpos[i], *(step.qpos[i] for step in steps)])
        qvel = np.array([frame.qvel[i], *(step.qvel[i] for step in steps)])
        measured = measure_trajectory(cheetah, env.kinematics.read(qpos, qvel), actions[:, i])
        for name, values in measured.items():
            assert np.array_equal(values, [step.features[name][i] for step in steps]), name


def test_an_episode_start_is_seen_on_exactly_the_first_steps_of_each_environment():
    env = started(make(function('s = float(info["_episode_start"]); return s, {"s": s}')))
    seen = [env.step(np.zeros((3, 6))).rewards.tolist() for _ in range(2)]
    env.reset([1], [None])
    seen += [env.step(np.zeros((3, 6))).rewards.tolist() for _ in range(2)]
    assert seen == [[1, 1, 1], [0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_a_rewards_state_begins_anew_with_the_episode_of_its_own_environment():
    counter = (
        "n = 0\ndef reward_fn(obs, action, next_obs, info):\n    global n\n    n += 1\n    return n, {'n': float(n)}\n"
    )
    env = started(make(counter))
    env.step(np.zeros((3, 6)))
    env.reset([2], [None])
    assert env.step(np.zeros((3, 6))).rewards.tolist() == [2, 2, 1]


def test_what_a_reward_writes_into_its_arguments_changes_nothing():
    env = started(make(function('obs[:] = 9; action[:] = 9; next_obs[:] = 9; return 0.0, {"z": 0.0}'), n=1))
    plain = started(make(n=1))
    for actions in actions_for(env, 3):
        assert np.array_equal(env.step(actions).observations, plain.step(actions).observations)


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


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            'return 1.0, {"good": 1.0, "bad": float("nan")}',
            r"term 'bad' became nan at step 3 \(environment 0, step 1 of its",
        ),
        ('return 1.0, {"bad": 1.0 if info["_episode_start"] else -np.inf}', r"term 'bad' became -inf at step 6"),
        ('return float("inf"), {"good": 1.0}', "total became inf"),
        ('return 1.0, {"a": info["nothing"]}', "line 2: the reward raised KeyError: 'nothing'"),
        ('return 1.0, ({"a": 1.0} if info["_episode_start"] else {"b": 1.0})', "terms changed from a to b"),
        ("return 1.0", "the reward raised TypeError"),
        ("raise SystemExit", "line 2: the reward raised SystemExit"),
    ],
)
def test_a_bad_reward_stops_the_run_and_is_named_with_step_and_observation(body, message):
    env = started(make(function(body)))
    with pytest.raises(RewardFailed, match=message) as failure:
        run(env, steps=2)
    assert "on observation [" in str(failure.value)
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5"])
def test_start_states_pitch_the_nose_up_and_turn_it_further_up(env_id):
    env = make(env_id=env_id)
    starts = StartStates(share=1.0, pitch=(0.6, 0.6), raised=(1.0, 1.0), pitch_rate=(2.0, 2.0))
    ids = range(env.n)
    plain = env.simulation.reset(ids, [0, 1, 2])
    rest = env.kinematics.read(plain.qpos, plain.qvel)
    frame = env.begin(ids, StartPlacer(env, starts, 0).apply(ids, plain))
    moved = env.kinematics.read(frame.qpos, frame.qvel)
    assert moved.position[:, 2] - rest.position[:, 2] == pytest.approx(1.0)
    assert np.array_equal(env.simulation.place(0, frame.qpos[0], frame.qvel[0]), frame.observations[0])
    step = env.step(np.zeros((3, env.spec.action_dim)))
    pitch = np.arctan2(forward_axis(rest.quaternion)[:, 2], upness(rest.quaternion))
    assert step.features["pitch"] == pytest.approx(pitch + 0.6 + 2.0 * env.spec.dt, abs=0.1)
    assert step.features["pitch_rate"] == pytest.approx(2.0, abs=1.0)


def test_start_states_move_a_share_of_the_resets_and_nothing_below_the_floor():
    env = make(n=40)
    ids = range(env.n)
    plain = env.simulation.reset(ids, list(ids))
    starts = StartStates(share=0.5, pitch=(-3.0, 3.0))
    frame = StartPlacer(env, starts, 0).apply(ids, plain)
    moved = (frame.qpos != plain.qpos).any(axis=1)
    assert 10 <= moved.sum() <= 30
    lows = env.kinematics.read(frame.qpos, frame.qvel).low
    assert (lows[moved] >= env.spec.rest_clearance - 1e-9).all()


def test_start_states_need_a_robot_that_can_pitch():
    with pytest.raises(InvalidConfig, match="Reacher-v5 does not have"):
        StartPlacer(make(env_id="Reacher-v5"), StartStates(), 0)
