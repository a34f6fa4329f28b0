import re
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest

from p2p.contracts.errors import EnvironmentProblem, StorageProblem
from p2p.contracts.frame_rate import frame_rate
from p2p.envs import catalog
from p2p.worker.engine.environment import compiled_model
from p2p.worker.pictures.key_pictures import ShownRollout
from p2p.worker.pictures.overlay import captions, stamped
from p2p.worker.pictures.video import write_rollout_video, write_video
from p2p.worker.render import find_renderer

SPEC = catalog.load("HalfCheetah-v5")
SIZE = (96, 64)


@pytest.fixture(autouse=True)
def _cast_rays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(find_renderer.VARIABLE, find_renderer.RAYCAST)
    yield
    find_renderer.forget()


def running(steps: int, dt: float) -> np.ndarray:
    qpos = np.zeros((steps, SPEC.nq))
    qpos[:, 0] = 3.0 * dt * np.arange(steps)
    qpos[:, 3] = np.sin(6.0 * dt * np.arange(steps))
    return qpos


def read(path: Path, size: tuple[int, int] = SIZE) -> tuple[str, np.ndarray]:
    """What ffmpeg says about a video, and its frames."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stderr.decode(), np.frombuffer(done.stdout, np.uint8).reshape(-1, size[1], size[0], 3)


@pytest.mark.parametrize(
    ("dt", "every", "fps"),
    [
        (0.05, 1, Fraction(20)),
        (0.008, 5, Fraction(25)),
        (0.015, 3, Fraction(200, 9)),
        (0.02, 2, Fraction(25)),
        (0.04, 1, Fraction(25)),
        (0.01, 4, Fraction(25)),
        (1 / 30, 1, Fraction(30)),
        (0.5, 1, Fraction(2)),
    ],
)
def test_frames_are_left_out_until_at_most_thirty_a_second_remain(dt: float, every: int, fps: Fraction) -> None:
    assert frame_rate(dt)[0] == every
    assert float(frame_rate(dt)[1]) == pytest.approx(float(fps), rel=1e-4)
    assert frame_rate(dt)[1] <= Fraction("30.01")


@pytest.mark.parametrize(("dt", "steps", "frames", "fps"), [(0.05, 20, 20, 20.0), (0.008, 101, 21, 25.0)])
def test_a_video_lasts_as_long_as_the_motion(dt: float, steps: int, frames: int, fps: float, tmp_path: Path) -> None:
    path = tmp_path / "videos" / "run.mp4"
    write_video(path, compiled_model(SPEC, {}), SPEC, running(steps, dt), dt, SIZE)
    report, pictures = read(path)
    source = report.partition("Output")[0]
    assert re.search(r"Video: h264.* yuv420p.* 96x64", source)
    assert float(re.search(r"([\d.]+) fps", source)[1]) == fps
    assert len(pictures) == frames
    assert float(re.search(r"Duration: 00:00:([\d.]+)", source)[1]) == pytest.approx(frames / fps, abs=0.011)
    changes = np.abs(np.diff(pictures.astype(int), axis=0)).max(axis=(1, 2, 3))
    assert (changes > 40).all()


def test_a_video_plays_before_it_is_loaded_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    write_video(tmp_path / "run.mp4", compiled_model(SPEC, {}), SPEC, running(4, 0.05), 0.05, SIZE)
    content = (tmp_path / "run.mp4").read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")
    assert [file.name for file in tmp_path.iterdir()] == ["run.mp4"]


def test_a_video_is_made_with_opengl_that_turns_out_to_be_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(find_renderer.VARIABLE, find_renderer.EGL)
    monkeypatch.setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/does/not/exist.json")
    monkeypatch.setenv("PYTHONHOME", "/does/not/exist")
    find_renderer.forget()
    write_video(tmp_path / "run.mp4", compiled_model(SPEC, {}), SPEC, running(4, 0.05), 0.05, SIZE)
    assert len(read(tmp_path / "run.mp4")[1]) == 4
    assert find_renderer.report().chosen == find_renderer.RAYCAST
    assert set(find_renderer.report().failures) == {"egl", "osmesa"}


def test_a_rollout_is_filmed_with_time_speed_and_coloured_limbs(tmp_path: Path) -> None:
    qpos = running(60, SPEC.dt)
    features = {"time": SPEC.dt * np.arange(1.0, 61.0), "forward_velocity": np.full(60, 3.0)}
    rollout = ShownRollout(SPEC, compiled_model(SPEC, {}), qpos, features)
    assert captions(rollout, features["time"][[0, 59]], "2x slower") == [
        "t=0.05 s   +3.00 m/s   2x slower",
        "t=3.00 s   +3.00 m/s   2x slower",
    ]
    write_rollout_video(tmp_path / "told.mp4", rollout)
    write_video(tmp_path / "plain.mp4", rollout.model, SPEC, qpos, SPEC.dt)
    (_, told), (_, plain) = (read(tmp_path / name, (480, 480)) for name in ("told.mp4", "plain.mp4"))
    difference = np.abs(told.astype(int) - plain).max(axis=3)
    assert (difference[:, :24, :230] > 60).sum() > 60 * 100
    assert (difference[:, 30:200] > 60).sum() < 60 * 100
    colours = {"red": (0, 1), "blue": (2, 0)}
    for strong, weak in colours.values():
        of_limb = told[:, 100:, :, strong].astype(int) - told[:, 100:, :, weak] > 90
        of_robot = plain[:, 100:, :, strong].astype(int) - plain[:, 100:, :, weak] > 90
        assert of_limb.sum() > of_robot.sum() + 60 * 50


def test_text_that_would_overprint_the_time_is_smaller() -> None:
    empty = np.full((60, 240, 3), 255, np.uint8)
    left, both = stamped(empty, "t=12.05 s   +3.00 m/s", ""), stamped(empty, "t=12.05 s   +3.00 m/s", "n" * 60)
    alone = np.argwhere((left < 200).any(axis=2))
    added = np.argwhere((both != left).any(axis=2))
    assert len(added)
    assert added[:, 1].min() > alone[:, 1].max()


def test_an_encoder_that_fails_is_named_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = tmp_path / "ffmpeg"
    encoder.write_text("#!/bin/sh\necho 'no such codec' >&2\nexit 1\n")
    encoder.chmod(0o755)
    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: str(encoder))
    with pytest.raises(EnvironmentProblem, match="no such codec"):
        write_video(tmp_path / "run.mp4", compiled_model(SPEC, {}), SPEC, running(40, 0.05), 0.05, SIZE)
    assert [file.name for file in tmp_path.iterdir()] == ["ffmpeg"]


def test_a_video_that_cannot_be_stored_says_so(tmp_path: Path) -> None:
    (tmp_path / "videos").write_text("a file, not a directory")
    with pytest.raises(StorageProblem):
        write_video(tmp_path / "videos" / "run.mp4", compiled_model(SPEC, {}), SPEC, running(4, 0.05), 0.05, SIZE)
