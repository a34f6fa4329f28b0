from dataclasses import fields

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.mujoco.hopper_v5 import HopperEnv

from p2p.contracts.errors import InvalidConfig
from p2p.envs import catalog
from p2p.worker.engine.batch_simulation import disagreement
from p2p.worker.engine.environment import make_environment
from p2p.worker.engine.frame import SIDE_INFO, Frame
from p2p.worker.engine.gym_simulation import GymSimulation
from p2p.worker.engine.simulation import make_simulation
from p2p.worker.engine.tasks.planar import HalfCheetah
from p2p.worker.engine.tasks.registry import TASKS

IDS = [
    "Ant-v5",
    "HalfCheetah-v5",
    "Hopper-v5",
    "Humanoid-v5",
    "HumanoidStandup-v5",
    "InvertedDoublePendulum-v5",
    "InvertedPendulum-v5",
    "Pusher-v5",
    "Reacher-v5",
    "Swimmer-v5",
    "Walker2d-v5",
]
ENDING = {
    "Ant-v5",
    "Hopper-v5",
    "Humanoid-v5",
    "InvertedDoublePendulum-v5",
    "InvertedPendulum-v5",
    "Walker2d-v5",
}
VARIANTS = [
    ("Ant-v5", {"include_cfrc_ext_in_observation": False, "contact_cost_weight": 0.1, "main_body": 3}),
    ("Ant-v5", {"contact_force_range": (-0.2, 0.3), "main_body": "front_left_leg", "healthy_reward": 2}),
    ("Ant-v5", {"exclude_current_positions_from_observation": False, "healthy_z_range": (0.7, 0.8)}),
    ("HalfCheetah-v5", {"exclude_current_positions_from_observation": False, "ctrl_cost_weight": 1, "frame_skip": 5}),
    ("HalfCheetah-v5", {"forward_reward_weight": 0.3, "reset_noise_scale": 0.0}),
    ("Hopper-v5", {"healthy_state_range": (-1.0, 1.0), "healthy_z_range": (1.2, 1.3), "ctrl_cost_weight": 0.5}),
    ("Hopper-v5", {"exclude_current_positions_from_observation": False, "healthy_angle_range": (-0.01, 0.02)}),
    ("Humanoid-v5", {"include_cinert_in_observation": False, "include_cfrc_ext_in_observation": False}),
    ("Humanoid-v5", {"include_cvel_in_observation": False, "include_qfrc_actuator_in_observation": False}),
    ("Humanoid-v5", {"contact_cost_weight": 0.01, "contact_cost_range": (0.5, 3.0), "healthy_z_range": (1.3, 1.42)}),
    ("HumanoidStandup-v5", {"impact_cost_weight": 0.01, "impact_cost_range": (0.5, 3.0), "uph_cost_weight": 2.0}),
    ("HumanoidStandup-v5", {"exclude_current_positions_from_observation": False, "reset_noise_scale": 0.3}),
    ("InvertedDoublePendulum-v5", {"healthy_reward": 3.0, "reset_noise_scale": 0.4}),
    ("InvertedPendulum-v5", {"reset_noise_scale": 0.15}),
    ("Pusher-v5", {"reward_near_weight": 3, "reward_dist_weight": 0.2, "reward_control_weight": 2.0}),
    ("Reacher-v5", {"reward_dist_weight": 0.3, "reward_control_weight": 4}),
    ("Swimmer-v5", {"exclude_current_positions_from_observation": False, "reset_noise_scale": 0.7}),
    ("Walker2d-v5", {"healthy_z_range": (1.2, 1.3), "healthy_angle_range": (-0.1, 0.1), "healthy_reward": 0.25}),
    ("Walker2d-v5", {"exclude_current_positions_from_observation": False, "reset_noise_scale": 0.2}),
]


class GymnasiumEnvs:
    """n Gymnasium environments, with the arrays a frame should hold."""

    def __init__(self, env_id, n, terminate=True, **kwargs):
        if env_id in ENDING and not env_id.startswith("Inverted"):
            kwargs["terminate_when_unhealthy"] = terminate
        self.envs = [gymnasium.make(env_id, **kwargs).unwrapped for _ in range(n)]

    def reset(self, ids, seeds):
        return np.array([self.envs[i].reset(seed=seed)[0] for i, seed in zip(ids, seeds, strict=True)])

    def step(self, actions):
        self.results = [env.step(action) for env, action in zip(self.envs, actions, strict=True)]
        return np.array([result[0] for result in self.results])

    @property
    def rewards(self):
        return np.array([result[1] for result in self.results])

    @property
    def terminated(self):
        return np.array([result[2] for result in self.results])

    def data(self, name):
        return np.array([getattr(env.data, name) for env in self.envs])

    def info(self, name):
        return np.array([result[4][name] for result in self.results])


