import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from constructed_motions import ANT, CHEETAH, leaping, measured, spinning
from PIL import Image
from pydantic import ValidationError

from p2p.contracts.env import EnvSpec
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.training import TrainConfig
from p2p.contracts.work import PictureRequest, PictureResult, RecordedFile, ViewCamera, ViewRequest
from p2p.envs import catalog
from p2p.store.arrays import save_arrays
from p2p.store.iterations import IterationRecord
from p2p.store.pictures import ViewRecord
from p2p.worker.engine.environment import compiled_model
from p2p.worker.engine.morphology import name_of
from p2p.worker.pictures import view_video
from p2p.worker.pictures.frame_files import pick, picture_size
from p2p.worker.pictures.key_frames import KeyFrames
from p2p.worker.pictures.key_pictures import ShownRollout, draw_moments
from p2p.worker.render import find_renderer
from p2p.worker.render.marking import RED, limbs_in_words, limbs_of, mark_limbs
from p2p.worker.view import view


@pytest.fixture(autouse=True)
def _cast_rays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(find_renderer.VARIABLE, find_renderer.RAYCAST)
    yield
    find_renderer.forget()


def recorded(root: Path, spec: EnvSpec, qpos: np.ndarray, title: str = "Iteration 1, median rollout") -> RecordedFile:
    """A prescribed motion as the file of a run; no action explains it."""
    run = IterationRecord(root / f"run_{len(list(root.iterdir()))}_seed_1")
    run.save_config(TrainConfig(env_id=spec.env_id))
    run.save_env_spec(spec)
    features = measured(spec, qpos)
    arrays = {
        "initial_qpos": qpos[0],
        "initial_qvel": np.zeros(spec.nv),
        "qpos": qpos[1:],
        "qvel": np.zeros((len(qpos) - 1, spec.nv)),
        "action": np.zeros((len(qpos) - 1, spec.action_dim), np.float32),
        "features": np.stack(list(features.values()), axis=1),
        "_feature_names": np.array(list(features)),
    }
    path = run.trajectory(1000, "median")
    save_arrays(path, arrays)
    return RecordedFile(run_dir=f"../{run.path.name}", trajectory=f"../{path.relative_to(root)}", title=title)


def viewed(root: Path, *rollouts: RecordedFile, **request: object) -> tuple[ViewRecord, PictureResult]:
    record = ViewRecord(root / f"view_{len(list(root.iterdir()))}")
    record.save_request(PictureRequest(rollouts=rollouts, view=ViewRequest.model_validate(request)))
    view(record.path)
    result = record.read_result()
    assert result is not None
    return record, result


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"), dtype=int)


