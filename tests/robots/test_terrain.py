"""Uneven ground: as MuJoCo has it, measured above it, the same on both simulations, reproducible, and refused."""

import shutil
from itertools import product
from pathlib import Path

import mujoco
import numpy as np
import pytest
from going_on import policies_of_both
from pydantic import ValidationError
from robot_files import PONY

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.contracts.env import COM, EnvSpec
from p2p.contracts.errors import InvalidConfig, UnknownPhrase
from p2p.contracts.reward import RewardDraft
from p2p.contracts.session import NewSession
from p2p.contracts.terrain import Terrain
from p2p.contracts.training import TrainConfig
from p2p.envs import catalog
from p2p.rewards.part_features import PartFeature
from p2p.service.rewards.criteria import intent_of, understand
from p2p.service.sessions.lifecycle import create_session, preview
from p2p.service.training.plan import base_config, parse_config, terrain_of
from p2p.service.wording import reward_constraints
from p2p.service.workspace import Workspace
from p2p.store.iterations import IterationRecord
from p2p.store.policy import NumpyPolicy
from p2p.worker.description.describe import describe_robot
from p2p.worker.engine.environment import compiled_model, make_environment
from p2p.worker.engine.forward_kinematics import ForwardKinematics
from p2p.worker.engine.gym_simulation import GymSimulation
from p2p.worker.engine.height_field import HeightField, height_field
from p2p.worker.engine.morphology import floor_geom
from p2p.worker.engine.simulation import make_simulation
from p2p.worker.engine.terrain import lay_terrain
from p2p.worker.engine.vec_env import VecEnv
from p2p.worker.export.standalone import play
from p2p.worker.features.kinematics import GeomHeights, Kinematics
from p2p.worker.features.parts import PartReader
from p2p.worker.render.camera import follow
from p2p.worker.render.find_renderer import RAYCAST
from p2p.worker.render.frames import render_frames
from p2p.worker.rollout.episodes import run_episodes
from p2p.worker.rollout.ground_scan import AHEAD, ASIDE
from p2p.worker.rollout.policy_inputs import PolicyInputs
from p2p.worker.training.run import Run

ROUGH = Terrain(kind="rough", height=0.06, cell=0.1, size=16, seed=3)
STEPS = Terrain(kind="steps", height=0.08, depth=0.3, count=3, size=16, seed=3)
BOTH = pytest.mark.parametrize("terrain", [ROUGH, STEPS], ids=lambda terrain: terrain.kind)


@pytest.fixture(scope="module")
def pony() -> EnvSpec:
    return describe_robot("pony", PONY)


def ground_of(model: mujoco.MjModel) -> HeightField:
    ground = height_field(model)
    assert ground is not None
    return ground


def near_the_ground(spec: EnvSpec, model: mujoco.MjModel, n: int) -> np.ndarray:
    """Positions of robots all over the field, tilted, bent and with their lowest point 3 cm about the ground."""
    assert spec.robot is not None
    rng = np.random.default_rng(0)
    qpos = np.tile(np.array(spec.robot.stance), (n, 1))
    qpos[:, :2] = rng.uniform(-7.0, 7.0, (n, 2))
    qpos[:, 3:7] += 0.2 * rng.normal(size=(n, 4))
    qpos[:, 3:7] /= np.linalg.norm(qpos[:, 3:7], axis=1)[:, None]
    qpos[:, 7:] += 0.3 * rng.normal(size=qpos[:, 7:].shape)
    low = Kinematics(model, spec).read(qpos, np.zeros((n, model.nv))).low
    qpos[:, 2] -= low - rng.uniform(-0.03, 0.03, n)
    return qpos


