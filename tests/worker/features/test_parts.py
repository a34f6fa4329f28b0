"""Features of parts, against what MuJoCo's own functions say of the same states, one by one."""

import mujoco
import numpy as np
import pytest

from p2p.contracts.env import COM, PartKind, parts_of
from p2p.contracts.training import TrainConfig
from p2p.envs.catalog import load
from p2p.rewards.part_features import PartFeature, part_feature_units
from p2p.worker.engine.morphology import index_of
from p2p.worker.engine.vec_env import Block, VecEnv
from p2p.worker.features.parts import PartFeatures, PartReader
from p2p.worker.reward.inputs import RewardInputs
from p2p.worker.saved_state import part

ENVIRONMENTS = ("Ant-v5", "HalfCheetah-v5", "Humanoid-v5", "HumanoidStandup-v5", "Walker2d-v5", "Swimmer-v5")
STEPS, N = 24, 3


def acted(env_id: str, seed: int = 0) -> tuple[VecEnv, Block]:
    env = VecEnv(TrainConfig(env_id=env_id), load(env_id), N)
    env.reset(range(N), range(seed, seed + N))
    rng = np.random.default_rng(seed)
    low, high = env.simulation.action_low, env.simulation.action_high
    for t in range(STEPS):
        env.step(rng.uniform(low, high, (N, len(low))).astype(np.float32))
        if t == 13:
            env.reset([1], [77])
    return env, env.take_block()


def all_features(env_id: str) -> tuple[PartFeature, ...]:
    names = (name.partition(":") for name in part_feature_units(load(env_id)))
    return tuple(PartFeature(quantity, of) for quantity, _, of in names)


def forwarded(env: VecEnv, block: Block, row: int) -> mujoco.MjData:
    data = mujoco.MjData(env.simulation.model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = block.after.qpos[row], block.after.qvel[row], block.actions[row]
    mujoco.mj_forward(env.simulation.model, data)
    return data


@pytest.fixture(scope="module", params=ENVIRONMENTS)
def measured(request):
    env, block = acted(request.param)
    asked = all_features(request.param)
    found = PartFeatures(env.simulation.model, env.spec, N, asked).read(block)
    assert set(found) == {feature.name for feature in asked}
    assert all(values.shape == (STEPS * N,) and np.isfinite(values).all() for values in found.values())
    yield env, block, found
    env.close()


ROWS = range(0, STEPS * N, 7)


def test_places_and_velocities_are_those_of_mj_object_velocity(measured):
    env, block, found = measured
    model = env.simulation.model
    for row in ROWS:
        data = forwarded(env, block, row)
        for kind, names in (("body", [b.name for b in env.spec.bodies]), ("geom", _geoms(env.spec))):
            for name in names:
                index = index_of(model, kind, name)
                velocity = np.zeros(6)
                which = mujoco.mjtObj.mjOBJ_XBODY if kind == "body" else mujoco.mjtObj.mjOBJ_GEOM
                mujoco.mj_objectVelocity(model, data, which, index, velocity, 0)
                place = (data.xpos if kind == "body" else data.geom_xpos)[index]
                expected = dict(zip(("position_x", "position_y", "height"), place, strict=True))
                expected |= dict(zip(("velocity_x", "velocity_y", "velocity_z"), velocity[3:], strict=True))
                expected["speed"] = np.hypot(*velocity[3:5])
                for quantity, value in expected.items():
                    assert found[f"{quantity}:{name}"][row] == pytest.approx(value, abs=1e-9), (quantity, name)


def _geoms(spec):
    bodies = {body.name for body in spec.bodies}
    return [geom.name for geom in spec.geoms if geom.name not in bodies and geom.kind != "plane"]


def test_the_centre_of_mass_is_the_mean_of_the_bodies_by_mass(measured):
    env, block, found = measured
    model = env.simulation.model
    for row in ROWS:
        data = forwarded(env, block, row)
        place = (model.body_mass[:, None] * data.xipos).sum(axis=0) / model.body_mass.sum()
        velocities = np.zeros((model.nbody, 6))
        for body in range(model.nbody):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, velocities[body], 0)
        velocity = (model.body_mass[:, None] * velocities[:, 3:]).sum(axis=0) / model.body_mass.sum()
        assert [found[f"{q}:{COM}"][row] for q in ("position_x", "position_y", "height")] == pytest.approx(place)
        expected = pytest.approx(velocity, abs=1e-9)
        assert [found[f"velocity_{axis}:{COM}"][row] for axis in "xyz"] == expected


