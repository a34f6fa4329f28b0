import re

import gymnasium
import mujoco
import numpy as np
import pytest

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.envs import catalog
from p2p.worker.description.describe import describe

ALL = catalog.known()
AXES = {"x": 0, "y": 1, "z": 2}


@pytest.fixture(params=ALL)
def stepped(request):
    """A live environment some random steps after its reset, with its last observation."""
    env = gymnasium.make(request.param, disable_env_checker=True)
    env.reset(seed=3)
    env.action_space.seed(3)
    for _ in range(8):
        observation, *_ = env.step(env.action_space.sample())
    yield catalog.load(request.param), env.unwrapped, observation
    env.close()


@pytest.mark.parametrize("env_id", ALL)
def test_packaged_facts_equal_the_live_environment(env_id):
    live, packaged = describe(env_id), catalog.load(env_id)
    assert live.model_copy(update={"info": packaged.info}) == packaged
    assert [key.name for key in live.info] == [key.name for key in packaged.info]
    values = [[end for key in spec.info for end in (key.low, key.high)] for spec in (live, packaged)]
    assert values[0] == pytest.approx(values[1], rel=0.02, abs=1e-6)


def test_every_observation_entry_is_what_its_name_says(stepped):
    spec, env, observation = stepped
    named = np.array([_value(env, entry) for entry in spec.observation])
    np.testing.assert_allclose(observation, named, rtol=1e-9, atol=1e-12)


def test_every_action_entry_drives_the_joint_it_names(stepped):
    spec, env, _ = stepped
    for actuator in spec.action:
        env.data.ctrl[:] = 0.0
        env.data.ctrl[actuator.index] = 0.5 * actuator.high
        mujoco.mj_forward(env.model, env.data)
        force = env.data.qfrc_actuator.copy()
        dof = env.model.joint(actuator.joint).dofadr[0]
        assert force[dof] == pytest.approx(0.5 * actuator.high * actuator.gear)
        assert np.count_nonzero(force) == 1
        assert (env.action_space.low[actuator.index], env.action_space.high[actuator.index]) == pytest.approx(
            (actuator.low, actuator.high)
        )


def test_info_has_exactly_the_keys_a_step_gives(stepped):
    spec, env, _ = stepped
    *_, info = env.step(env.action_space.sample())
    assert {key.name for key in spec.info} == set(info)


def test_masses_and_positions_are_those_of_the_model(stepped):
    spec, env, _ = stepped
    assert spec.total_mass == pytest.approx(env.model.body_mass.sum(), abs=1e-6)
    for joint in spec.joints:
        live = env.model.joint(joint.name)
        assert (joint.qpos_index, joint.qvel_index) == (live.qposadr[0], live.dofadr[0])


@pytest.mark.parametrize(
    ("env_id", "words", "index", "inside", "outside"),
    [
        ("Hopper-v5", "height falls to 0.7 m", 1, 0.71, 0.69),
        ("Hopper-v5", "pitch leaves [-0.2, 0.2] rad", 2, -0.19, -0.21),
        ("Hopper-v5", "position or velocity leaves [-100, 100]", 4, 99.0, 101.0),
        ("Walker2d-v5", "height leaves [0.8, 2] m", 1, 1.99, 2.01),
        ("Walker2d-v5", "pitch leaves [-1, 1] rad", 2, 0.99, 1.01),
        ("Ant-v5", "height leaves [0.2, 1] m", 2, 0.21, 0.19),
        ("Humanoid-v5", "height leaves [1, 2] m", 2, 1.01, 0.99),
    ],
)
def test_an_episode_ends_where_the_description_says(env_id, words, index, inside, outside):
    assert words in catalog.load(env_id).termination
    env = gymnasium.make(env_id, disable_env_checker=True).unwrapped
    for value, healthy in ((inside, True), (outside, False)):
        qpos = env.init_qpos.copy()
        qpos[index] = value
        env.data.qpos[:], env.data.qvel[:] = qpos, 0.0
        assert bool(env.is_healthy) is healthy
    env.close()


@pytest.mark.parametrize(
    ("env_id", "words", "qpos"),
    [
        ("InvertedPendulum-v5", "leans by more than 0.2 rad", [0.0, 0.25]),
        ("InvertedDoublePendulum-v5", "at 1 m or lower", [0.0, 0.7, 0.0]),
    ],
)
def test_a_pendulum_ends_where_the_description_says(env_id, words, qpos):
    assert words in catalog.load(env_id).termination
    env = gymnasium.make(env_id, disable_env_checker=True)
    env.reset(seed=0)
    assert not env.step(np.zeros(1))[2]
    env.unwrapped.set_state(np.array(qpos), np.zeros(len(qpos)))
    assert env.step(np.zeros(1))[2]
    env.close()


