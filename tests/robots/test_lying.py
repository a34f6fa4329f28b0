"""A robot of one's own that begins lying: where it lies, and that it can be asked to stand up."""

from pathlib import Path

import numpy as np
import pytest
from robot_files import PONY, SNAKE

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput, UnknownPhrase
from p2p.prompts import render
from p2p.rewards.rotations import upness
from p2p.worker.description.describe import describe_robot
from p2p.worker.engine.environment import make_environment
from p2p.worker.engine.simulation import make_simulation
from p2p.worker.export.standalone import Robot

FIXED_PONY = PONY.read_text().replace('<freejoint name="base"/>', "").replace("0 0 0.33 1 0 0 0 ", "")
BIPED = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="trunk" pos="0 0 .62"><freejoint/>
<geom type="capsule" fromto="0 0 .05 0 0 .35" size=".08" mass="4"/>
<body name="left" pos="0 .1 0"><joint name="left_hip" axis="0 1 0" range="-1 1" limited="true"/>
<geom type="capsule" fromto="0 0 0 0 0 -.5" size=".03" mass="1"/>
<geom name="left_foot" type="box" pos=".03 0 -.57" size=".12 .06 .03" mass=".5"/></body>
<body name="right" pos="0 -.1 0"><joint name="right_hip" axis="0 1 0" range="-1 1" limited="true"/>
<geom type="capsule" fromto="0 0 0 0 0 -.5" size=".03" mass="1"/>
<geom name="right_foot" type="box" pos=".03 0 -.57" size=".12 .06 .03" mass=".5"/></body></body></worldbody></mujoco>"""
FEET_ONLY = BIPED.replace('mass="4"', 'mass="4" contype="0" conaffinity="0"').replace(
    'size=".03" mass="1"', 'size=".03" mass="1" contype="0" conaffinity="0"'
)
WEEBLE = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body name="ball" pos="0 0 .2"><freejoint/>
<inertial pos="0 0 -.18" mass="9" diaginertia=".01 .01 .01"/>
<geom name="round" type="sphere" size=".2" friction="1 .1 .1" condim="6"/>
<body name="flag" pos="0 0 .2"><joint axis="0 0 1" damping="1"/>
<geom size=".01" mass=".01" contype="0" conaffinity="0"/>
</body></body></worldbody></mujoco>"""


def described(folder: Path, on: str, text: str = "", more: str = "") -> EnvSpec:
    file = folder / "robot.xml"
    file.write_text(text or PONY.read_text())
    file.with_suffix(".toml").write_text(f'lying = "{on}"\n{more}')
    return describe_robot("robot", file)


def begun(spec: EnvSpec) -> tuple[float, float]:
    """Up-component and height of its torso at an episode's start."""
    env = make_environment(spec)
    env.reset(seed=3)
    qpos = env.unwrapped.data.qpos  # type: ignore[attr-defined]
    return float(upness(qpos[None, 3:7])[0]), float(qpos[2])


@pytest.mark.parametrize(("on", "up"), [("back", -1.0), ("side", 0.0)])
def test_episodes_begin_where_it_came_to_rest(on: str, up: float, tmp_path: Path) -> None:
    standing = describe_robot("robot", PONY)
    spec = described(tmp_path, on)
    assert spec.robot is not None
    assert spec.robot.lying is not None
    assert spec.robot.healthy is None
    assert spec.termination == "never"
    assert spec.env_id != standing.env_id
    assert f"begins lying: turned onto its {on}, as robot.toml says, and let go for 3 s" in spec.robot.choices
    assert standing.robot is not None
    assert (spec.robot.stance, spec.rest_height) == (standing.robot.stance, standing.rest_height)
    upness, height = begun(spec)
    assert upness == pytest.approx(up, abs=0.15)
    assert height < 0.6 * spec.rest_height


def test_two_legs_fall_backwards_onto_the_back(tmp_path: Path) -> None:
    spec = described(tmp_path, "back", BIPED)
    assert spec.robot is not None
    assert spec.robot.lying is not None
    w, x, y, z = spec.robot.lying[3:7]
    ahead = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
    assert ahead[2] > 0.8, "it looks at the sky"


def test_all_simulations_begin_lying_in_the_same_state(tmp_path: Path) -> None:
    spec = described(tmp_path, "side")
    assert spec.robot is not None
    env = make_environment(spec)
    fast = make_simulation(spec, 2)
    assert fast.engine == "batch"
    alone = Robot({"robot": spec.robot.model_dump(mode="json"), "frame_skip": spec.frame_skip, "env_kwargs": {}})
    frame = fast.reset([0, 1], [5, 6])
    for row, seed in enumerate((5, 6)):
        observed, _ = env.reset(seed=seed)
        assert np.array_equal(frame.observations[row], observed)
        assert np.array_equal(alone.reset(seed=seed)[0], observed)


def test_it_is_asked_to_stand_up_and_no_more(tmp_path: Path) -> None:
    author = BuiltinAuthor()
    spec = described(tmp_path, "side")
    main = author.elicit("stand up", spec).criteria[0]
    assert main.title == "Stands for 1 s"
    assert f"{0.7 * spec.rest_height:.3g} m" in main.description
    for sentence in ("walk forward", "stand still", "rear up", "jump"):
        with pytest.raises(UnknownPhrase, match="it lies on the floor at the start"):
            author.elicit(sentence, spec)
    with pytest.raises(UnknownPhrase, match='does not lie on the ground at the start; `lying = "side"` in a file'):
        author.elicit("stand up", describe_robot("robot", PONY))


def test_models_are_told_that_it_lies(tmp_path: Path) -> None:
    said = render("environment", env=described(tmp_path, "side"))
    assert "an episode starts with the robot lying on the floor; as it stands, its torso" in said
    assert "lying" not in render("environment", env=describe_robot("robot", PONY))


@pytest.mark.parametrize(
    ("on", "text", "more", "said"),
    [
        ("belly", "", "", "'back' or 'side'"),
        ("side", "", "healthy = [0.1, 0.5]", "healthy and lying are both given"),
        ("side", FIXED_PONY, "", "has none"),
        ("side", WEEBLE, "", "comes back to its feet"),
        ("back", FEET_ONLY, "", "sinks into the floor"),
    ],
)
def test_what_cannot_lie_is_refused(on: str, text: str, more: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=said):
        described(tmp_path, on, text, more)


def test_a_snake_lies_on_its_side(tmp_path: Path) -> None:
    assert abs(begun(described(tmp_path, "side", SNAKE.read_text()))[0]) < 0.5
