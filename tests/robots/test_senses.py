"""What a robot of one's own senses: equal to MuJoCo's sensors, to a plain replay, and after a saved state."""

import mujoco
import numpy as np
import pytest
from robot_files import PONY

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidConfig
from p2p.contracts.reward import RewardDraft
from p2p.contracts.senses import Senses
from p2p.contracts.session import NewSession
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.service.rewards.writing import check_reward
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.store.policy import NumpyPolicy
from p2p.worker.description.describe import describe_robot
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.export.standalone import play
from p2p.worker.reward_source.loader import LoadedReward
from p2p.worker.rollout.episodes import run_episodes
from p2p.worker.rollout.mirror import find_mirror
from p2p.worker.rollout.policy_inputs import PolicyInputs
from p2p.worker.rollout.robot_senses import RobotSenses
from p2p.worker.rollout.training_env import TrainingEnv

N = 4
CONFIG = TrainConfig(episode_s=0.6, observation="robot_and_velocity")
SENSORS = """<sensor><gyro site="imu"/><velocimeter site="imu"/>
<framezaxis objtype="xbody" objname="world" reftype="site" refname="imu"/></sensor>"""


@pytest.fixture(scope="module")
def pony() -> EnvSpec:
    return describe_robot("pony", PONY)


def actions(spec: EnvSpec, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (N, spec.action_dim)).astype(np.float32)


def test_it_reads_what_mujocos_own_sensors_read(pony: EnvSpec) -> None:
    assert pony.robot is not None
    trunk = '<body name="trunk"'
    xml = pony.robot.xml.replace("</mujoco>", SENSORS + "</mujoco>")
    at = xml.index(">", xml.index(trunk)) + 1
    model = mujoco.MjModel.from_xml_string(xml[:at] + '<site name="imu"/>' + xml[at:])
    data = mujoco.MjData(model)
    env = VecEnv(CONFIG, pony, N)
    inputs = PolicyInputs(CONFIG, env)
    env.reset(range(N), range(N))
    inputs.begin(range(N))
    names = [one.name for one in Senses.of(pony, "robot_and_velocity").inputs]  # type: ignore[union-attr]
    for t in range(20):
        step = env.step(actions(pony, t))
        inputs.follow(step)
        for i in range(N):
            data.qpos[:], data.qvel[:] = step.after.qpos[i], step.after.qvel[i]
            mujoco.mj_forward(model, data)
            read = dict(zip(names, inputs.now[i], strict=True))
            found = [read[f"{name}_{axis}"] for name in ("angular_velocity", "velocity", "gravity") for axis in "xyz"]
            assert found == pytest.approx([*data.sensordata[:6], *-data.sensordata[6:]], abs=1e-9)
            assert read["position.fl_hip"] == pytest.approx(data.joint("fl_hip").qpos[0] - pony.robot.stance[7])
            assert read["velocity.rr_knee"] == data.joint("rr_knee").qvel[0]
            assert read["last_action.fr_knee"] == actions(pony, t)[i, 3]


def test_only_the_velocity_of_the_base_is_marked_as_not_measurable(pony: EnvSpec) -> None:
    with_velocity, without = (Senses.of(pony, kind) for kind in ("robot_and_velocity", "robot"))
    assert with_velocity is not None
    assert without is not None
    assert [one.name for one in with_velocity.inputs if not one.on_robot] == [f"velocity_{axis}" for axis in "xyz"]
    assert all(one.on_robot for one in without.inputs)
    assert len(without.inputs) == 3 + 3 + 3 * pony.action_dim


def test_a_training_that_goes_on_from_a_saved_state_senses_the_same(pony: EnvSpec) -> None:
    def made() -> TrainingEnv:
        env = VecEnv(CONFIG, pony, N)
        return TrainingEnv(env, PolicyInputs(CONFIG, env), 0)

    env, other = made(), made()
    for t in range(17):
        env.step(actions(pony, t))
    env.take_block()
    other.restore({name: array.copy() for name, array in env.state().items()})
    for t in range(17, 60):
        for one in (env, other):
            one.step(actions(pony, t))
        assert np.array_equal(env.observations, other.observations)
        assert np.array_equal(env.reached, other.reached)