def test_contact_forces_are_those_of_mj_contact_force(measured):
    env, block, found = measured
    model = env.simulation.model
    seen = 0
    for row in ROWS:
        data = forwarded(env, block, row)
        forces = np.zeros((model.nbody, 3))
        for number in range(data.ncon):
            contact, force = data.contact[number], np.zeros(6)
            mujoco.mj_contactForce(model, data, number, force)
            world = contact.frame.reshape(3, 3).T @ force[:3]
            forces[model.geom_bodyid[contact.geom1]] -= world
            forces[model.geom_bodyid[contact.geom2]] += world
            seen += 1
        for body in env.spec.bodies:
            expected = np.linalg.norm(forces[index_of(model, "body", body.name)])
            assert found[f"contact_force:{body.name}"][row] == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert seen or env.spec.env_id in ("Swimmer-v5", "Hopper-v5")


def test_joints_and_power_are_read_from_the_state_and_the_motors(measured):
    env, block, found = measured
    model = env.simulation.model
    for row in ROWS:
        data = forwarded(env, block, row)
        for joint in (j for j in env.spec.joints if j.kind in ("hinge", "slide")):
            own = data.joint(joint.name)
            assert found[f"joint_angle:{joint.name}"][row] == own.qpos[0]
            assert found[f"joint_velocity:{joint.name}"][row] == own.qvel[0]
            dof = model.joint(joint.name).dofadr[0]
            motors = sum(
                model.actuator_gear[i, 0] * np.clip(block.actions[row, i], *model.actuator_ctrlrange[i])
                for i in range(model.nu)
                if model.actuator_trnid[i, 0] == model.joint(joint.name).id
            )
            assert found[f"joint_torque:{joint.name}"][row] == pytest.approx(motors, abs=1e-9)
            assert data.qfrc_actuator[dof] == pytest.approx(motors, abs=1e-9)
        assert found["power"][row] == pytest.approx(np.abs(data.qfrc_actuator * data.qvel).sum())


def test_the_torso_is_measured_as_before_where_both_measure_it(measured):
    env, block, found = measured
    torso = env.spec.morphology.torso
    plain = RewardInputs(env.simulation).read(block)
    for name in ("roll", "pitch", "yaw", "up", "height", "position_x"):
        if name in env.spec.feature_names:
            assert found[f"{name}:{torso}"] == pytest.approx(plain[name], abs=1e-12), name


def test_feet_touch_as_before_and_slip_where_mujoco_finds_contacts(measured):
    env, block, found = measured
    spec, model = env.spec, env.simulation.model
    if not spec.morphology.feet:
        pytest.skip("it has no feet")
    plain = RewardInputs(env.simulation).read(block)
    for foot in spec.morphology.feet:
        assert np.array_equal(found[f"contact:{foot}"], plain[f"contact_{foot}"])
        assert (found[f"slip:{foot}"][plain[f"contact_{foot}"] == 0.0] == 0.0).all()
    lowest = np.min([found[f"clearance:{body.name}"] for body in spec.bodies if f"clearance:{body.name}" in found], 0)
    assert lowest == pytest.approx(plain["clearance"], abs=1e-12)
    compared = 0
    for row in range(STEPS * N):
        data = forwarded(env, block, row)
        for foot in spec.morphology.feet:
            geom = model.geom(foot).id if foot not in {b.name for b in spec.bodies} else None
            body = int(model.geom_bodyid[geom]) if geom is not None else model.body(foot).id
            mine = [data.contact[k] for k in range(data.ncon) if _is(model, data.contact[k], body)]
            if len(mine) != 1 or not found[f"slip:{foot}"][row]:
                continue
            jacobian = np.zeros((3, model.nv))
            mujoco.mj_jac(model, data, jacobian, None, mine[0].pos, body)
            velocity = jacobian @ data.qvel
            # the contact is midway between the surfaces, the feature reads the lowest point: off by the penetration
            near = abs(mine[0].dist) * np.abs(data.cvel[body, :3]).sum() + 1e-6
            assert found[f"slip:{foot}"][row] == pytest.approx(np.hypot(*velocity[:2]), abs=near)
            compared += 1
    if spec.env_id in ("Ant-v5", "HalfCheetah-v5", "Walker2d-v5"):
        assert compared


def _is(model, contact, body):
    return body in (model.geom_bodyid[contact.geom1], model.geom_bodyid[contact.geom2])