def simulate(env_id, n=3, terminate=True, threads=1, **kwargs):
    return make_simulation(catalog.load(env_id), n, kwargs, terminate, threads)


def general(env_id, n=3):
    spec = catalog.load(env_id)
    return GymSimulation(spec, lambda: make_environment(spec, None, True), n)


def actions_for(simulation, steps, seed=0):
    rng = np.random.default_rng(seed)
    low, high = simulation.action_low, simulation.action_high
    drawn = rng.uniform(low, high, (steps, simulation.n, len(low))).astype(np.float32)
    return drawn * np.linspace(0.2, 1.3, steps, dtype=np.float32)[:, None, None]


def merged(frame, rows, fresh):
    """The frame with some of its rows replaced."""

    def put(old, new):
        out = old.copy()
        out[rows] = new
        return out

    probes = {name: put(frame.probes[name], fresh.probes[name]) for name in frame.probes}
    names = [field.name for field in fields(Frame) if field.name != "probes"]
    return Frame(**{name: put(getattr(frame, name), getattr(fresh, name)) for name in names}, probes=probes)


def joined(frames):
    probes = {name: np.concatenate([frame.probes[name] for frame in frames]) for name in frames[0].probes}
    names = [field.name for field in fields(Frame) if field.name != "probes"]
    return Frame(**{name: np.concatenate([getattr(f, name) for f in frames]) for name in names}, probes=probes)


def same(found, expected):
    np.testing.assert_array_equal(found, expected, strict=False)


def same_step(simulation, envs, before, after, actions, observations):
    same(after.observations, observations)
    same(after.qpos, envs.data("qpos"))
    same(after.qvel, envs.data("qvel"))
    same(after.terminated, envs.terminated)
    outcome = simulation.outcome(before, after, actions)
    np.testing.assert_allclose(outcome.rewards, envs.rewards, rtol=1e-6, atol=1e-6)
    assert list(outcome.info) == list(envs.results[0][4])
    for name, column in outcome.info.items():
        same(column, envs.info(name))


def follow(simulations, envs, steps, limit):
    """Step all side by side, reset what ended or ran `limit` steps, compare everything; returns the episodes ended."""
    n = simulations[0].n
    observations = envs.reset(range(n), range(10, 10 + n))
    frames = [simulation.reset(range(n), range(10, 10 + n)) for simulation in simulations]
    ends, ages = 0, np.zeros(n, dtype=int)
    for actions in actions_for(simulations[0], steps):
        for frame in frames:
            same(frame.observations, observations)
        observations, ages = envs.step(actions), ages + 1
        for k, simulation in enumerate(simulations):
            after = simulation.step(actions)
            same_step(simulation, envs, frames[k], after, actions, observations)
            frames[k] = after
        rows = np.flatnonzero(envs.terminated | (ages == limit))[::-1]
        if len(rows):
            observations[rows] = envs.reset(rows, [None] * len(rows))
            frames = [
                merged(frame, rows, simulation.reset(rows, [None] * len(rows)))
                for frame, simulation in zip(frames, simulations, strict=True)
            ]
            ends, ages[rows] = ends + len(rows), 0
    return ends


@pytest.mark.parametrize(
    "env_id", [pytest.param(one, marks=[pytest.mark.nightly] * (one == "HumanoidStandup-v5")) for one in IDS]
)
def test_a_batch_is_gymnasium_to_the_bit_with_any_number_of_threads(env_id):
    simulations = [simulate(env_id, threads=threads) for threads in (1, 2)]
    assert [simulation.engine for simulation in simulations] == ["batch", "batch"]
    assert follow(simulations, GymnasiumEnvs(env_id, 3), steps=600, limit=80) >= 20


