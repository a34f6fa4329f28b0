import gymnasium
import mujoco
import numpy as np
import pytest

from p2p.contracts.env import Morphology
from p2p.envs import catalog
from p2p.rewards.states import States
from p2p.worker.engine.morphology import base_of, floor_geom, guess_morphology, inner_dofs
from p2p.worker.features.kinematics import Floor, GeomHeights, Kinematics

FIELDS = tuple(States.__dataclass_fields__)
SHAPES = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" pos="0 0 -.2"/>
    <body name="torso" pos="0 0 1">
      <freejoint/>
      <geom type="sphere" size=".2" pos=".1 0 0"/>
      <geom type="capsule" size=".1 .3" pos="0 .3 0" euler="20 50 0"/>
      <geom type="cylinder" size=".2 .1" pos="0 -.3 0" euler="0 35 10"/>
      <geom type="ellipsoid" size=".1 .2 .3" pos="-.3 0 .1"/>
      <geom type="box" size=".1 .2 .3" pos="-.1 .2 .3" euler="40 20 10"/>
    </body>
  </worldbody>
</mujoco>
"""


def make(env_id):
    env = gymnasium.make(env_id, disable_env_checker=True)
    env.reset(seed=0)
    return env


def tumbled(model, n, seed=0):
    """Random poses around the height of the floor, upside down ones included."""
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(model)
    qpos = np.tile(data.qpos, (n, 1)) + rng.uniform(-0.5, 0.5, (n, model.nq))
    height = next(i for i in range(model.njnt) if model.jnt_type[i] == 0 or model.jnt_axis[i, 2] == 1.0)
    adr = model.jnt_qposadr[height] + (2 if model.jnt_type[height] == 0 else 0)
    qpos[:, adr] += rng.uniform(-0.9, 0.4, n)
    if model.jnt_type[height] == 0:
        quaternions = rng.standard_normal((n, 4))
        qpos[:, 3:7] = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    else:
        qpos[:, 2] = rng.uniform(-np.pi, np.pi, n)
    return qpos, rng.standard_normal((n, model.nv))


@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Hopper-v5", "Walker2d-v5", "Ant-v5", "Humanoid-v5"])
def test_contacts_are_those_mujoco_finds(env_id):
    env, spec = make(env_id), catalog.load(env_id)
    model = env.unwrapped.model
    qpos, qvel = tumbled(model, 60)
    states = Kinematics(model, spec).read(qpos, qvel)
    data, floor = mujoco.MjData(model), model.geom("floor").id
    for row in range(len(qpos)):
        data.qpos[:] = qpos[row]
        mujoco.mj_forward(model, data)
        pairs = [contact.geom for contact in data.contact if contact.exclude == 0]
        down = {model.geom(int(sum(pair) - floor)).name for pair in pairs if floor in pair}
        assert states.touching[row] == bool(down)
        assert states.feet[row].tolist() == [foot in down for foot in spec.morphology.feet]
        assert states.trunk[row] == bool(down & set(spec.morphology.trunk))
    assert 0.0 < states.touching.mean() < 1.0
    env.close()


def test_the_lowest_point_of_every_shape_is_where_mujoco_measures_it():
    model = mujoco.MjModel.from_xml_string(SHAPES)
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    shapes = GeomHeights(model, 1)
    for _ in range(50):
        data.qpos[3:7] = rng.standard_normal(4)
        mujoco.mj_forward(model, data)
        found = shapes.lowest(data.geom_xpos[None, :, 2], data.geom_xmat[None, :, 6:])[0]
        apart = [mujoco.mj_geomDistance(model, data, 0, int(geom), 10.0, None) for geom in shapes.geoms]
        assert found + 0.2 == pytest.approx(apart, abs=1e-4)


def test_a_shape_that_cannot_collide_touches_nothing_and_is_not_the_lowest():
    ghost = SHAPES.replace('type="sphere"', 'type="sphere" contype="0" conaffinity="0"')
    model = mujoco.MjModel.from_xml_string(ghost)
    heights = np.full((1, 5), 3.0)
    heights[0, 0] = -1.0
    low, feet, _, touching, trunk = Floor(model, 1, ("geom1",), ("geom1", "geom2")).read(heights)
    assert low[0] == pytest.approx(3.2)  # of the four others
    assert [feet[0, 0], touching[0], trunk[0]] == [0.0, 0.0, 0.0]


def test_the_floor_may_lie_at_any_height():
    model = mujoco.MjModel.from_xml_string(SHAPES)
    low, _, height, touching, _ = Floor(model, 1, ("geom1",), ()).read(np.full((1, 5), -0.2 - 1e-6))
    assert height[0, 0] == pytest.approx(-1e-6)
    assert low[0] == pytest.approx(-1e-6)
    assert touching[0] == 1.0


@pytest.mark.parametrize("env_id", catalog.known())
def test_many_states_at_once_read_as_one_by_one(env_id):
    env, spec = make(env_id), catalog.load(env_id)
    model, rng = env.unwrapped.model, np.random.default_rng(0)
    qpos = env.unwrapped.data.qpos + rng.uniform(-0.3, 0.3, (9, model.nq))
    qvel = rng.standard_normal((9, model.nv))
    together, reader = Kinematics(model, spec).read(qpos, qvel), Kinematics(model, spec)
    for row in range(9):
        alone = reader.read(qpos[row : row + 1], qvel[row : row + 1])
        for field in FIELDS:
            assert getattr(alone, field)[0].tolist() == getattr(together, field)[row].tolist()
    env.close()


def test_what_was_read_stays_when_more_is_read():
    env, spec = make("Ant-v5"), catalog.load("Ant-v5")
    reader = Kinematics(env.unwrapped.model, spec)
    qpos, qvel = tumbled(env.unwrapped.model, 4)
    first = reader.read(qpos, qvel)
    kept = {field: getattr(first, field).copy() for field in FIELDS}
    reader.read(qpos[::-1], qvel[::-1])
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(first, field), kept[field])
    env.close()


def test_reading_leaves_the_simulation_alone():
    env = make("HalfCheetah-v5")
    data = env.unwrapped.data
    before = data.qpos.copy(), data.xpos.copy()
    Kinematics(env.unwrapped.model, catalog.load("HalfCheetah-v5")).read(data.qpos[None] + 1.0, data.qvel[None])
    assert data.qpos.tolist() == before[0].tolist()
    assert data.xpos.tolist() == before[1].tolist()
    env.close()


@pytest.mark.parametrize(
    ("env_id", "joints"), [("Humanoid-v5", 17), ("Ant-v5", 8), ("Swimmer-v5", 2), ("Pusher-v5", 7)]
)
def test_joint_speed_reads_the_joints_inside_the_robot(env_id, joints):
    env, spec = make(env_id), catalog.load(env_id)
    model = env.unwrapped.model
    dofs = inner_dofs(model, model.body(spec.morphology.torso).id)
    assert len(dofs) == joints
    qvel = np.zeros((1, model.nv))
    qvel[0, dofs[0]] = -3.0
    states = Kinematics(model, spec).read(env.unwrapped.data.qpos[None], qvel)
    assert states.joint_speed[0] == pytest.approx(3.0 / joints)
    env.close()


def test_poles_are_measured_from_upright_whatever_their_number():
    env, spec = make("InvertedDoublePendulum-v5"), catalog.load("InvertedDoublePendulum-v5")
    model, data = env.unwrapped.model, mujoco.MjData(env.unwrapped.model)
    qpos = np.array([[0.1, 0.0, 0.0], [0.2, 0.3, -0.5], [0.0, np.pi, 0.0]])
    states = Kinematics(model, spec).read(qpos, np.zeros((3, 3)))
    assert states.pole_angle == pytest.approx([0.0, 0.3 + 0.2, 2 * np.pi])
    for row, tip in zip(qpos, states.pole_height, strict=True):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        assert tip == pytest.approx(data.site("tip").xpos[2])
    env.close()


def test_the_target_is_as_far_as_reacher_says():
    env, spec = make("Reacher-v5"), catalog.load("Reacher-v5")
    qpos = env.unwrapped.data.qpos[None]
    distance = Kinematics(env.unwrapped.model, spec).read(qpos, np.zeros((1, 4))).target_distance[0]
    assert distance == pytest.approx(np.linalg.norm(env.unwrapped._get_obs()[8:10]))
    env.close()


def test_an_unknown_robot_is_guessed_from_its_tree():
    model = mujoco.MjModel.from_xml_string(SHAPES)
    guess = guess_morphology(model)
    assert guess == Morphology(torso="torso", feet=tuple(f"geom{i}" for i in range(1, 6)), trunk=guess.feet)
    assert base_of(model, 1) == "free"
    assert floor_geom(model, 1) == 0