def film(path: Path, width: int, height: int) -> tuple[float, np.ndarray]:
    """Frames per second of a video, and its frames."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    rate = re.search(r"([\d.]+) fps", done.stderr.decode())
    assert rate is not None
    return float(rate[1]), np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width, 3)


def test_the_moments_of_a_flip_are_where_it_takes_off_is_highest_and_lands(tmp_path: Path) -> None:
    qpos = leaping(1.0)
    features = measured(CHEETAH, qpos)
    record, result = viewed(tmp_path, recorded(tmp_path, CHEETAH, qpos), frames=12)
    steps = {frame.event: frame.step - 1 for frame in result.frames if frame.event}
    assert set(steps) == {"start", "take-off", "apex", "landing", "end"}
    assert steps["apex"] == np.argmax(features["height"])
    airborne = np.flatnonzero(features["airborne"])
    assert (steps["take-off"], steps["landing"]) == (airborne[0], airborne[-1] + 1)
    assert [frame.index for frame in result.frames] == list(range(1, len(result.frames) + 1))
    assert all(frame.t_s == pytest.approx(frame.step * CHEETAH.dt) for frame in result.frames)
    degrees = 360 * features["pitch_turns"][[frame.step - 1 for frame in result.frames]]
    assert np.abs(np.diff(degrees)).max() <= 90
    assert pixels(record.sheet_path).shape == (600, 800, 3)
    assert record.sheet_path.stat().st_size < 130_000


def test_single_frames_are_as_large_as_asked_and_show_their_moment(tmp_path: Path) -> None:
    record, result = viewed(tmp_path, recorded(tmp_path, CHEETAH, leaping(1.0)), frames=3, width=402)
    files = [frame.path for frame in result.frames if frame.path is not None]
    assert [frame.event for frame in result.frames if frame.path is not None] == ["take-off", "apex", "landing"]
    assert {pixels(record.path / name).shape for name in files} == {(300, 402, 3)}
    assert all(result.sizes[name] == (402, 300) for name in files)
    take_off, apex, _ = (pixels(record.path / name)[:250] for name in files)
    assert np.abs(take_off - apex).mean() > 2


@pytest.mark.parametrize("spec", [CHEETAH, ANT])
def test_every_camera_shows_something_else(spec: EnvSpec) -> None:
    qpos = leaping(1.0) if spec is CHEETAH else spinning(1.0)
    rollout = ShownRollout(spec, compiled_model(spec), qpos[1:], measured(spec, qpos))
    cameras = list(ViewCamera)
    shown = [np.asarray(draw_moments(rollout, [30], (240, 160), camera)[0], dtype=int)[:, :150] for camera in cameras]
    for i, one in enumerate(shown):
        for j, other in enumerate(shown[:i]):
            assert np.abs(one - other).mean() > 1.5, (cameras[i], cameras[j])


def test_the_camera_above_sees_no_sky_and_the_one_at_the_side_does() -> None:
    qpos = leaping(0.0)
    rollout = ShownRollout(CHEETAH, compiled_model(CHEETAH), qpos[1:], measured(CHEETAH, qpos))
    top, side = (
        np.asarray(draw_moments(rollout, [10], (240, 160), camera)[0], dtype=float)[:8].mean(axis=(0, 1))
        for camera in (ViewCamera.TOP, ViewCamera.SIDE)
    )
    assert np.ptp(top) < 4
    assert side[2] - side[0] > 15


def test_limbs_have_the_colours_of_their_sides() -> None:
    """Where they are at rest decides, not their names: the ant's right back leg stands in front."""
    model = compiled_model(ANT)
    limbs = {limb.side: {name_of(model, "body", body) for body in limb.bodies} for limb in limbs_of(model, ANT)}
    assert limbs == {
        "front left": {"front_left_leg", "aux_1", "body4"},
        "back left": {"front_right_leg", "aux_2", "body7"},
        "back right": {"back_leg", "aux_3", "body10"},
        "front right": {"right_back_leg", "aux_4", "body13"},
    }
    marked = mark_limbs(model, ANT)
    red = {name_of(model, "body", int(b)) for b in marked.geom_bodyid[np.isclose(marked.geom_rgba, RED).all(axis=1)]}
    assert red == limbs["front left"]
    assert not np.isclose(model.geom_rgba, RED).all(axis=1).any()


@pytest.mark.parametrize(
    ("env_id", "words"),
    [
        ("Walker2d-v5", "left green, right blue"),
        ("Humanoid-v5", "left green, right blue"),
        ("HalfCheetah-v5", "front red, back blue"),
        ("Hopper-v5", ""),
        ("Swimmer-v5", ""),
    ],
)
def test_colours_are_told_and_what_has_one_leg_keeps_its_own(env_id: str, words: str) -> None:
    spec = catalog.load(env_id)
    model = compiled_model(spec)
    assert limbs_in_words(limbs_of(model, spec)) == words
    assert (mark_limbs(model, spec) is model) == (not words)
    for limb in limbs_of(model, spec):
        names = {name_of(model, "body", body) for body in limb.bodies}
        assert limb.side != "left" or all("left" in name for name in names)
        assert limb.side != "right" or not any("left" in name for name in names)


