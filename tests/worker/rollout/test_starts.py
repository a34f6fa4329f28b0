"""Training episodes that begin in given states."""

import numpy as np
import pytest
from pydantic import ValidationError

from p2p.contracts.curriculum import StartCurriculum
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.observe import Observe
from p2p.contracts.start_states import StartState, StartStates
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.reward.inputs import FeatureReader
from p2p.worker.rollout.policy_inputs import PolicyInputs
from p2p.worker.rollout.starts import ORDINARY, StartPlacer
from p2p.worker.rollout.training_env import TrainingEnv

SWIMMER = catalog.load("Swimmer-v5")
N = 64
KNOWN = [StartState(qpos=tuple(0.1 * n + np.arange(5)), qvel=tuple(-0.1 * n - np.arange(5))) for n in range(4)]


def starts(share, env_id="Swimmer-v5", states=KNOWN, seed=3):
    env = VecEnv(TrainConfig(env_id=env_id), catalog.load(env_id), N)
    placer = StartPlacer(env, StartStates(share=share, states=tuple(states)), seed)
    return env.begin(range(N), placer.apply(range(N), env.simulation.reset(range(N), range(N))))


def test_a_share_of_the_resets_begins_in_each_of_the_states_and_the_rest_as_ever():
    frame, plain = starts(0.5), starts(1e-9)
    found = [next((n for n, state in enumerate(KNOWN) if np.array_equal(row, state.qpos)), None) for row in frame.qpos]
    assert set(found) == {None, 0, 1, 2, 3}
    assert 20 <= sum(one is not None for one in found) <= 44
    for row, which in enumerate(found):
        expected = plain.qvel[row] if which is None else KNOWN[which].qvel
        assert np.array_equal(frame.qvel[row], expected)
        if which is None:
            assert np.array_equal(frame.qpos[row], plain.qpos[row])
        else:  # the simulator is there too, not only the record of it
            assert np.allclose(frame.observations[row], [*KNOWN[which].qpos[2:], *KNOWN[which].qvel])


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Ant-v5"])
def test_turns_are_counted_on_from_where_an_episode_begins(env_id):
    observe = Observe(features=("pitch_turns",))
    config = TrainConfig(env_id=env_id, observe=observe, start_states=StartStates(pitch=(0.0, 2.0 * np.pi)))
    spec = catalog.load(env_id)
    env = VecEnv(config, spec, N)
    placer = StartPlacer(env, config.start_states, seed=3)
    training = TrainingEnv(env, PolicyInputs(config, env), 1, placer)
    begun = placer.begun_turns.copy()
    moved = placer.origins != ORDINARY
    assert 0.0 == begun[~moved].max() < begun[moved].min()
    assert begun.max() > 0.9
    assert np.array_equal(training.observations[:, -1], begun)
    training.step(np.zeros((N, spec.action_dim), np.float32))
    counted = FeatureReader(env.simulation).read(training.take_block())["pitch_turns"]
    assert counted == pytest.approx(begun, abs=0.05)
    assert np.array_equal(training.reached[:, -1], counted)


def test_states_tell_what_was_turned_before_them():
    turned = [state.model_copy(update={"pitch_turns": 0.2 * n}) for n, state in enumerate(KNOWN)]
    env = VecEnv(TrainConfig(env_id="Swimmer-v5"), SWIMMER, N)
    placer = StartPlacer(env, StartStates(share=0.5, states=tuple(turned)), 3)
    placer.apply(range(N), env.simulation.reset(range(N), range(N)))
    assert np.array_equal(placer.begun_turns, np.where(placer.origins == ORDINARY, 0.0, 0.2 * placer.origins))
    assert set(placer.origins) == {ORDINARY, 0, 1, 2, 3}


def test_given_states_may_have_noise_which_leaves_the_root_in_its_place():
    env = VecEnv(TrainConfig(env_id="Ant-v5"), catalog.load("Ant-v5"), N)
    plain = env.simulation.reset(range(N), range(N))
    state = StartState(qpos=tuple(plain.qpos[0]), qvel=tuple(plain.qvel[0]))
    frame = StartPlacer(env, StartStates(share=1.0, states=(state,), noise=0.1), 3).apply(range(N), plain)
    positions, velocities = frame.qpos - plain.qpos[0], frame.qvel - plain.qvel[0]
    assert not positions[:, :7].any()
    assert 0.09 < np.abs(positions[:, 7:]).max() <= 0.1
    assert 0.27 < np.abs(velocities).max() <= 0.3
    assert (positions[:, 7:].std(axis=0) > 0.04).all()
    assert (velocities.std(axis=0) > 0.12).all()


def test_moving_back_draws_by_success_in_each_of_several_motions():
    env = VecEnv(TrainConfig(env_id="Swimmer-v5"), SWIMMER, N)
    back = StartCurriculum(goal=("time >= 1",), reverse=True, success=0.8, episodes=4)
    placer = StartPlacer(env, StartStates(share=1.0, states=tuple(KNOWN), motions=2), 3, back)
    placer.apply(range(N), env.simulation.reset(range(N), range(N)))
    assert set(placer.origins) == {0, 1, 2, 3}  # the last state of each is beside the first
    for _ in range(20):
        placer.backward.count(1, True)
    chances = placer.backward.chances()
    assert chances[0, 1] < 0.8 * chances[0, 0]
    assert chances[1, 1] == chances[1, 0]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"states": KNOWN, "motions": 3}, "4 states of 3 motions; expected as many of each"),
        ({"raised": (0.0, 0.1), "noise": 0.1}, "noise is added to states"),
        ({"raised": (0.0, 0.1), "motions": 2}, "see planned.motions"),
    ],
)
def test_what_would_be_ignored_is_refused(fields, words):
    with pytest.raises(ValidationError, match=words):
        StartStates(**fields)


def test_a_robot_without_a_pitch_can_begin_in_states():
    with pytest.raises(InvalidConfig, match="does not have"):
        StartPlacer(VecEnv(TrainConfig(env_id="Swimmer-v5"), SWIMMER, 1), StartStates(raised=(0.0, 0.1)), 0)
    assert starts(1.0).qpos[:, 0].max() < 1.0


def test_states_of_another_robot_or_with_ranges_or_without_numbers_are_refused():
    with pytest.raises(InvalidConfig, match="has 5 positions and 5 velocities; Hopper-v5 has 6"):
        starts(0.5, env_id="Hopper-v5")
    with pytest.raises(ValidationError, match="states and ranges; give one of them"):
        StartStates(states=tuple(KNOWN), pitch=(0.0, 1.0))
    with pytest.raises(ValidationError, match="finite"):
        StartState(qpos=(float("nan"),), qvel=(0.0,))
