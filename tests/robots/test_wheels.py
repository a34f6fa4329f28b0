"""Wheels keep their motors, or get some; nothing else is taken for a wheel."""

from pathlib import Path

import numpy as np
import pytest

from p2p.contracts.env import EnvSpec
from p2p.worker.description.describe import describe_robot
from p2p.worker.engine.environment import make_environment

ROUND = '<geom type="cylinder" size="0.06 0.02" euler="90 0 0" mass="0.2"/>'
MOTORS = '<actuator>{}<motor joint="lift" gear="3" ctrlrange="-1 1"/></actuator>'


def rover(wheel: str = ROUND, limits: str = "", base: str = "<freejoint/>") -> str:
    """A box on four wheels with a mast on top that tilts."""
    wheels = "".join(
        f'<body name="{name}" pos="{x} {y} 0"><joint name="{name}" axis="0 1 0" {limits}/>{wheel}</body>'
        for name, x, y in (("fl", 0.15, 0.12), ("fr", 0.15, -0.12), ("rl", -0.15, 0.12), ("rr", -0.15, -0.12))
    )
    return (
        '<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1"/><body name="hull" pos="0 0 0.06">'
        f'{base}<geom type="box" size="0.2 0.08 0.03" mass="3"/>{wheels}'
        '<body name="mast" pos="0 0 0.05"><joint name="lift" axis="0 1 0" damping="0.1"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.02" mass="0.2"/></body></body></worldbody></mujoco>'
    )


def with_motors(text: str, limited: str = 'ctrlrange="-1 1"') -> str:
    motors = "".join(f'<motor joint="{name}" gear="0.5" {limited}/>' for name in ("fl", "fr", "rl", "rr"))
    return text.replace("</mujoco>", MOTORS.format(motors) + "</mujoco>")


def described(folder: Path, text: str) -> EnvSpec:
    file = folder / "rover.xml"
    file.write_text(text)
    return describe_robot("rover", file)


def kinds(spec: EnvSpec) -> dict[str, str]:
    assert spec.robot is not None
    return {one.actuator: one.kind for one in spec.robot.control}


WHEELED = {"fl": "torque", "fr": "torque", "rl": "torque", "rr": "torque", "lift": "position"}
LEGGED = dict.fromkeys(WHEELED, "position")


@pytest.mark.parametrize("limited", ['ctrlrange="-1 1"', ""], ids=["known torque", "unlimited torque"])
def test_wheels_keep_their_motors_and_the_mast_gets_a_servo(limited: str, tmp_path: Path) -> None:
    spec = described(tmp_path, with_motors(rover(), limited))
    assert kinds(spec) == WHEELED
    assert spec.robot is not None
    assert "the wheels fl, fr, rl, rr keep their motors" in spec.robot.choices
    assert any("the file's 1 other motors became position servos" in one for one in spec.robot.choices)
    assert [one.unit for one in spec.action] == ["N m"] * 4 + ["rad"]


def test_an_action_of_1_asks_a_motor_for_no_more_than_it_can_give(tmp_path: Path) -> None:
    spec = described(tmp_path, with_motors(rover(), 'ctrlrange="-1 1" forcerange="-0.02 0.05"'))
    assert spec.robot is not None
    wheel = spec.robot.control[0]
    assert (wheel.centre, wheel.scale) == pytest.approx((0.015, 0.035))


def test_servos_of_velocity_are_told_as_such_and_hold_one(tmp_path: Path) -> None:
    motors = "".join(f'<velocity joint="{name}" kv="0.5" ctrlrange="-8 8"/>' for name in ("fl", "fr", "rl", "rr"))
    spec = described(tmp_path, rover().replace("</mujoco>", MOTORS.format(motors) + "</mujoco>"))
    assert kinds(spec) == {name: "position" if name == "lift" else "velocity" for name in WHEELED}
    assert spec.robot is not None
    wheel = spec.robot.control[0]
    assert (wheel.centre, wheel.scale, wheel.kp, wheel.kd) == (0.0, 8.0, 0.0, 0.5)
    assert [(one.unit, one.gear) for one in spec.action] == [("rad/s", 8.0)] * 4 + [("rad", 0.5)]
    assert any("4 velocity targets: up to 8 rad/s" in one for one in spec.robot.choices)
    env = make_environment(spec)
    env.reset(seed=0)
    env.set_state(env.init_qpos, np.zeros(spec.nv))
    for _ in range(100):
        env.step(np.array([0.5, 0.5, 0.5, 0.5, 0], dtype=np.float32))
    assert env.data.qvel[6:10] == pytest.approx(4.0, rel=0.15), "half of 8 rad/s, less what drives it on"


def test_without_actuators_wheels_get_motors_that_drive(tmp_path: Path) -> None:
    spec = described(tmp_path, rover())
    assert kinds(spec) == WHEELED
    assert spec.robot is not None
    assert "motors were added to the wheels fl, fr, rl, rr, since the file has no actuators" in spec.robot.choices
    assert not any("keep their motors" in one for one in spec.robot.choices), "it had none"
    assert any("position servos were added to 1 joints" in one for one in spec.robot.choices)
    assert any("settled for 3 s" in one for one in spec.robot.choices), "nothing is asked of its wheels meanwhile"
    env = make_environment(spec)
    env.reset(seed=0)
    env.set_state(env.init_qpos, np.zeros(spec.nv))
    for _ in range(50):
        env.step(np.array([1, 1, 1, 1, 0], dtype=np.float32))
    assert env.data.qpos[0] > 0.3, "a servo would have gone half a radian, 3 cm"


ROUND_ONES = {
    "a sphere": '<geom size="0.06" mass="0.2"/>',
    "an ellipsoid": '<geom type="ellipsoid" size="0.06 0.03 0.06" mass="0.2"/>',
    "a capsule along the axle": '<geom type="capsule" size="0.06 0.02" euler="90 0 0" mass="0.2"/>',
    "a rim that collides and spokes that do not": ROUND
    + '<geom type="box" size="0.09 0.01 0.01" contype="0" conaffinity="0" mass="0.01"/>',
}
OTHERS = {
    "a leg that ends in a ball": '<geom size="0.06" pos="0 0 -0.2" mass="0.2"/>',
    "a shank on a round hip": ROUND + '<geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.1"/>',
    "a cylinder across the axle": '<geom type="cylinder" size="0.06 0.02" mass="0.2"/>',
    "a box": '<geom type="box" size="0.06 0.02 0.06" mass="0.2"/>',
    "a turret that carries an arm": ROUND
    + '<body><joint axis="1 0 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.1"/></body>',
}


@pytest.mark.parametrize("shape", ROUND_ONES)
def test_what_is_round_about_its_axle_is_a_wheel(shape: str, tmp_path: Path) -> None:
    assert kinds(described(tmp_path, with_motors(rover(ROUND_ONES[shape])))) == WHEELED


@pytest.mark.parametrize("shape", OTHERS)
def test_what_is_not_round_about_its_hinge_is_none(shape: str, tmp_path: Path) -> None:
    assert kinds(described(tmp_path, with_motors(rover(OTHERS[shape])))) == LEGGED


def test_a_hinge_with_limits_is_no_axle(tmp_path: Path) -> None:
    text = with_motors(rover(limits='range="-90 90" limited="true"'))
    assert kinds(described(tmp_path, text)) == LEGGED


def test_a_disc_on_a_robot_that_is_fixed_gets_a_servo(tmp_path: Path) -> None:
    assert set(kinds(described(tmp_path, rover(base=""))).values()) == {"position"}
