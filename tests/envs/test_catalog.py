import subprocess
import sys

import pytest

from p2p.contracts.errors import UnknownName
from p2p.envs import catalog
from p2p.envs.morphology import PORTRAITS

# env_id: observation, action, nq, nv, joints, bodies without the world, control period [s], step limit
SIZES = {
    "Ant-v5": (105, 8, 15, 14, 9, 13, 0.05, 1000),
    "HalfCheetah-v5": (17, 6, 9, 9, 9, 7, 0.05, 1000),
    "Hopper-v5": (11, 3, 6, 6, 6, 4, 0.008, 1000),
    "Humanoid-v5": (348, 17, 24, 23, 18, 13, 0.015, 1000),
    "HumanoidStandup-v5": (348, 17, 24, 23, 18, 13, 0.015, 1000),
    "InvertedDoublePendulum-v5": (9, 1, 3, 3, 3, 3, 0.05, 1000),
    "InvertedPendulum-v5": (4, 1, 2, 2, 2, 2, 0.04, 1000),
    "Pusher-v5": (23, 7, 11, 11, 11, 12, 0.05, 100),
    "Reacher-v5": (10, 2, 4, 4, 4, 4, 0.02, 50),
    "Swimmer-v5": (8, 2, 5, 5, 5, 3, 0.04, 1000),
    "Walker2d-v5": (17, 6, 9, 9, 9, 7, 0.008, 1000),
}


def test_the_eleven_mujoco_environments_are_known():
    assert catalog.known() == tuple(sorted(SIZES)) == tuple(sorted(PORTRAITS))


@pytest.mark.parametrize("env_id", SIZES)
def test_sizes_periods_and_limits_are_those_of_gymnasium(env_id):
    spec = catalog.load(env_id)
    found = (spec.obs_dim, spec.action_dim, spec.nq, spec.nv, len(spec.joints), len(spec.bodies))
    assert (*found, spec.dt, spec.max_episode_steps) == SIZES[env_id]


@pytest.mark.parametrize("env_id", SIZES)
def test_names_of_one_kind_are_unique_and_indices_gapless(env_id):
    spec = catalog.load(env_id)
    for names in (
        spec.feature_names,
        [(entry.name, entry.unit) for entry in spec.observation],
        [joint.name for joint in spec.joints],
        [body.name for body in spec.bodies],
        [geom.name for geom in spec.geoms],
    ):
        assert len(set(names)) == len(names)
    assert [entry.index for entry in spec.observation] == list(range(spec.obs_dim))


@pytest.mark.parametrize("env_id", SIZES)
def test_the_morphology_names_bodies_and_geoms_that_exist(env_id):
    spec = catalog.load(env_id)
    bodies = {body.name for body in spec.bodies}
    body = spec.morphology
    assert {name for name in (body.torso, body.target, body.effector, body.pole) if name} <= bodies
    assert set(body.feet + body.trunk) <= {geom.name for geom in spec.geoms}
    assert spec.camera.tracks in bodies | {"world"}


def test_an_unknown_environment_is_refused_with_the_closest_name():
    with pytest.raises(UnknownName, match="Did you mean 'Hopper-v5'"):
        catalog.load("Hoper-v5")


def test_a_path_is_not_a_name():
    with pytest.raises(UnknownName):
        catalog.load("../data/Ant-v5")


def test_loading_a_description_needs_nothing_heavy():
    code = (
        "import sys; from p2p.envs import catalog; catalog.load('Ant-v5'); "
        "print({'numpy', 'mujoco', 'gymnasium', 'torch'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"


def test_a_description_is_read_once():
    assert catalog.load("Ant-v5") is catalog.load("Ant-v5")


def test_humanoids_have_seventeen_joints_besides_the_root():
    for env_id in ("Humanoid-v5", "HumanoidStandup-v5"):
        spec = catalog.load(env_id)
        assert sum(joint.kind == "hinge" for joint in spec.joints) == 17
        assert spec.action_dim == 17


def test_features_follow_what_a_robot_can_do():
    cheetah, ant, swimmer, reacher, cart = (
        set(catalog.load(f"{name}-v5").feature_names)
        for name in ("HalfCheetah", "Ant", "Swimmer", "Reacher", "InvertedPendulum")
    )
    assert {"pitch_turns", "clearance", "contact_bfoot"} <= cheetah
    assert not {"yaw", "position_y", "lateral_velocity"} & cheetah
    assert {"yaw_turns", "roll", "lateral_velocity", "contact_left_ankle_geom"} <= ant
    assert {"yaw_turns", "lateral_velocity"} <= swimmer
    assert not {"height", "clearance", "pitch", "feet_down"} & swimmer
    assert reacher == {"time", "target_distance", "joint_speed", "control_effort", "action_rate"}
    assert {"pole_angle", "pole_height", "cart_position"} <= cart


def test_a_name_without_version_stands_for_its_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "known", lambda: ("Ant-v10", "Ant-v9", "AntMaze-v12", "Hopper-v5"))
    assert catalog.newest("Ant") == "Ant-v10"
    assert catalog.newest("Hopper") == "Hopper-v5"
    others = ("Hop", "", "Hopper-v5", "hopper", "../Hopper")
    assert tuple(catalog.newest(name) for name in others) == others