def test_impact_is_the_mean_outer_force_over_the_sub_steps():
    spec = load("HalfCheetah-v5")
    env = VecEnv(TrainConfig(env_id="HalfCheetah-v5"), spec, 1)
    env.reset([0], [0])
    model, expected = env.simulation.model, []
    data = mujoco.MjData(model)
    for _ in range(60):
        before = env.now
        step = env.step(np.zeros((1, 6), dtype=np.float32))
        data.qpos[:], data.qvel[:] = before.qpos[0], before.qvel[0]
        forces = []
        for _ in range(spec.frame_skip):
            mujoco.mj_step1(model, data)
            mujoco.mj_step2(model, data)
            mujoco.mj_rnePostConstraint(model, data)
            forces.append(data.cfrc_ext[:, [3, 5]].sum(axis=0))
        assert data.qpos == pytest.approx(step.after.qpos[0], abs=1e-4)
        expected.append(np.linalg.norm(np.mean(forces, axis=0)) / (9.81 * spec.total_mass))
    found = PartFeatures(model, spec, 1, (PartFeature("impact", ""),)).read(env.take_block())["impact"]
    assert max(expected) > 1.0
    assert found == pytest.approx(expected, rel=0.25, abs=0.25)
    assert np.mean(found) == pytest.approx(np.mean(expected), rel=0.05)
    env.close()


@pytest.mark.parametrize("env_id", ["Ant-v5", "Walker2d-v5"])
def test_sums_follow_from_their_definitions(env_id):
    env, block = acted(env_id)
    spec, foot = env.spec, env.spec.morphology.feet[0]
    found = PartFeatures(env.simulation.model, spec, N, all_features(env_id)).read(block)
    none = np.zeros((STEPS * N, spec.action_dim))
    asked = tuple(PartFeature(q, foot) for q in ("contact", "position_x", "position_y"))
    begun = PartReader(env.simulation.model, spec, asked).read(block.before.qpos, block.before.qvel, none)
    for i in range(N):
        energy = landings = stance = steps = 0.0
        lift, length = None, 0.0
        for t in range(STEPS):
            row = t * N + i
            if block.starts[t, i]:
                energy = landings = stance = steps = length = 0.0
                lift = (begun[f"position_x:{foot}"][row], begun[f"position_y:{foot}"][row])
            steps += 1
            energy += found["power"][row] * spec.dt
            was, now = begun[f"contact:{foot}"][row] > 0, found[f"contact:{foot}"][row] > 0
            if was:
                lift = (begun[f"position_x:{foot}"][row], begun[f"position_y:{foot}"][row])
            if now and not was:
                landings += 1
                place = (found[f"position_x:{foot}"][row], found[f"position_y:{foot}"][row])
                length = np.hypot(place[0] - lift[0], place[1] - lift[1])
            stance += now
            assert found["energy"][row] == pytest.approx(energy)
            assert found[f"touchdowns:{foot}"][row] == landings
            assert found[f"stance_share:{foot}"][row] == pytest.approx(stance / steps)
            assert found[f"step_length:{foot}"][row] == pytest.approx(length)
    env.close()


@pytest.mark.parametrize(("env_id", "foot", "joints"), [
    ("Ant-v5", "third_ankle_geom", ("hip_3", "ankle_3")),
    ("Humanoid-v5", "left_foot", ("left_hip_x", "left_hip_z", "left_hip_y", "left_knee")),
    ("Walker2d-v5", "foot_left_geom", ("thigh_left_joint", "leg_left_joint", "foot_left_joint")),
])  # fmt: skip
def test_a_legs_swing_is_the_weighted_deviation_of_its_most_used_joint(env_id, foot, joints):
    env, block = acted(env_id)
    names = [("joint_angle", joint) for joint in joints] + [("joint_swing", joint) for joint in joints]
    asked = tuple(PartFeature(*name) for name in (*names, ("leg_swing", foot)))
    found = PartFeatures(env.simulation.model, env.spec, N, asked).read(block)
    for joint in joints:
        index = next(one.qpos_index for one in env.spec.joints if one.name == joint)
        path = np.concatenate([block.before.qpos[:1, index], found[f"joint_angle:{joint}"][::N]])
        weights = np.exp(-env.spec.dt / 0.5 * np.arange(len(path))[::-1])
        weights[1:] *= 1.0 - np.exp(-env.spec.dt / 0.5)  # the first angle stands for all before it
        deviation = np.sqrt(np.sum(weights * (path - np.sum(weights * path)) ** 2))
        assert found[f"joint_swing:{joint}"][(STEPS - 1) * N] == pytest.approx(deviation)
    largest = np.max([found[f"joint_swing:{joint}"] for joint in joints], axis=0)
    assert np.array_equal(found[f"leg_swing:{foot}"], largest)
    assert largest.min() >= 0.0 < largest.max()
    env.close()