@BOTH
def test_the_ground_is_where_mujocos_rays_meet_it(terrain: Terrain, pony: EnvSpec) -> None:
    model = compiled_model(pony, terrain=terrain)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    ground = ground_of(model)
    x, y = np.random.default_rng(0).uniform(-7.9, 7.9, (2, 1000))
    found, slope_x, slope_y = ground.surface(x, y)
    static = np.array([0.0, 0.0, -1.0])
    groups = np.ones(6, np.uint8)
    geom = np.zeros(1, np.int32)
    robot = pony.morphology.torso
    rays = [
        mujoco.mj_ray(model, data, np.array([*place, 2.0]), static, groups, 1, model.body(robot).id, geom)
        for place in zip(x, y, strict=True)
    ]
    on_ground = np.abs(x) + np.abs(y) > 1.0  # the model's robot stands in the middle
    assert np.abs(2.0 - np.array(rays) - found)[on_ground].max() < 1e-12
    assert np.ptp(found) > 0.08
    small = 1e-7
    assert np.median(np.abs(ground.height(x + small, y) - found - small * slope_x)) < 1e-12
    assert np.median(np.abs(ground.height(x, y + small) - found - small * slope_y)) < 1e-12


@BOTH
def test_episodes_begin_on_flat_ground_at_places_of_their_seeds(terrain: Terrain, pony: EnvSpec) -> None:
    env = make_simulation(pony, 8, terrain=terrain)
    places = env.reset(range(8), range(8)).qpos[:, :2]
    again = env.reset(range(8), range(8)).qpos[:, :2]
    assert np.array_equal(places, again)
    assert len(np.unique(places.round(1), axis=0)) > 3
    angles = np.linspace(0.0, 2.0 * np.pi, 60)
    laid = lay_terrain(pony, terrain)
    starts = np.concatenate([laid.training_starts, laid.judged_starts])
    trained = make_simulation(pony, 8, terrain=terrain, training=True).reset(range(8), range(8)).qpos[:, :2]
    for found, wanted in ((trained, laid.training_starts), (places, laid.judged_starts)):
        assert np.abs(found[:, None] - wanted[None]).max(axis=2).min(axis=1).max() < 0.03
    assert len(np.unique(starts, axis=0)) == len(starts)
    assert np.abs(starts).max() <= terrain.size / 2 - terrain.flat_m
    for share in (0.5, 1.0):
        around = starts[:, None] + share * terrain.flat_m * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        assert np.abs(ground_of(env.model).height(around[..., 0], around[..., 1])).max() < 1e-6


@BOTH
def test_both_simulations_are_the_same_to_the_bit(terrain: Terrain, pony: EnvSpec) -> None:
    batch = make_simulation(pony, 4, terminate_when_unhealthy=True, terrain=terrain)
    plain = GymSimulation(pony, lambda: make_environment(pony, None, True, terrain), 4)
    assert batch.engine == "batch"
    rng = np.random.default_rng(0)
    frames = [simulation.reset(range(4), range(4)) for simulation in (batch, plain)]
    states = near_the_ground(pony, batch.model, 4)
    for i in range(4):
        states[i, 2] += 0.15 * i  # the last one too high to be healthy
        frames = [simulation.place(i, states[i], np.zeros(pony.nv)) for simulation in (batch, plain)]
        assert np.array_equal(frames[0].observations, frames[1].observations)
    ended = False
    for _ in range(60):
        actions = rng.uniform(-1, 1, (4, pony.action_dim)).astype(np.float32)
        before, frames = frames, [simulation.step(actions) for simulation in (batch, plain)]
        for name in ("observations", "qpos", "qvel", "terminated"):
            assert np.array_equal(getattr(frames[0], name), getattr(frames[1], name)), name
        if before[0].qpos.shape == frames[0].qpos.shape:
            paid = [batch.outcome(before[0], frames[0], actions), plain.outcome(before[1], frames[1], actions)]
            assert np.array_equal(paid[0].rewards, paid[1].rewards)
        ended = ended or bool(frames[0].terminated.any())
    assert ended


