import os
import sys
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest

from p2p.contracts.errors import EnvironmentProblem, UnknownName
from p2p.envs import catalog
from p2p.worker.engine.environment import compiled_model
from p2p.worker.render import find_renderer, gl, gl_child
from p2p.worker.render.camera import Views, follow
from p2p.worker.render.frames import draw, render_frames

SIZE = (96, 96)
SCENE = """
<mujoco><worldbody>
  <light pos="0 0 5"/>
  <geom type="plane" size="20 20 1" rgba="0.2 0.8 0.2 1"/>
  <geom type="box" pos="0 0 2" size="0.6 0.6 0.3" rgba="0 0 1 0"/>
  <geom type="box" pos="0 0 2" size="0.6 0.6 0.3" rgba="0 0 1 1" group="4" contype="0" conaffinity="0"/>
  <body name="ball"><joint type="slide" axis="0 0 1"/><geom type="sphere" size="0.25" rgba="1 0 0 1" mass="1"/></body>
</worldbody></mujoco>
"""
DIES = """
import os, sys
os.environ["MUJOCO_GL"] = "disabled"
sys.path.insert(0, {folder!r})
import gl_child

class Painter:
    drawn = 0

    def __init__(self, binary):
        pass

    def draw(self, request):
        Painter.drawn += 1
        if Painter.drawn > {lives}:
            os.abort()
        return bytes([255, 0, 0]) * int(request[0] * request[1])

gl_child.Painter = Painter
with os.fdopen(int(sys.argv[1]), "wb") as pipe:
    gl_child.serve(sys.stdin.buffer, pipe)
"""


@pytest.fixture(autouse=True)
def _nothing_tried_yet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(find_renderer.VARIABLE, raising=False)
    find_renderer.forget()
    yield
    find_renderer.forget()


@pytest.fixture
def scene() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(SCENE)


def views(frames: int) -> Views:
    return Views(np.tile([0.0, 0.0, 0.5], (frames, 1)), distance=4.0, azimuth=90.0, elevation=-10.0)


def replace_child(monkeypatch: pytest.MonkeyPatch, path: Path, script: str) -> None:
    path.write_text(script)
    monkeypatch.setattr(gl, "CHILD", path)


def is_red(colour: np.ndarray) -> bool:
    red, green, blue = (int(part) for part in colour)
    return red > 90 and max(green, blue) < red / 2


def is_green(colour: np.ndarray) -> bool:
    red, green, blue = (int(part) for part in colour)
    return green > 60 and green > 1.2 * max(red, blue)


def colour_at(picture: np.ndarray, camera: Views, point: tuple[float, float, float]) -> np.ndarray:
    column, row = camera.project(np.array([[point]]), SIZE)[0, 0]
    return picture[int(row), int(column)]


@pytest.mark.parametrize("renderer", ["egl", "osmesa", "raycast"])
def test_a_lifted_ball_is_seen_where_it_is_and_the_floor_where_it_was(scene: mujoco.MjModel, renderer: str) -> None:
    if renderer != find_renderer.RAYCAST and not find_renderer._works(renderer):
        pytest.skip(f"no {renderer} on this machine")
    down, lifted = draw(scene, np.array([[0.25], [1.2]]), views(2), SIZE, renderer)
    assert is_red(colour_at(down, views(1), (0, 0, 0.25)))
    assert is_green(colour_at(lifted, views(1), (0, 0, 0.25)))
    assert is_red(colour_at(lifted, views(1), (0, 0, 1.2)))
    assert is_green(down[-2, 48])
    assert down.shape == (96, 96, 3)
    assert down.dtype == np.uint8


def test_what_is_invisible_in_the_model_is_not_cast(scene: mujoco.MjModel) -> None:
    picture = next(draw(scene, np.array([[0.25]]), views(1), SIZE, find_renderer.RAYCAST))
    red, _, blue = (int(part) for part in colour_at(picture, views(1), (0, 0, 2.0)))
    assert blue - red < 100