@pytest.mark.parametrize(("env_id", "kwargs"), VARIANTS)
def test_arguments_of_the_environment_change_the_batch_as_they_change_gymnasium(env_id, kwargs):
    simulation = simulate(env_id, n=2, **kwargs)
    assert simulation.engine == "batch"
    assert follow([simulation], GymnasiumEnvs(env_id, 2, **kwargs), steps=50, limit=30) >= 2


@pytest.mark.parametrize("env_id", sorted(ENDING))
def test_an_environment_told_not_to_end_goes_on_as_in_gymnasium(env_id):
    simulation, envs = simulate(env_id, terminate=False), GymnasiumEnvs(env_id, 3, terminate=False)
    envs.reset(range(3), range(3))
    before = simulation.reset(range(3), range(3))
    for actions in actions_for(simulation, 100, seed=1):
        observations, after = envs.step(actions), simulation.step(actions)
        same_step(simulation, envs, before, after, actions, observations)
        before = after


@pytest.mark.parametrize("env_id", ["Ant-v5", "Hopper-v5", "Humanoid-v5", "Reacher-v5"])
def test_the_general_path_shows_and_pays_the_same_as_the_batch(env_id):
    both = [simulate(env_id), general(env_id)]
    assert both[1].engine.startswith("gymnasium")
    assert follow(both, GymnasiumEnvs(env_id, 3), steps=60, limit=20) >= 9
    for name, array in both[0].side_info_all().items():
        same(array, both[1].side_info_all()[name])


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Ant-v5", "Humanoid-v5"])
def test_contact_forces_are_those_of_the_last_step_and_zero_after_a_reset(env_id):
    simulation, envs = simulate(env_id), GymnasiumEnvs(env_id, 3)
    envs.reset(range(3), range(3))
    simulation.reset(range(3), range(3))
    for k, actions in enumerate(actions_for(simulation, 40)):
        simulation.step(actions)
        envs.step(actions)
        if k % 13 == 12:
            envs.reset([1], [None])
            simulation.reset([1], [None])
            assert not simulation.contact_forces()[1].any()
        if k % 3:
            same(simulation.contact_forces(), envs.data("cfrc_ext"))
    assert simulation.contact_forces()[0].any()


@pytest.mark.parametrize("env_id", IDS)
def test_a_placed_environment_goes_on_as_gymnasium_after_set_state(env_id):
    simulation, envs = simulate(env_id), GymnasiumEnvs(env_id, 3)
    envs.reset(range(3), range(3))
    simulation.reset(range(3), range(3))
    for actions in actions_for(simulation, 10):
        frame = simulation.step(actions)
        envs.step(actions)
    qpos, qvel = frame.qpos[2] + 0.01, frame.qvel[0] * 0.5
    envs.envs[1].set_state(qpos, qvel)
    placed = simulation.place(1, qpos, qvel)
    same(placed.observations, [envs.envs[1]._get_obs()])
    same(placed.qpos, [qpos])
    same(placed.qvel, [qvel])
    assert not placed.terminated.any()
    same(simulation.contact_forces(), envs.data("cfrc_ext"))
    before = merged(frame, [1], placed)
    for actions in actions_for(simulation, 10, seed=3):
        after = simulation.step(actions)
        same_step(simulation, envs, before, after, actions, envs.step(actions))
        before = after


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Ant-v5", "Humanoid-v5"])
def test_the_outcome_of_a_block_is_that_of_its_steps(env_id):
    simulation = simulate(env_id, n=4, terminate=False)
    frames = [simulation.reset(range(4), range(4))]
    actions = actions_for(simulation, 50)
    for chosen in actions:
        frames.append(simulation.step(chosen))
    single = [simulation.outcome(frames[t], frames[t + 1], actions[t]) for t in range(50)]
    block = simulation.outcome(joined(frames[:-1]), joined(frames[1:]), actions.reshape(200, -1))
    same(block.rewards, np.concatenate([outcome.rewards for outcome in single]))
    for name, column in block.info.items():
        same(column, np.concatenate([outcome.info[name] for outcome in single]))