@BOTH
def test_features_of_a_block_are_those_of_its_rows_to_the_bit(terrain: Terrain, pony: EnvSpec) -> None:
    model = compiled_model(pony, terrain=terrain)
    qpos = near_the_ground(pony, model, 40)
    qvel, none = np.zeros((40, model.nv)), np.zeros((40, pony.action_dim))
    reader = Kinematics(model, pony)
    whole = reader.read(qpos, qvel)
    parts = [PartFeature(name, "fl_foot") for name in ("clearance", "contact", "height")]
    asked = PartReader(model, pony, (*parts, PartFeature("height", COM)))
    columns = asked.read(qpos, qvel, none)
    for i in range(40):
        one = reader.read(qpos[i : i + 1], qvel[i : i + 1])
        for name in ("ground", "low", "top", "feet", "foot_height", "touching", "trunk"):
            assert np.array_equal(getattr(one, name)[0], getattr(whole, name)[i]), name
        single = asked.read(qpos[i : i + 1], qvel[i : i + 1], none[i : i + 1])
        assert all(single[name][0] == values[i] for name, values in columns.items())
    assert np.array_equal(columns["contact:fl_foot"], whole.feet[:, 0])


def test_the_critic_sees_the_ground_ahead_and_the_policy_does_not(pony: EnvSpec) -> None:
    config = TrainConfig(terrain=STEPS, critic_observation="full")
    env = VecEnv(config, pony, 2)
    level = VecEnv(config.model_copy(update={"terrain": None}), pony, 2)
    seen, critic, plain = (PolicyInputs(*args) for args in ((config, env), (config, env, True), (config, level, True)))
    assert critic.privileged == plain.privileged + len(AHEAD) * len(ASIDE)
    env.reset(range(2), range(2))
    assert seen.now.shape == (2, pony.obs_dim)
    states = np.tile(env.now.qpos[0], (2, 1))
    states[:, :2] = STEPS.lower_m - 1.5 * pony.rest_height, 0.0  # the first step is between one and two heights ahead
    states[:, 3:7] = (1.0, 0.0, 0.0, 0.0), (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))  # the second one looks to the left
    for i in range(2):
        env.begin([i], env.simulation.place(i, states[i], np.zeros(pony.nv)))
    ahead, left = critic.now[:, -15:].reshape(2, len(AHEAD), len(ASIDE))
    assert np.allclose(ahead, np.array([0.0, 0.0, 0.0, 1.0, 2.0])[:, None] * STEPS.height, atol=1e-3)
    assert np.allclose(left, 0.0, atol=1e-3)


@BOTH
def test_what_touches_the_ground_is_what_mujoco_finds(terrain: Terrain, pony: EnvSpec) -> None:
    model = compiled_model(pony, terrain=terrain)
    qpos = near_the_ground(pony, model, 800)
    torso = model.body(pony.morphology.torso).id
    floor = floor_geom(model, torso)
    shapes = GeomHeights(model, torso)
    poses = ForwardKinematics(model).read(qpos)
    taken = shapes.above_ground(poses.geom_xpos, poses.geom_xmat) < 0.0
    data = mujoco.MjData(model)
    found = np.zeros_like(taken)
    for row, touches in zip(qpos, found, strict=True):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        pairs = {(int(contact.geom1), int(contact.geom2)) for contact in data.contact}
        touches[:] = [(floor, geom) in pairs or (geom, floor) in pairs for geom in shapes.geoms]
    assert found.sum() > 500
    assert not (taken & ~found).any()
    assert (found & ~taken).sum() <= 0.02 * found.sum()


def test_heights_are_above_the_ground_below(pony: EnvSpec) -> None:
    assert pony.robot is not None
    model = compiled_model(pony, terrain=STEPS)
    level = compiled_model(pony)
    x = STEPS.half_period  # the middle of a platform
    stands = np.array(pony.robot.stance)
    stands[:2] = x, 0.0
    stands[2] += STEPS.count * STEPS.height
    on_top, below = (
        Kinematics(one, pony).read(qpos[None], np.zeros((1, pony.nv)))
        for one, qpos in ((model, stands), (level, np.array(pony.robot.stance)))
    )
    assert on_top.ground[0] == pytest.approx(STEPS.count * STEPS.height, abs=1e-3)
    assert on_top.position[0, 2] - on_top.ground[0] == pytest.approx(below.position[0, 2], abs=1e-3)
    for name in ("low", "top", "foot_height"):
        assert getattr(on_top, name)[0] == pytest.approx(getattr(below, name)[0], abs=1e-3)
    env = make_environment(pony, None, True, STEPS)
    env.reset(seed=0)
    env.set_state(stands, np.zeros(pony.nv))
    observation, reward, terminated, *_ = env.step(np.zeros(pony.action_dim, np.float32))
    assert not terminated
    assert reward == pytest.approx(1.0, abs=0.3)
    assert observation[0] == pytest.approx(pony.rest_height, abs=0.02)


