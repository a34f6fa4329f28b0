"""Motions that are found by planning."""

import numpy as np

from p2p.contracts.start_states import PlannedMotions
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.reward.inputs import FeatureReader
from p2p.worker.rollout.planner import Planner

JUMP = PlannedMotions(goal=("clearance >= 0.15",), seconds=1.5)


def planner(planned, env_id="Hopper-v5", threads=1, seed=1):
    return Planner(TrainConfig(env_id=env_id), catalog.load(env_id), planned, seed, threads)


def features_of(motion, env_id):
    """Features after each state of a motion but the last, in the simulator itself."""
    env = VecEnv(TrainConfig(env_id=env_id), catalog.load(env_id), len(motion.states))
    ids = range(env.n)
    env.reset(ids, [0] * env.n)
    for i, state in zip(ids, motion.states, strict=True):
        env.begin([i], env.simulation.place(i, np.array(state.qpos), np.array(state.qvel)))
    env.step(np.zeros((env.n, env.simulation.action_low.size), np.float32))
    return FeatureReader(env.simulation).read(env.take_block())


def test_a_hopper_that_is_to_leave_the_floor_is_found_jumping():
    motion = planner(JUMP).motion(7)
    assert motion.reached
    assert motion.nearest == 1.0
    clearance = features_of(motion, "Hopper-v5")["clearance"]
    assert clearance[0] < 0.05
    assert clearance.max() >= 0.14


def test_states_are_spread_over_a_motion():
    motion = planner(JUMP).motion(7)
    spread = motion.spread(8)
    assert len(spread) == 8
    assert (spread[0], spread[-1]) == (motion.states[1], motion.states[-1])


def test_equal_seeds_find_equal_motions_on_any_number_of_threads():
    one, same, other = planner(JUMP).motion(7), planner(JUMP, threads=2).motion(7), planner(JUMP, seed=2).motion(7)
    assert one == same
    assert one != other