@pytest.mark.parametrize("build", [simulate, general])
@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Ant-v5"])
def test_side_info_and_frames_are_copies(env_id, build):
    simulation = build(env_id)
    envs = GymnasiumEnvs(env_id, 3)
    envs.reset(range(3), range(3))
    simulation.reset(range(3), range(3))
    first, second = actions_for(simulation, 2)
    frame = simulation.step(first)
    envs.step(first)
    info, everyone = simulation.side_info(1), simulation.side_info_all()
    assert tuple(info) == tuple(everyone) == SIDE_INFO
    for name in SIDE_INFO:
        same(info[name], envs.data(name)[1])
        same(everyone[name], envs.data(name))
    kept = [*info.values(), *everyone.values(), frame.observations, frame.qpos, frame.qvel, *frame.probes.values()]
    values = [array.copy() for array in kept]
    simulation.step(second)
    for array, value in zip(kept, values, strict=True):
        same(array, value)
        array[...] = 7.0
    envs.step(second)
    envs.step(first)
    same(simulation.step(first).qpos, envs.data("qpos"))


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Ant-v5", "Humanoid-v5"])
def test_an_unstable_state_and_a_senseless_action_do_what_they_do_in_gymnasium(env_id, capfd):
    simulation, envs = simulate(env_id), GymnasiumEnvs(env_id, 3)
    envs.reset(range(3), range(3))
    before = simulation.reset(range(3), range(3))
    qvel = np.full(simulation.model.nv, 1e9)
    envs.envs[0].set_state(before.qpos[0], qvel)
    before = merged(before, [0], simulation.place(0, before.qpos[0], qvel))
    for k, actions in enumerate(actions_for(simulation, 6)):
        if k == 3:
            actions[1] = np.nan
        after, observations = simulation.step(actions), envs.step(actions)
        same_step(simulation, envs, before, after, actions, observations)
        before = after
    assert "unstable" in capfd.readouterr().err


def test_an_environment_nobody_described_is_simulated_by_gymnasium():
    class Halved(HopperEnv):
        def step(self, action):
            observation, reward, terminated, truncated, info = super().step(action)
            return observation, reward / 2, terminated, truncated, {**info, "words": "skipped"}

    gymnasium.register("Halved-v0", entry_point=Halved)
    spec = catalog.load("Hopper-v5").model_copy(update={"env_id": "Halved-v0"})
    halved, whole = make_simulation(spec, 2), simulate("Hopper-v5", n=2, terminate=False)
    assert halved.engine == "gymnasium: Halved has no vectorised description"
    before = halved.reset([0, 1], [0, 1])
    same(before.observations, whole.reset([0, 1], [0, 1]).observations)
    actions = actions_for(whole, 1)[0]
    after = halved.step(actions)
    expected = whole.outcome(before, whole.step(actions), actions)
    outcome = halved.outcome(before, after, actions)
    same(outcome.rewards, expected.rewards / 2)
    assert outcome.info.keys() == expected.info.keys()


def test_a_description_that_does_not_fit_the_environment_is_noticed():
    spec = catalog.load("Swimmer-v5")
    env = make_environment(spec)
    assert disagreement(spec, env, HalfCheetah(env)) == "its first observation differs"


def test_every_environment_of_the_registry_is_compared():
    of_model_files = "p2p.worker.engine.robot_environment:RobotEnv"  # in tests/robots
    assert len(TASKS.keys() - {of_model_files}) == len(IDS)


def test_the_first_reset_without_a_seed_differs_from_run_to_run():
    frames = [simulate("Hopper-v5", n=2).reset([0, 1], [None, None]) for _ in range(2)]
    assert not np.array_equal(frames[0].qpos, frames[1].qpos)
    assert not np.array_equal(frames[0].qpos[0], frames[0].qpos[1])


def test_actions_of_another_shape_are_refused():
    simulation = simulate("HalfCheetah-v5", n=2)
    simulation.reset([0, 1], [0, 1])
    with pytest.raises(ValueError, match=r"Expected actions of shape \(2, 6\), got \(6,\)"):
        simulation.step(np.zeros(6))


@pytest.mark.parametrize("kwargs", [{"speed": 3}, {"frame_skip": 3}])
def test_arguments_the_environment_does_not_take_or_that_change_its_time_are_refused(kwargs):
    with pytest.raises(InvalidConfig, match="env_kwargs"):
        simulate("HalfCheetah-v5", **kwargs)


def test_a_closed_simulation_frees_its_batch_once():
    simulation = simulate("Hopper-v5")
    frame = simulation.reset(range(3), range(3))
    simulation.close()
    simulation.close()
    assert np.isfinite(frame.observations).all()