def test_a_terrain_is_the_same_wherever_it_is_made(pony: EnvSpec) -> None:
    assert pony.robot is not None
    lay_terrain.cache_clear()
    first = lay_terrain(pony, ROUGH)
    lay_terrain.cache_clear()
    again = lay_terrain(pony, ROUGH)
    assert first.xml == again.xml
    assert np.array_equal(first.judged_starts, again.judged_starts)
    assert lay_terrain(pony, ROUGH.model_copy(update={"seed": 4})).xml != first.xml
    laid = mujoco.MjModel.from_xml_string(first.xml)
    assert mujoco.MjModel.from_xml_string(mujoco.MjSpec.from_string(first.xml).to_xml()).hfield_data.tolist() == (
        laid.hfield_data.tolist()
    )
    plain = mujoco.MjModel.from_xml_string(pony.robot.xml)
    floor = floor_geom(plain, plain.body(pony.morphology.torso).id)
    assert floor_geom(laid, laid.body(pony.morphology.torso).id) == floor
    for name in ("geom_friction", "geom_contype", "geom_conaffinity", "geom_matid", "body_mass", "actuator_gainprm"):
        assert np.array_equal(getattr(laid, name), getattr(plain, name)), name


def policy(spec: EnvSpec) -> NumpyPolicy:
    weights = np.random.default_rng(0).normal(0.0, 0.3, (spec.obs_dim, spec.action_dim)).astype(np.float32)
    ends = np.ones(spec.action_dim, np.float32)
    zeros = np.zeros(spec.obs_dim)
    return NumpyPolicy((weights,), (0 * ends,), "tanh", zeros, zeros + 1, 10.0, -ends, ends)


@BOTH
def test_an_episode_is_its_seeds_alone_and_is_replayed_without_p2p(terrain: Terrain, pony: EnvSpec) -> None:
    assert pony.robot is not None
    config = TrainConfig(terrain=terrain, episode_s=1.5)
    many = run_episodes(config, pony, policy(pony), [5, 6, 7])
    (one,) = run_episodes(config, pony, policy(pony), [6])
    assert np.array_equal(many[1].arrays["qpos"], one.arrays["qpos"])
    assert not np.array_equal(many[0].arrays["initial_qpos"][:2], one.arrays["initial_qpos"][:2])
    laid = lay_terrain(pony, terrain)
    shown = []

    def act(observations: np.ndarray) -> np.ndarray:
        shown.append(observations[0].astype(np.float32))
        return policy(pony).act(observations)

    episode = {
        "robot": pony.robot.model_copy(update={"xml": laid.xml}).model_dump(mode="json"),
        "starts": laid.judged_starts.tolist(),
        "frame_skip": pony.frame_skip,
        "env_kwargs": {},
        "seed": 6,
        "steps": one.length,
    }
    assert play(episode, act) == pytest.approx(one.episode_return, rel=1e-12)
    assert np.array_equal(shown, one.arrays["obs"])


def test_a_training_goes_on_from_a_saved_state(pony: EnvSpec, tmp_path: Path) -> None:
    record = IterationRecord(tmp_path)
    sizes = {"n_envs": 4, "n_steps": 32, "batch_size": 64, "net_arch": (8, 8), "episode_s": 0.6}
    seen = {"terminate_when_unhealthy": True, "critic_observation": "full"}
    record.save_config(TrainConfig.model_validate({"terrain": STEPS, **sizes, **seen}))
    record.save_env_spec(pony)
    record.save_reward_source(
        "def reward_fn(obs, action, next_obs, info):\n    v = info['height'] + info['speed']\n    return v, {'v': v}\n"
    )
    run = Run.open(record)
    assert run.config.terrain == STEPS
    found = [[*made.weights, *made.value_weights, made.mean] for made in policies_of_both(run)]
    assert all(np.array_equal(a, b) for a, b in zip(*found, strict=True))


