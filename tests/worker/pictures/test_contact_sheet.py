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
from p2p.worker.pictures.contact_strip import HEADER, LEFT, RIGHT, ROW, contact_rows, paste_contacts, strip_height
from p2p.worker.pictures.frame_labels import label, write_title
from p2p.worker.pictures.key_frames import KeyFrames, choose_frames
from p2p.worker.pictures.key_pictures import ShownRollout
from p2p.worker.pictures.strip_plot import angle_of, draw_strip, of_parts
from p2p.worker.render import find_renderer
from p2p.worker.render.marking import Limb


@pytest.fixture(autouse=True)
def _cast_rays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(find_renderer.VARIABLE, find_renderer.RAYCAST)
    yield
    find_renderer.forget()


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


def test_moments_without_an_event_are_spread_over_all_phases_of_any_gait() -> None:
    """Even ones would show one pose of a gait whose period is the distance between them."""
    frames = chosen(CHEETAH, leaping(0.0, height=0.0))
    assert frames.note == "no single event: about every 0.71 s, at random"
    gaps = np.diff(frames.steps)
    assert (len(gaps), frames.steps[0], frames.steps[-1]) == (7, 0, 99)
    assert gaps.min() >= 0.25 * gaps.mean()
    for period in (99 / 7, 99 / 14):
        of_one_pose = np.linspace(0, 99, 8)[1:-1]
        assert coherence(of_one_pose, period) > 0.99
        assert coherence(np.array(frames.steps[1:-1]), period) < 0.8


def coherence(steps: np.ndarray, period: float) -> float:
    """1 where all steps are in one phase of a gait, 0 where they are spread evenly over it."""
    return float(abs(np.exp(2j * np.pi * steps / period).mean()))


def test_moments_at_random_are_the_same_at_every_call_and_others_of_another_start() -> None:
    calm = leaping(0.0, height=0.0)
    moved = calm + np.array([0.0, 0.013, *[0.0] * (CHEETAH.nq - 2)])
    assert chosen(CHEETAH, calm) == chosen(CHEETAH, calm)
    assert chosen(CHEETAH, calm).steps != chosen(CHEETAH, moved).steps


@pytest.mark.parametrize("height", [0.13, 0.5])
def test_each_of_several_jumps_gets_its_take_off_apex_and_landing(height: float) -> None:
    begins = (0.5, 2.0, 3.5)
    jumps = sum(leaping(0.0, begin, lasting=0.5, height=height)[:, 1] for begin in begins)
    qpos = leaping(0.0, height=0.0)
    qpos[:, 1] = jumps - 2 * qpos[:, 1]
    frames = chosen(CHEETAH, qpos)
    assert frames.note.startswith("3 jumps")
    moments = dict(zip(frames.words, frames.steps, strict=True))
    for number, begin in enumerate(begins, start=1):
        times = [(moments[f"{word} {number}"] + 1) * CHEETAH.dt for word in ("take-off", "apex", "landing")]
        assert times == sorted(times)
        assert begin - 0.06 <= times[0] <= times[2] <= begin + 0.56
    assert len(frames.steps) <= 12


def test_jumps_that_do_not_fit_whole_are_shown_in_part() -> None:
    begins = np.arange(0.2, 4.8, 0.46)
    jumps = sum(leaping(0.0, begin, lasting=0.3, height=0.6)[:, 1] for begin in begins)
    qpos = leaping(0.0, height=0.0)
    qpos[:, 1] = jumps - (len(begins) - 1) * qpos[:, 1]
    frames = chosen(CHEETAH, qpos)
    assert sum(word.startswith("apex") for word in frames.words) == len(begins)
    assert len(frames.steps) == 12


def test_pitch_in_a_plane_is_absolute_and_counts_on() -> None:
    """A robot that starts upside down is shown so, and one that flips is told how often."""
    upside_down = leaping(0.0, height=0.0)
    upside_down[:, 2] = np.pi
    upside_down[:, 1] += 1.0
    features = measured(CHEETAH, upside_down)
    angle = angle_of(features, "pitch_turns")
    assert angle is not None
    assert angle.name == "pitch"
    assert np.abs(angle.degrees) == pytest.approx(180.0, abs=0.1)
    frames = choose_frames(features, CHEETAH.dt, CHEETAH.rest_height)
    rollout = ShownRollout(CHEETAH, compiled_model(CHEETAH, {}), upside_down[1:], features)
    assert label(rollout, frames, 0).angle in ("pitch=+180° up=-1.00", "pitch=-180° up=-1.00")
    flip = angle_of(measured(CHEETAH, leaping(2.0)), "pitch_turns")
    assert flip is not None
    assert flip.degrees[-1] - flip.degrees[0] == pytest.approx(720.0, abs=0.5)


def test_turns_in_space_are_said_to_be_since_the_start() -> None:
    qpos = spinning(1.0)
    features = measured(ANT, qpos)
    frames = choose_frames(features, ANT.dt, ANT.rest_height)
    angle = angle_of(features, frames.rotation)
    assert angle is not None
    assert "turned since start" in angle.title
    rollout = ShownRollout(ANT, compiled_model(ANT, {}), qpos[1:], features)
    assert label(rollout, frames, len(frames.steps) - 1).angle.startswith("yaw turned=+360° up=+1.00")