def test_the_replay_script_shows_a_policy_the_same(pony: EnvSpec) -> None:
    senses = Senses.of(pony, "robot_and_velocity")
    assert senses is not None
    assert pony.robot is not None
    rng = np.random.default_rng(0)
    policy = NumpyPolicy(
        weights=(rng.normal(0.0, 0.5, (len(senses.inputs), pony.action_dim)).astype(np.float32),),
        biases=(np.zeros(pony.action_dim, np.float32),),
        activation="tanh",
        mean=np.zeros(len(senses.inputs)),
        variance=np.ones(len(senses.inputs)),
        clip=10.0,
        low=-np.ones(pony.action_dim, np.float32),
        high=np.ones(pony.action_dim, np.float32),
    )
    (rollout,) = run_episodes(TrainConfig(episode_s=2.0, observation="robot_and_velocity"), pony, policy, [5])
    shown = []

    def act(observations: np.ndarray) -> np.ndarray:
        shown.append(observations[0].astype(np.float32))
        return policy.act(observations)

    episode = {
        "robot": pony.robot.model_dump(mode="json"),
        "frame_skip": pony.frame_skip,
        "env_kwargs": {},
        "seed": 5,
        "steps": rollout.length,
        "senses": senses.model_dump(mode="json"),
    }
    assert play(episode, act) == pytest.approx(rollout.episode_return, rel=1e-12)
    assert np.array_equal(shown, rollout.arrays["seen"])


def test_a_robot_of_gymnasiums_with_a_free_base_has_senses() -> None:
    ant = catalog.load("Ant-v5")
    simulation = VecEnv(TrainConfig(env_id="Ant-v5"), ant, 1).simulation
    simulation.reset([0], [0])
    senses = Senses.of(ant, "robot_and_velocity")
    assert senses is not None
    robot = RobotSenses(senses, 1)

    def seen(yaw: float) -> np.ndarray:
        qpos = np.r_[0.0, 0.0, 0.75, np.cos(yaw / 2.0), 0.0, 0.0, np.sin(yaw / 2.0), np.linspace(-0.5, 0.5, 8)]
        return robot.read(simulation.place(0, qpos, np.r_[np.cos(yaw), np.sin(yaw), np.zeros(12)]))[0]

    assert seen(0.0)[:9] == pytest.approx([0, 0, -1, 0, 0, 0, 1, 0, 0])
    assert seen(1.2) == pytest.approx(seen(0.0))  # it does not see where it faces


def test_a_robot_whose_base_moves_along_axes_has_no_senses() -> None:
    config = TrainConfig(env_id="Hopper-v5", observation="robot")
    with pytest.raises(InvalidConfig, match="Hopper-v5 is a robot whose base does not move freely: expected one that"):
        PolicyInputs(config, VecEnv(config, catalog.load("Hopper-v5"), 1))


def test_a_session_of_such_a_robot_is_refused_before_it_trains(ws: Workspace) -> None:
    asked = NewSession(prompt="walk forward", env_id="Hopper-v5", config={"observation": "robot"})
    with pytest.raises(InvalidConfig, match="Hopper-v5 is a robot whose base does not move freely"):
        create_session(ws, asked)
    reward = RewardDraft(source="", config_changes={"observation": "robot"})
    with pytest.raises(InvalidConfig, match="Hopper-v5 is a robot whose base does not move freely"):
        check_reward(ws, ws.runs.path / "check", NewSession(env_id="Hopper-v5"), reward, None)


def test_what_it_senses_has_a_mirror_image(pony: EnvSpec) -> None:
    reward = LoadedReward("def reward_fn(o, a, n, info):\n    v = info['forward_velocity']\n    return v, {'v': v}\n")
    seen = find_mirror(TrainConfig(observation="robot", mirror=True), pony, reward).observations
    senses = Senses.of(pony, "robot")
    assert senses is not None
    names = [one.name for one in senses.inputs]
    image = {name: (names[j], sign) for name, j, sign in zip(names, seen.index, seen.sign, strict=True)}
    assert image["gravity_y"] == ("gravity_y", -1.0)
    assert image["angular_velocity_y"] == ("angular_velocity_y", 1.0)
    assert image["position.fl_hip"] == ("position.fr_hip", 1.0)
    assert image["last_action.rr_knee"] == ("last_action.rl_knee", 1.0)