def test_the_ray_caster_draws_chunks_like_single_frames(scene: mujoco.MjModel) -> None:
    heights = np.linspace(0.25, 1.5, 11)[:, None]
    together = list(draw(scene, heights, views(11), SIZE, find_renderer.RAYCAST))
    alone = [next(draw(scene, heights[i : i + 1], views(1), SIZE, find_renderer.RAYCAST)) for i in range(11)]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("env_id", catalog.known())
def test_every_environment_is_drawn_without_any_graphics_library(env_id: str) -> None:
    spec = catalog.load(env_id)
    model = compiled_model(spec, {})
    at_rest = model.qpos0[None]
    picture = next(render_frames(model, spec, at_rest, SIZE, find_renderer.RAYCAST)).astype(int)
    without = mujoco.MjModel.from_binary_path("m.mjb", {"m.mjb": gl._binary(model)})
    without.geom_rgba[model.body_weldid[model.geom_bodyid] > 0, 3] = 0.0
    empty = next(render_frames(without, spec, at_rest, SIZE, find_renderer.RAYCAST)).astype(int)
    robot = np.abs(picture - empty).max(axis=2) > 20
    assert 0.003 < robot.mean() < 0.4
    rows, columns = np.nonzero(robot)
    assert min(rows.min(), columns.min(), 95 - rows.max(), 95 - columns.max()) >= 1
    assert picture.mean() > 80


def test_the_floor_passes_under_a_moving_robot() -> None:
    spec = catalog.load("HalfCheetah-v5")
    qpos = np.zeros((2, spec.nq))
    qpos[1, 0] = 0.5
    first, second = render_frames(compiled_model(spec, {}), spec, qpos, SIZE, find_renderer.RAYCAST)
    assert (np.abs(first[60:].astype(int) - second[60:]).max(axis=2) > 20).mean() > 0.1


def test_the_camera_follows_without_lag_and_without_shaking() -> None:
    spec = catalog.load("HalfCheetah-v5")
    time = np.arange(100) * spec.dt
    qpos = np.zeros((100, spec.nq))
    qpos[:, 0] = 2.0 * time + 0.1 * np.sin(2 * np.pi * 8 * time)
    lookat = follow(compiled_model(spec, {}), spec, qpos).lookat
    assert np.abs(lookat[:, 0] - 2.0 * time)[10:-10].max() < 0.03


def test_the_ray_caster_is_taken_when_asked_for_and_opengl_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(find_renderer.VARIABLE, "raycast")
    monkeypatch.setattr(gl, "CHILD", Path("/does/not/exist"))
    assert find_renderer.report().model_dump() == {"chosen": "raycast", "failures": {}}


def test_where_nothing_is_to_be_drawn_a_picture_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(find_renderer.VARIABLE, "none")
    assert not find_renderer.draws()
    assert find_renderer.report().model_dump() == {"chosen": "none", "failures": {}}
    with pytest.raises(EnvironmentProblem, match="since P2P_RENDERER is none"):
        find_renderer.choose_renderer()