@pytest.mark.parametrize("env_id", ["Ant-v5", "HalfCheetah-v5", "Pusher-v5"])
def test_blocks_give_to_the_bit_what_steps_give_and_go_on_from_a_saved_state(env_id):
    env, block = acted(env_id)
    asked = all_features(env_id)
    whole = PartFeatures(env.simulation.model, env.spec, N, asked).read(block)
    single = PartFeatures(env.simulation.model, env.spec, N, asked)
    rows = {name: [] for name in whole}
    for t in range(STEPS):
        if t == 9:
            state = {f"parts.{name}": array.copy() for name, array in single.state().items()}
            single = PartFeatures(env.simulation.model, env.spec, N, asked)
            single.restore(part(state, "parts"))
        for name, values in single.read(_cut(block, t)).items():
            rows[name].append(values)
    for name, values in whole.items():
        assert np.array_equal(np.concatenate(rows[name]), values), name
    env.close()


def _cut(block: Block, t: int) -> Block:
    index = np.arange(t * N, (t + 1) * N)
    frames = {}
    for which in ("before", "after"):
        frame = getattr(block, which)
        frames[which] = type(frame)(
            frame.observations[index],
            frame.qpos[index],
            frame.qvel[index],
            frame.terminated[index],
            {name: probe[index] for name, probe in frame.probes.items()},
        )
    flags = {name: getattr(block, name)[t : t + 1] for name in ("starts", "terminated", "truncated")}
    return Block(**frames, actions=block.actions[index], **flags, side={})


def test_only_what_is_named_is_computed(monkeypatch):
    env, block = acted("Walker2d-v5")
    read = []
    monkeypatch.setattr(PartReader, "read", lambda *_: read.append(1))
    columns = RewardInputs(env.simulation, frozenset({"velocity_x"})).read(block)
    assert set(columns) == {"velocity_x"}
    assert not any(":" in name for name in RewardInputs(env.simulation).read(block))
    assert not read
    env.close()


def test_a_reward_reads_parts_and_expressions_beside_the_rest():
    env, block = acted("Walker2d-v5")
    wanted = frozenset({"height:foot_geom", "velocity_x", "height - height:foot_geom", "no_such_thing"})
    columns = RewardInputs(env.simulation, wanted).read(block)
    everything = RewardInputs(env.simulation, None, wanted).read(block)
    assert set(columns) >= wanted - {"no_such_thing"}
    assert "height" not in columns
    expected = everything["height"] - everything["height:foot_geom"]
    assert np.array_equal(columns["height - height:foot_geom"], expected)
    env.close()


@pytest.mark.parametrize("kind", list(PartKind))
def test_every_kind_of_quantity_exists_somewhere(kind):
    assert parts_of(load("Ant-v5"), kind)


def test_bounce_and_sliding_are_what_their_definitions_say_of_a_whole_episode():
    env, block = acted("Ant-v5", seed=5)
    model, spec = env.simulation.model, env.spec
    feet, torso = spec.morphology.feet, spec.morphology.torso
    asked = tuple(
        PartFeature(quantity, of)
        for quantity, of in (
            ("bounce", ""),
            ("foot_sliding", ""),
            ("height", torso),
            ("speed", torso),
            *((quantity, foot) for foot in feet for quantity in ("contact", "slip")),
        )
    )
    found = PartFeatures(model, spec, N, asked).read(block)
    column = slice(0, None, N)  # the first environment, which is not reset
    one = {name: values[column] for name, values in found.items()}
    start = PartReader(model, spec, (PartFeature("height", torso),)).read(
        block.before.qpos[:1], block.before.qvel[:1], np.zeros((1, model.nu))
    )[f"height:{torso}"]
    heights = np.concatenate([start, one[f"height:{torso}"]])
    decay = np.exp(-spec.dt / 0.5)
    for t in range(1, STEPS + 1):
        ages = np.arange(t, -1, -1)
        weights = np.where(ages < t, 1.0 - decay, 1.0) * decay**ages
        mean = weights @ heights[: t + 1]
        variance = weights @ (heights[: t + 1] - mean) ** 2
        assert one["bounce"][t - 1] == pytest.approx(2.0 * np.sqrt(2.0 * variance), abs=1e-12)
        weights = decay ** np.arange(t - 1, -1, -1)
        slip = sum(weights @ one[f"slip:{foot}"][:t] for foot in feet)
        down = sum(weights @ one[f"contact:{foot}"][:t] for foot in feet)
        speed = weights @ one[f"speed:{torso}"][:t] / weights.sum()
        expected = slip / down / max(speed, 0.1) if down else 0.0
        assert one["foot_sliding"][t - 1] == pytest.approx(expected, abs=1e-9)
    assert one["foot_sliding"].max() > 0.1, "no foot was down"
    env.close()
