from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from constructed_motions import ANT, CHEETAH, leaping, measured, spinning
from PIL import Image

from p2p.contracts.env import EnvSpec
from p2p.envs import catalog
from p2p.worker.engine.environment import compiled_model
from p2p.worker.pictures.contact_sheet import write_contact_sheet
from p2p.worker.pictures.key_frames import KeyFrames, choose_frames
from p2p.worker.render import probe


@pytest.fixture(autouse=True)
def _cast_rays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(probe.VARIABLE, probe.RAYCAST)
    yield
    probe.forget()


def chosen(spec: EnvSpec, qpos: np.ndarray) -> KeyFrames:
    return choose_frames(measured(spec, qpos), spec.dt, spec.rest_height)


@pytest.mark.parametrize("turns", [1.0, -1.0])
@pytest.mark.parametrize("begin", [0.6, 1.33, 3.1])
def test_a_flip_is_shown_from_take_off_to_landing(turns: float, begin: float) -> None:
    features = measured(CHEETAH, leaping(turns, begin))
    frames = choose_frames(features, CHEETAH.dt, CHEETAH.rest_height)
    words = [word for word in frames.words if word]
    assert words == ["start", "take-off", "apex", "landing", "end"]
    assert frames.steps[frames.words.index("apex")] == np.argmax(features["height"])
    assert len(frames.steps) in (8, 10)
    degrees = 360 * features["pitch_turns"][list(frames.steps)]
    assert np.abs(np.diff(degrees)).max() <= 90
    assert f"{360 * turns:+.0f} deg" in frames.note


def test_two_flips_get_more_frames_instead_of_larger_angles() -> None:
    qpos = leaping(2.0, lasting=1.4)
    frames, degrees = chosen(CHEETAH, qpos), 360 * measured(CHEETAH, qpos)["pitch_turns"]
    assert len(frames.steps) in (10, 12)
    assert np.abs(np.diff(degrees[list(frames.steps)])).max() <= 90


def test_many_turns_are_shown_in_part_and_the_sheet_says_so() -> None:
    qpos = spinning(5.0)
    frames, degrees = chosen(ANT, qpos), 360 * measured(ANT, qpos)["yaw_turns"]
    assert len(frames.steps) == 12
    assert np.abs(np.diff(degrees[list(frames.steps)][:-1])).max() <= 90
    assert "frames 2-11 show" in frames.note
    assert frames.rotation == "yaw_turns"


def test_a_turn_on_the_floor_has_no_take_off() -> None:
    words = set(chosen(ANT, spinning(1.0)).words)
    assert {"turn starts", "turn ends"} <= words
    assert not {"take-off", "apex", "landing"} & words


def test_of_a_turn_there_and_back_and_there_again_the_last_is_shown() -> None:
    times = np.arange(1.0, 101.0) * 0.05
    turns = np.interp(times, [1.0, 1.5, 2.0, 2.5, 3.0, 5.0], [0.0, 0.49, 0.01, 0.5, 0.1, 0.1])
    frames = choose_frames({"time": times, "pitch_turns": turns, "height": np.ones(100)}, 0.05, 1.0)
    moments = dict(zip(frames.words, frames.steps, strict=True))
    assert times[moments["turn starts"]] == pytest.approx(2.0, abs=0.06)
    assert times[moments["turn ends"]] == pytest.approx(2.5, abs=0.06)


def test_a_jump_without_a_turn_shows_its_apex() -> None:
    features = measured(CHEETAH, leaping(0.0))
    frames = choose_frames(features, CHEETAH.dt, CHEETAH.rest_height)
    assert frames.steps[frames.words.index("apex")] == np.argmax(features["height"])
    assert frames.note.startswith("jump")


def test_a_rollout_without_an_event_gets_even_frames_and_the_sheet_says_so() -> None:
    frames = chosen(CHEETAH, leaping(0.0, height=0.0))
    assert np.ptp(np.diff(frames.steps)) <= 1
    assert frames.note == "no single event: even frames, 0.71 s apart"


def test_the_flights_of_a_gait_are_not_called_jumps() -> None:
    strides = sum(leaping(0.0, begin, lasting=0.4, height=0.3)[:, 1] for begin in np.arange(0.5, 4.5, 0.5))
    qpos = leaping(0.0, height=0.0)
    qpos[:, 1] = strides - 7 * qpos[:, 1]
    assert chosen(CHEETAH, qpos).note.startswith("no single event")


def test_a_rollout_shorter_than_a_sheet_is_shown_whole() -> None:
    frames = chosen(CHEETAH, leaping(0.0)[:4])
    assert frames.steps == (0, 1, 2)


@pytest.mark.parametrize("env_id", catalog.known())
def test_a_sheet_of_any_environment_is_small_and_of_one_size(env_id: str, tmp_path: Path) -> None:
    spec = catalog.load(env_id)
    model = compiled_model(spec, {})
    qpos = np.tile(model.qpos0, (31, 1)) + 0.01 * np.sin(np.arange(31))[:, None]
    write_contact_sheet(tmp_path / "sheet.jpg", model, spec, qpos[1:], measured(spec, qpos), env_id)
    with Image.open(tmp_path / "sheet.jpg") as sheet:
        assert sheet.format == "JPEG"
        assert sheet.size == (800, 600)
    assert (tmp_path / "sheet.jpg").stat().st_size < 150_000


def test_a_landing_that_is_not_one_is_not_called_so() -> None:
    """The words are tied to contacts: take-off is the first step in the air, landing the first on the floor again."""
    features = measured(CHEETAH, leaping(1.0))
    frames = choose_frames(features, CHEETAH.dt, CHEETAH.rest_height)
    moments = dict(zip(frames.words, frames.steps, strict=True))
    airborne = features["airborne"] > 0.5
    assert airborne[moments["take-off"]]
    assert not airborne[moments["take-off"] - 1]
    assert not airborne[moments["landing"]]
    assert airborne[moments["landing"] - 1]


@pytest.mark.parametrize("title", ["a\nb\tc\x00", "x" * 500, "$\\frac{$ <b>", "\u202e\u200b\U0001f600", ""])
def test_any_title_fits_on_one_line(title: str, tmp_path: Path) -> None:
    qpos = leaping(1.0)
    features = measured(CHEETAH, qpos)
    plain, odd = tmp_path / "plain.jpg", tmp_path / "odd.jpg"
    model = compiled_model(CHEETAH, {})
    write_contact_sheet(plain, model, CHEETAH, qpos[1:], features, "")
    write_contact_sheet(odd, model, CHEETAH, qpos[1:], features, title)
    with Image.open(plain) as one, Image.open(odd) as other:
        difference = np.abs(np.asarray(one, dtype=int) - np.asarray(other, dtype=int)).max(axis=2)
    changed = np.argwhere(difference > 60)
    assert not len(changed) or changed[:, 0].max() < 22
    note = difference[:, 560:]
    assert note.max() < 60


def test_frames_on_a_sheet_show_different_poses(tmp_path: Path) -> None:
    qpos = leaping(1.0)
    features = measured(CHEETAH, qpos)
    write_contact_sheet(tmp_path / "sheet.jpg", compiled_model(CHEETAH, {}), CHEETAH, qpos[1:], features, "flip")
    with Image.open(tmp_path / "sheet.jpg") as sheet:
        pixels = np.asarray(sheet).astype(int)
    cells = [pixels[22 + 190 * row : 22 + 190 * row + 140, 200 * c : 200 * c + 190] for row in (0, 1) for c in range(4)]
    assert all(np.abs(cells[i] - cells[j]).mean() > 1.0 for i in range(1, 6) for j in range(i))
