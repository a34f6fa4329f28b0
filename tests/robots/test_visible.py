"""Every body of a robot is seen in pictures, and moves as if nothing had been drawn."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from robot_files import PONY

from p2p.contracts.env import EnvSpec
from p2p.worker.description.describe import describe_robot

ASSET = '<asset><mesh name="skin" file="skin.stl"/></asset>'
BARE = PONY.read_text().replace("<worldbody>", ASSET + "<worldbody>")
SKIN = '<geom type="mesh" mesh="skin" contype="0" conaffinity="0" group="2"/>'
TAIL = (
    '<body name="tail" pos="-0.2 0 0">{joint}<inertial pos="0 0 0" mass="0.3" diaginertia="1e-3 1e-3 1e-3"/>{geoms}'
    '<body name="tip" pos="-0.15 0 0.1">{joint}<inertial pos="0 0 0" mass="0.1" diaginertia="1e-3 1e-3 1e-3"/>{geoms}'
    "</body></body></body></worldbody>"
).replace("{joint}", '<joint axis="0 1 0" stiffness="5" damping="0.1"/>')


def described(folder: Path, text: str) -> EnvSpec:
    file = folder / "robot.xml"
    file.write_text(text)
    return describe_robot("robot", file)


def with_tail(geoms: str, compiler: str = "") -> str:
    text = BARE[: BARE.index("<keyframe>")] + "</mujoco>"
    at = text.index("</body>\n  </worldbody>")
    text = text[:at] + TAIL.format(geoms=geoms) + text[text.index("</worldbody>") + len("</worldbody>") :]
    return text.replace('angle="radian"', f'angle="radian" {compiler}')


def compiled(spec: EnvSpec) -> mujoco.MjModel:
    assert spec.robot is not None
    return mujoco.MjModel.from_xml_string(spec.robot.xml)


def seen(model: mujoco.MjModel, body: str) -> set[str]:
    mine = model.geom_bodyid == model.body(body).id
    return {model.geom(int(geom)).name for geom in np.flatnonzero(mine & (model.geom_group < 3))}


def test_a_body_that_lost_its_mesh_shows_its_shapes_and_others_stay_as_they_are(tmp_path: Path) -> None:
    text = BARE.replace('<geom name="barrel"', f'{SKIN}<geom name="barrel" group="3"')
    text = text.replace('<geom name="head"', '<geom name="head" group="3"')
    text = text.replace('<geom name="fl_foot"', '<geom name="fl_foot" group="3"')
    model = compiled(described(tmp_path, text))
    assert seen(model, "trunk") == {"barrel", "head"}
    assert "fl_foot" not in seen(model, "fl_shank"), "its capsule is seen"


def test_a_body_without_any_shape_is_drawn_as_a_stick_to_the_next(tmp_path: Path) -> None:
    spec = described(tmp_path, with_tail(SKIN))
    model = compiled(spec)
    assert seen(model, "tail") == {"tail_to_tip"}
    assert seen(model, "tip") == set(), "nothing hangs on it"
    stick = model.geom("tail_to_tip")
    assert stick.size[1] == pytest.approx(np.hypot(0.15, 0.1) / 2, abs=1e-4)
    assert (stick.contype[0], stick.conaffinity[0]) == (0, 0)
    assert spec.robot is not None
    assert "1 bodies of which nothing is seen are drawn as sticks" in spec.robot.choices


@pytest.mark.parametrize("compiler", ["", 'inertiafromgeom="true"', 'balanceinertia="true"'])
def test_sticks_change_neither_masses_nor_motion(compiler: str, tmp_path: Path) -> None:
    spec = described(tmp_path, with_tail("", compiler))
    with_sticks = compiled(spec)
    plain = mujoco.MjSpec.from_string(spec.robot.xml if spec.robot else "")
    for geom in [one for one in plain.geoms if one.name == "tail_to_tip"]:
        plain.delete(geom)
    without = plain.compile()
    assert without.ngeom == with_sticks.ngeom - 1
    raw = mujoco.MjModel.from_xml_string(with_tail("", compiler).replace(ASSET, ""))
    assert np.array_equal(with_sticks.body_mass, without.body_mass)
    assert with_sticks.body_mass == pytest.approx(raw.body_mass)
    assert with_sticks.body_inertia == pytest.approx(raw.body_inertia)
    states = []
    for model in (with_sticks, without):
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, nstep=200)
        states.append(data.qpos.copy())
    assert np.array_equal(*states)