def test_a_configuration_with_a_terrain_is_read_as_it_was_written() -> None:
    assert TrainConfig().terrain is None
    config = TrainConfig(terrain=ROUGH)
    assert TrainConfig.model_validate(config.model_dump()) == config
    assert TrainConfig.model_validate_json(config.model_dump_json()) == config


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "lava", "height": 0.1}, "rough"),
        ({"kind": "rough", "height": -0.1}, "greater than 0"),
        ({"kind": "rough", "height": float("nan")}, "finite"),
        ({"kind": "rough", "height": 0.1, "size": float("inf")}, "finite"),
        ({"kind": "rough", "height": 0.1, "cell": 0.01}, "at most 1,000,000"),
        ({"kind": "rough", "height": 0.1, "size": 2, "cell": 0.9}, "cell <= flat <= size / 8"),
        ({"kind": "rough", "height": 0.1, "depth": 0.5}, 'depth are of kind "steps"'),
        ({"kind": "steps", "height": 0.1, "cell": 0.2}, "two cells"),
        ({"kind": "steps", "height": 0.1, "count": 100, "depth": 1.0}, "at most half of the size"),
        ({"kind": "steps", "height": 0.1, "colour": 1}, "colour"),
    ],
)
def test_contradictions_are_refused(fields: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        TrainConfig.model_validate({"terrain": fields})


def test_a_misspelt_field_is_told_the_nearest() -> None:
    with pytest.raises(InvalidConfig, match=r"terrain\.hight: unknown key; did you mean 'terrain\.height'"):
        parse_config({"terrain": {"kind": "rough", "height": 0.1, "hight": 0.1}})


def test_robots_that_cannot_have_it_are_refused_by_name(pony: EnvSpec, ws: Workspace) -> None:
    with pytest.raises(InvalidConfig, match=r"terrain is for robots from a model file, and Ant-v5"):
        make_environment(catalog.load("Ant-v5"), terrain=ROUGH)
    with pytest.raises(InvalidConfig, match="Hopper-v5 comes with Gymnasium"):
        create_session(ws, NewSession(prompt="hop", env_id="Hopper-v5", config={"terrain": ROUGH.model_dump()}))
    fixed = pony.model_copy(update={"joints": tuple(one for one in pony.joints if one.kind != "free")})
    with pytest.raises(InvalidConfig, match="free base"):
        make_environment(fixed, terrain=ROUGH)
    with pytest.raises(InvalidConfig, match=r"flat up to 0\.2 m. Give terrain a flat of"):
        make_environment(pony, terrain=ROUGH.model_copy(update={"flat": 0.2}))
    ball = pony.joints[0].model_copy(update={"name": "ball", "qpos_index": pony.nq})
    with pytest.raises(InvalidConfig, match="would be left behind"):
        make_environment(pony.model_copy(update={"joints": (*pony.joints, ball)}), terrain=ROUGH)


def test_a_rewards_author_does_not_choose_the_ground() -> None:
    draft = RewardDraft(source="", config_changes={"terrain": ROUGH.model_dump()})
    with pytest.raises(InvalidConfig, match="terrain"):
        base_config(NewSession(), draft)


def test_pictures_show_the_ground_and_follow_the_robot_up(pony: EnvSpec) -> None:
    assert pony.robot is not None
    model = compiled_model(pony, terrain=STEPS)
    stands = np.tile(np.array(pony.robot.stance), (2, 1))
    stands[1, :3] += STEPS.half_period, 0.0, STEPS.count * STEPS.height
    low, high = follow(model, pony, stands[:1]).lookat[0], follow(model, pony, stands[1:]).lookat[0]
    assert high[2] - low[2] == pytest.approx(STEPS.count * STEPS.height, abs=1e-3)
    drawn = list(render_frames(model, pony, stands[:1], (120, 120), RAYCAST))
    level = list(render_frames(compiled_model(pony), pony, stands[:1], (120, 120), RAYCAST))
    assert np.array_equal(drawn[0][:20], level[0][:20])  # the sky
    assert drawn[0][90:].std() > 3.0
    assert np.abs(drawn[0][90:].astype(float) - level[0][90:]).mean() > 1.0


def test_a_sentence_may_ask_for_the_ground(pony: EnvSpec, ws: Workspace) -> None:
    author = BuiltinAuthor()
    level = author.understand("trot forward at 0.8 m/s", pony)
    rough = author.understand("trot forward over rough ground at 0.8 m/s", pony)
    assert level.terrain is None
    assert rough.terrain is not None
    assert rough.terrain.kind == "rough"
    assert rough.intent.criteria == level.intent.criteria
    assert "up to 4 cm above and below the level" in " ".join(rough.assumed)
    for sentence in ("trot up the stairs", "walk over some steps, then stand still"):
        steps = author.understand(sentence, pony).terrain
        assert steps is not None
        assert (steps.kind, steps.height) == ("steps", 0.06)
    for sentence, words in {
        "walk over rough ground up the stairs": "there is one ground",
        "walk up the mountain": "mountain",
        "climb the stairs": "climb",
        "on rough ground": "names nothing that the robot can do",
    }.items():
        with pytest.raises(UnknownPhrase, match=words):
            author.understand(sentence, pony)
    with pytest.raises(UnknownPhrase, match="only robots from a model file"):
        author.understand("walk over rough ground", catalog.load("Ant-v5"))
    request = NewSession(prompt="trot forward over rough ground at 0.8 m/s", env_id=str(PONY))
    assert preview(ws, request).config["terrain"] == rough.terrain.model_dump(mode="json")
    assert create_session(ws, request).config["terrain"] == {"kind": "rough", "height": 0.04}
    told = reward_constraints(pony, terrain=terrain_of(request.model_copy(update={"config": {"terrain": ROUGH}})))
    assert "The ground is not level: rough, up to 6 cm above and below the level." in told
    assert "level" not in reward_constraints(pony, terrain=terrain_of(request))
    own = {"terrain": {"kind": "rough", "height": 0.01}}
    assert create_session(ws, request.model_copy(update={"config": own})).config == own


def test_the_ground_of_a_sentence_is_there_whoever_writes_the_criteria(ws: Workspace) -> None:
    request = NewSession(prompt="trot forward over rough ground at 0.8 m/s", env_id=str(PONY))
    criteria = understand(ws, request.prompt, request.env_id).intent.criteria[:1]
    own = intent_of(ws, request.prompt, request.env_id, criteria)
    assert preview(ws, request, own).config["terrain"]["kind"] == "rough"
    assert create_session(ws, request, intent=own).config["terrain"]["kind"] == "rough"
    level = request.model_copy(update={"config": {"terrain": None}})
    assert create_session(ws, level, intent=own).config == {"terrain": None}


@pytest.mark.parametrize("forward", ["x", "-x", "y"])
def test_steps_are_ahead_of_the_robot_whichever_way_it_faces(forward: str, tmp_path: Path) -> None:
    file = tmp_path / "pony.xml"
    shutil.copy(PONY, file)
    file.with_suffix(".toml").write_text(f'forward = "{forward}"\n')
    spec = describe_robot("pony", file)
    ground = ground_of(compiled_model(spec, terrain=STEPS))
    starts = lay_terrain(spec, STEPS).judged_starts
    for side, way in product((-1.0, 1.0), (0, 1)):
        place = starts.copy()
        place[:, way] += side * (STEPS.lower_m + STEPS.count * STEPS.depth)
        climbed = ground.height(*place.T)
        assert climbed.min() >= (STEPS.count - 1) * STEPS.height if way == 0 else np.abs(climbed).max() < 1e-6