def test_a_part_is_shown_at_its_own_times(tmp_path: Path) -> None:
    rollout = recorded(tmp_path, CHEETAH, leaping(1.0))
    _, result = viewed(tmp_path, rollout, start_s=0.9, end_s=2.0)
    assert (result.frames[0].t_s, result.frames[0].event) == (0.9, "part begins")
    assert (result.frames[-1].t_s, result.frames[-1].event) == (2.0, "part ends")
    assert {"take-off", "apex", "landing"} <= {frame.event for frame in result.frames}
    with pytest.raises(InvalidInput, match=r"The rollout lasts 5\.00 s|the rollout lasts 5\.00 s"):
        viewed(tmp_path, rollout, start_s=30.0)


def test_two_rollouts_stand_below_one_another(tmp_path: Path) -> None:
    flip = recorded(tmp_path, CHEETAH, leaping(1.0), "Iteration 1, median rollout")
    hop = recorded(tmp_path, CHEETAH, leaping(0.0, begin=2.0), "Iteration 2, median rollout")
    record, result = viewed(tmp_path, flip, hop, compare_with=2, frames=1)
    assert pixels(record.sheet_path).shape == (822, 800, 3)
    apexes = [frame.t_s for frame in result.frames if frame.event == "apex"]
    assert apexes == [pytest.approx(1.35), pytest.approx(2.35)]
    assert [frame.index for frame in result.frames] == list(range(1, len(result.frames) + 1))
    assert sum(frame.path is not None for frame in result.frames) == 2
    assert result.note.count(";") == 1


def test_slow_motion_lasts_longer_and_says_where_it_is_from(tmp_path: Path) -> None:
    rollout = recorded(tmp_path, CHEETAH, leaping(1.0))
    record, result = viewed(tmp_path, rollout, slow_motion=4, width=240)
    assert "video 0.75-2.00 s, 4 times slower, " in result.note
    assert "could not be simulated again and are interpolated" in result.note  # no action explains this motion
    fps, frames = film(record.video_path, 240, 180)
    assert fps == 25
    assert len(frames) / fps == pytest.approx(4 * 1.25, abs=0.1)
    assert np.abs(np.diff(frames[:, 30:].astype(int), axis=0)).mean(axis=(1, 2, 3)).max() > 0.3


def test_a_video_at_real_speed_shows_the_whole_rollout(tmp_path: Path) -> None:
    rollout = recorded(tmp_path, CHEETAH, leaping(1.0))
    record, result = viewed(tmp_path, rollout, video=True, width=240, camera="front")
    fps, frames = film(record.video_path, 240, 180)
    assert len(frames) / fps == pytest.approx(5.0, abs=0.1)
    assert result.sizes["video.mp4"] == (240, 180)


def test_a_plain_video_has_no_text_and_no_colours_of_limbs(tmp_path: Path) -> None:
    rollout = recorded(tmp_path, CHEETAH, leaping(1.0)[:21])
    told, _ = viewed(tmp_path, rollout, video=True, width=240)
    plain, _ = viewed(tmp_path, rollout, video=True, width=240, plain=True)
    (_, with_text), (_, without) = (film(record.video_path, 240, 180) for record in (told, plain))
    assert np.ptp(without[:, :12], axis=(2, 3)).max() < 60  # sky
    assert np.ptp(with_text[:, :12], axis=(2, 3)).max() > 120
    red = [(frames[..., 0].astype(int) - frames[..., 1] > 110).sum() for frames in (with_text, without)]
    assert red[0] > red[1] + 20 * 20


def test_a_video_may_be_as_large_as_1080p(tmp_path: Path) -> None:
    rollout = recorded(tmp_path, CHEETAH, leaping(1.0)[:6])
    record, result = viewed(tmp_path, rollout, video=True, width=1920, frames=1)
    assert result.sizes["video.mp4"] == (1920, 1080)
    assert len(film(record.video_path, 1920, 1080)[1]) == 5
    (name,) = (frame.path for frame in result.frames if frame.path is not None)
    assert pixels(record.path / name).shape == (1080, 1920, 3)
    assert picture_size(ViewRequest(width=1440)) == (1440, 1080)
    with pytest.raises(ValidationError, match="less than or equal to 1920"):
        ViewRequest(width=1922)