def test_contacts_over_time_are_black_where_a_foot_or_the_trunk_is_down() -> None:
    qpos = leaping(0.0)
    features = measured(CHEETAH, qpos)
    rollout = ShownRollout(CHEETAH, compiled_model(CHEETAH, {}), qpos[1:], features)
    rows = contact_rows(rollout)
    assert [row.name for row in rows] == ["back foot", "front foot", "trunk"]
    page = Image.new("RGB", (800, strip_height(rows)), "white")
    frames = choose_frames(features, CHEETAH.dt, CHEETAH.rest_height)
    paste_contacts(page, 0, rows, features["time"], frames)
    shown = np.asarray(page).astype(int)
    edges = np.linspace(LEFT, RIGHT, len(features["time"]) + 1)
    for number, row in enumerate(rows):
        line = shown[HEADER + number * ROW + ROW // 2]
        for step in set(range(len(features["time"]))) - set(frames.steps):
            dark = line[round((edges[step] + edges[step + 1]) / 2)].max() < 60
            assert dark == (row.contact[step] > 0), (row.name, step)
    assert 0 < sum(row.contact.sum() for row in rows) < 2 * len(features["time"])


def test_feet_of_one_side_are_told_apart_by_their_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    qpos = leaping(0.0)
    rollout = ShownRollout(CHEETAH, compiled_model(CHEETAH, {}), qpos[1:], measured(CHEETAH, qpos))
    monkeypatch.setattr("p2p.worker.pictures.contact_strip.limb_at", lambda *_: Limb("right", frozenset({1})))
    assert [row.name for row in contact_rows(rollout)] == ["bfoot", "ffoot", "trunk"]


def test_an_event_stands_in_the_picture_and_not_on_the_numbers(tmp_path: Path) -> None:
    qpos = leaping(-2.0, lasting=1.4)
    features = measured(CHEETAH, qpos)
    frames = write_contact_sheet(
        tmp_path / "sheet.jpg", compiled_model(CHEETAH, {}), CHEETAH, qpos[1:], features, "two flips"
    )
    with Image.open(tmp_path / "sheet.jpg") as sheet:
        pixels = np.asarray(sheet).astype(int)
    red = pixels[..., 0] - pixels[..., 1:].max(axis=2) > 60
    width = 800 // -(-len(frames.steps) // 2)
    for row in (0, 1):
        numbers = red[22 + 190 * row + 153 : 22 + 190 * (row + 1)]
        assert not numbers.any()
    first = red[22:40, 20 : width - 2]
    assert first.sum() > 20  # "start"


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


@pytest.mark.parametrize(
    ("note", "title_ends"),
    [("", (700, 800)), ("a note " * 4, (500, 700)), ("a long note " * 40, (300, 400))],
    ids=["none", "short", "long"],
)
def test_a_long_title_has_what_a_note_leaves_and_half_at_least(note: str, title_ends: tuple[int, int]) -> None:
    page = Image.new("RGB", (800, 22), "white")
    write_title(page, 0, "walk and then turn around " * 20, note)
    dark = np.flatnonzero((np.asarray(page) < 80).any(axis=(0, 2)))  # a note is pale
    assert title_ends[0] < dark.max() < title_ends[1]
    inked = np.flatnonzero((np.asarray(page) < 250).any(axis=(0, 2)))
    assert inked.max() < 800
    assert set(range(dark.max() + 3, dark.max() + 8)).isdisjoint(inked), "a gap is between them"


def test_frames_on_a_sheet_show_different_poses(tmp_path: Path) -> None:
    qpos = leaping(1.0)
    features = measured(CHEETAH, qpos)
    write_contact_sheet(tmp_path / "sheet.jpg", compiled_model(CHEETAH, {}), CHEETAH, qpos[1:], features, "flip")
    with Image.open(tmp_path / "sheet.jpg") as sheet:
        pixels = np.asarray(sheet).astype(int)
    cells = [pixels[22 + 190 * row : 22 + 190 * row + 140, 200 * c : 200 * c + 190] for row in (0, 1) for c in range(4)]
    assert all(np.abs(cells[i] - cells[j]).mean() > 1.0 for i in range(1, 6) for j in range(i))


def test_what_criteria_read_of_parts_is_plotted_too_and_what_only_sums_up_is_not() -> None:
    qpos = leaping(0.0)
    features = dict(measured(CHEETAH, qpos))
    frames = choose_frames(features, CHEETAH.dt, CHEETAH.rest_height)
    plain = draw_strip(features, frames, CHEETAH.dt, (800, 150))
    sums = features | {"leg_swing:bfoot": features["height"], "stance_share:bfoot": features["height"]}
    assert np.array_equal(plain, draw_strip(sums, frames, CHEETAH.dt, (800, 150)))
    read = sums | {"impact": features["clearance"]}
    panels = [panel.title for panel in of_parts(read)]
    assert panels == ["impact"]
    assert not np.array_equal(plain, draw_strip(read, frames, CHEETAH.dt, (800, 150)))
    (feet,) = of_parts(features | {"pitch:bfoot": features["pitch"], "pitch:ffoot": features["pitch"]})
    assert (feet.title, list(feet.lines)) == ("pitch [rad]", ["bfoot", "ffoot"])
    (head,) = of_parts(features | {"height:head": features["height"], "height:head - height": features["height"]})
    assert head.title == "height:head - height"
    many = {f"joint_angle:joint_{number}": features["pitch"] for number in range(20)}
    assert of_parts(features | many) == []