def test_what_never_ends_goes_on_whatever_happens():
    endless = [env_id for env_id in ALL if catalog.load(env_id).termination == "never"]
    assert len(endless) == 5
    for env_id in endless:
        env = gymnasium.make(env_id, disable_env_checker=True)
        env.reset(seed=0)
        assert not any(env.step(env.action_space.high)[2] for _ in range(49))
        env.close()


def test_termination_can_be_disabled_where_the_description_says_so():
    for env_id in ALL:
        make = {"disable_env_checker": True, "terminate_when_unhealthy": False}
        if catalog.load(env_id).can_disable_termination:
            gymnasium.make(env_id, **make).close()
        else:
            with pytest.raises(TypeError):
                gymnasium.make(env_id, **make)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_any_other_mujoco_environment_is_described_on_the_fly():
    spec = describe("Ant-v4")
    assert spec.obs_dim == 27
    assert spec.observation[0].name == "root.z"
    assert spec.morphology.torso == "torso"
    assert spec.morphology.feet == catalog.load("Ant-v5").morphology.feet
    assert spec.morphology.trunk == catalog.load("Ant-v5").morphology.trunk
    assert spec.feature_names == catalog.load("Ant-v5").feature_names


@pytest.mark.parametrize("env_id", ["Ant-v99", "NoSuch-v0", "not an id", "no_such_module:Env-v0"])
def test_an_id_gymnasium_does_not_know_is_refused(env_id):
    with pytest.raises(UnknownName, match="Known: Ant-v5"):
        describe(env_id)


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Blackjack-v1", "FrozenLake-v1"])
def test_an_environment_without_mujoco_is_refused(env_id):
    with pytest.raises(InvalidInput, match=r"not a MuJoCo environment"):
        describe(env_id)


def _value(env, entry):
    """The value an observation entry announces, read from MjData by its name, quantity and unit only."""
    value = _unclipped(env.model, env.data, entry)
    if limits := re.search(r"clipped to \[(\S+), (\S+)\]", entry.quantity):
        return np.clip(value, float(limits[1]), float(limits[2]))
    return value


def _unclipped(model, data, entry):
    if match := re.fullmatch(r"(sin|cos)\((\w+)\)", entry.name):
        return getattr(np, match[1])(data.joint(match[2]).qpos[0])
    if match := re.fullmatch(r"\((\w+) - (\w+)\)\.([xyz])", entry.name):
        return (data.body(match[1]).xpos - data.body(match[2]).xpos)[AXES[match[3]]]
    if match := re.fullmatch(r"(cinert|cvel|cfrc_ext)\[(\w+)\]\.(\w+)", entry.name):
        return _body_value(model, data, *match.groups())
    if match := re.fullmatch(r"(qfrc_actuator|qfrc_constraint)\[(\w+)\]", entry.name):
        return getattr(data, match[1])[model.joint(match[2]).dofadr[0]]
    if match := re.fullmatch(r"root\.([qvw]?)([wxyz])", entry.name):
        return _free_joint(model, data, entry, *match.groups())
    if match := re.fullmatch(r"(\w+)\.([xyz])", entry.name):
        return data.body(match[1]).xpos[AXES[match[2]]]
    joint = data.joint(entry.name)
    return (joint.qvel if entry.unit in ("m/s", "rad/s") else joint.qpos)[0]


def _free_joint(model, data, entry, kind, part):
    """The free joint's coordinates from the body's pose and MuJoCo's own object velocity."""
    fresh = mujoco.MjData(model)
    fresh.qpos[:], fresh.qvel[:] = data.qpos, data.qvel
    mujoco.mj_forward(model, fresh)
    body = model.body("torso").id
    if kind == "":
        return fresh.xpos[body][AXES[part]]
    if kind == "q":
        quaternion = data.qpos[3:7]
        return quaternion["wxyz".index(part)]
    velocity = np.zeros(6)
    in_body_frame = {"body": 1, "world": 0}[entry.frame]
    mujoco.mj_objectVelocity(model, fresh, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, in_body_frame)
    return velocity[AXES[part] + (3 if kind == "v" else 0)]


def _body_value(model, data, array, body, part):
    index = next(i for i in range(model.nbody) if body in (model.body(i).name, f"body{i}"))
    names = {
        "cinert": ("xx", "yy", "zz", "xy", "xz", "yz", "mx", "my", "mz", "m"),
        "cvel": ("wx", "wy", "wz", "vx", "vy", "vz"),
        "cfrc_ext": ("tx", "ty", "tz", "fx", "fy", "fz"),
    }
    value = getattr(data, array)[index][names[array].index(part)]
    if part == "m":
        assert value == pytest.approx(model.body_mass[index])
    return value