def test_a_video_that_is_cut_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_video, "MOST", 20)
    rollout = recorded(tmp_path, CHEETAH, leaping(1.0))
    record, result = viewed(tmp_path, rollout, video=True, width=240, path_of="torso")
    assert "video 0.05-1.05 s, cut at 20 frames: ask for a later part to see the rest" in result.note
    assert len(film(record.video_path, 240, 180)[1]) == 20


def test_the_path_of_a_body_is_drawn_over_every_kind_of_picture(tmp_path: Path) -> None:
    flip, hop = (recorded(tmp_path, CHEETAH, leaping(turns)) for turns in (1.0, 0.0))
    plain, _ = viewed(tmp_path, flip, frames=1)
    record, result = viewed(tmp_path, flip, frames=1, path_of="ffoot")
    (name,) = (frame.path for frame in result.frames if frame.path is not None)
    for file in (record.sheet_path, record.path / name):
        assert purple(pixels(file)).sum() > 100
        assert purple(pixels(plain.path / file.relative_to(record.path))).sum() < 10
    assert "purple: the path of ffoot" in result.note
    two, _ = viewed(tmp_path, flip, hop, compare_with=2, path_of="ffoot")
    above, below = np.split(purple(pixels(two.sheet_path))[:644], 2)
    assert min(above.sum(), below.sum()) > 50
    with pytest.raises(UnknownName, match=r"Unknown body 'foot'\. Did you mean"):
        viewed(tmp_path, flip, path_of="foot")


def purple(picture: np.ndarray) -> np.ndarray:
    return np.asarray((picture[..., 0] > 140) & (picture[..., 1] < 90) & (picture[..., 2] > 110))


def test_two_rollouts_beside_one_another_are_at_the_same_time(tmp_path: Path) -> None:
    flip, hop = leaping(1.0), leaping(0.0)[:41]
    pair = recorded(tmp_path, CHEETAH, flip, "Iteration 1"), recorded(tmp_path, CHEETAH, hop, "Iteration 2")
    record, result = viewed(tmp_path, *pair, compare_with=2, video=True, width=240)
    fps, frames = film(record.video_path, 480, 180)
    assert result.sizes["video.mp4"] == (480, 180)
    assert len(frames) / fps == pytest.approx(5.0, abs=0.1)
    moving = np.abs(np.diff(frames[44:, 30:].astype(int), axis=0)).mean(axis=(1, 2))
    assert moving[:, :, None].max() < 5  # the second one, shorter, stays at its last state


@pytest.mark.parametrize(
    "wrong",
    [
        {"label": "../../etc/passwd"},
        {"label": "p50"},
        {"camera": "behind"},
        {"slow_motion": 0.5},
        {"slow_motion": float("nan")},
        {"slow_motion": 9},
        {"frames": 13},
        {"width": 10_000},
        {"compare_with": 0},
        {"start_s": 3, "end_s": 2},
        {"start_s": float("nan")},
        {"colour": "red"},
    ],
)
def test_a_request_out_of_range_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ViewRequest.model_validate(wrong)


def test_a_job_without_what_it_needs_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no readable request"):
        view(tmp_path)
    gone = RecordedFile(run_dir="../run", trajectory="../run/trajectory.npz", title="")
    with pytest.raises(InvalidInput, match="cannot be read"):
        viewed(tmp_path, gone)


def test_moments_with_an_event_are_kept_before_others() -> None:
    words = ("start", "", "take-off", "", "apex", "", "landing", "end")
    frames = KeyFrames(tuple(range(8)), words, "", None)
    assert pick(frames, 0) == []
    assert pick(frames, 1) == [4]
    assert pick(frames, 3) == [2, 4, 6]
    assert {0, 2, 4, 6, 7} < set(pick(frames, 6))
    assert pick(frames, 12) == list(range(8))
    even = KeyFrames(tuple(range(8)), ("start", *[""] * 6, "end"), "", None)
    assert pick(even, 4) == sorted(pick(even, 4))
    assert len(set(pick(even, 5))) == 5