def test_an_unknown_renderer_is_refused_with_those_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(find_renderer.VARIABLE, "vulkan")
    with pytest.raises(UnknownName, match="egl, none, osmesa, raycast"):
        find_renderer.choose_renderer()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import os; os.abort()", "ended by SIGABRT"),
        ("raise ImportError('no libEGL here')", "ImportError: no libEGL here"),
        ("import time; time.sleep(60)", "no picture within 0.5 s"),
        (DIES.format(folder=str(Path(gl_child.__file__).parent), lives=0), "ended by SIGABRT"),
    ],
)
def test_an_opengl_that_fails_is_reported_and_the_ray_caster_chosen(
    script: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_child(monkeypatch, tmp_path / "child.py", script)
    monkeypatch.setattr(gl, "PATIENCE_S", 0.5 if "sleep" in script else 30.0)
    report = find_renderer.report()
    assert report.chosen == "raycast"
    assert report.failures == {"egl": reason, "osmesa": reason}


def test_an_opengl_that_draws_black_is_not_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = DIES.format(folder=str(Path(gl_child.__file__).parent), lives=100).replace("[255, 0, 0]", "[0, 0, 0]")
    replace_child(monkeypatch, tmp_path / "child.py", script)
    assert find_renderer.choose_renderer() == "raycast"
    assert "red ball" in find_renderer.report().failures["egl"]


def test_an_opengl_that_crashes_midway_loses_no_frame(
    scene: mujoco.MjModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(Path(gl_child.__file__).parent)
    replace_child(monkeypatch, tmp_path / "child.py", DIES.format(folder=folder, lives=5))
    heights = np.linspace(0.25, 1.2, 10)[:, None]
    pictures = list(draw(scene, heights, views(10), SIZE))
    cast = list(draw(scene, heights, views(10), SIZE, find_renderer.RAYCAST))
    by_opengl = [bool((picture == (255, 0, 0)).all()) for picture in pictures]
    assert len(pictures) == 10
    assert by_opengl[0]
    assert not by_opengl[-1]
    np.testing.assert_array_equal(pictures[-1], cast[-1])
    assert find_renderer.choose_renderer() == "raycast"


def test_opengl_is_still_usable_after_someone_stopped_reading(scene: mujoco.MjModel) -> None:
    if (renderer := find_renderer.choose_renderer()) == find_renderer.RAYCAST:
        pytest.skip("no OpenGL on this machine")
    heights = np.linspace(0.25, 1.2, 6)[:, None]
    stopped = draw(scene, heights, views(6), SIZE, renderer)
    next(stopped)
    whole = list(draw(scene, heights, views(6), SIZE, renderer))
    assert len(whole) == 6
    assert is_red(colour_at(whole[-1], views(1), (0, 0, 1.2)))
    assert find_renderer.choose_renderer() == renderer


def test_the_drawing_process_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    replies, theirs = os.pipe()
    requests_end, requests = os.pipe()
    script = DIES.format(folder=str(Path(gl_child.__file__).parent), lives=1)
    (tmp_path / "child.py").write_text(script)
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, "-P", str(tmp_path / "child.py"), str(theirs)],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, requests_end, 0), (os.POSIX_SPAWN_DUP2, theirs, theirs)],
    )
    for descriptor in (requests_end, requests, theirs):
        os.close(descriptor)
    assert os.waitpid(child, 0)[1] == 0
    os.close(replies)


@pytest.mark.parametrize("renderer", [find_renderer.RAYCAST, "egl", "osmesa"])
def test_a_shadow_lies_right_below_a_body_however_high_it_is(scene: mujoco.MjModel, renderer: str) -> None:
    if renderer != find_renderer.RAYCAST and not find_renderer._works(renderer):
        pytest.skip(f"no {renderer} on this machine")
    low, high = draw(scene, np.array([[0.4], [1.2]]), views(2), SIZE, renderer)
    below, elsewhere = ((0.0, 0.0, 0.0), (0.9, 0.0, 0.0))
    for picture in (low, high):
        shade, light = (int(colour_at(picture, views(1), spot)[1]) for spot in (below, elsewhere))
        assert shade < 0.85 * light


def test_what_is_beside_a_table_throws_no_shadow_on_it() -> None:
    scene = """
    <mujoco><worldbody>
      <geom name="table" type="plane" size="1 1 0.1"/>
      <body pos="3 0 1"><freejoint/><geom type="sphere" size="0.2"/></body>
      <body pos="0.5 0 1"><freejoint/><geom type="capsule" size="0.1 0.3" euler="0 90 0"/></body>
    </worldbody></mujoco>
    """
    model = mujoco.MjModel.from_xml_string(scene)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    assert gl_child.level_floors(model) == [0]
    (line,), (radius,) = gl_child.shadows(model, 0, data.geom_xpos, data.geom_xmat)
    assert sorted(line[:, 0]) == pytest.approx([0.2, 0.8])
    assert line[:, 1] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert radius == pytest.approx(0.1)
