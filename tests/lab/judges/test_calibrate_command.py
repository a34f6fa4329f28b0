"""`p2p judge calibrate`: the whole set with one command."""

import json
from pathlib import Path

import pytest

from p2p.cli import main
from p2p.lab.contracts.calibration import Calibration, CalibrationRequest, HeldOut, MutationFamily
from p2p.lab.records import ClipsRecord

OUT_OF_ITS_PLANE = {MutationFamily.WEAVING, MutationFamily.SMALL_LEAN, MutationFamily.OVERSHOOT}
"""Changes of heading or roll, which a robot in a plane cannot make."""

pytestmark = pytest.mark.usefixtures("runs_dir")
Capture = pytest.CaptureFixture[str]


def test_judge_calibrate_is_the_command_calibrate(capsys: Capture) -> None:
    assert main(["judge", "calibrate", "--help"]) == 0
    assert "of known truth" in capsys.readouterr().out


def test_what_does_not_exist_is_refused_with_what_does(capsys: Capture) -> None:
    assert main(["calibrate", "--judge", "oracle"]) == 2
    assert "predicates" in capsys.readouterr().err
    assert main(["calibrate", "--env", "Reacher-v5"]) == 2
    assert "Hopper-v5" in capsys.readouterr().err
    assert main(["calibrate", "--video", "ant-001-00"]) == 2
    assert "p2p judge calibrate" in capsys.readouterr().err


def test_one_robot_is_measured_reported_drawn_and_filmed(tmp_path: Path, runs_dir: Path, capsys: Capture) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- judges -->\nold\n<!-- /judges -->\nafter\n")
    options = ["--env", "Swimmer-v5", "--variations", "1", "--no-mutations", "--readme", str(page), "--json"]
    assert main(["judge", "calibrate", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["judges"][0]["costly"]["count"] == 0
    assert "| predicates | mended on | 0 of " in page.read_text()
    assert "old" not in page.read_text()
    report = runs_dir / "calibration" / "report"
    assert json.loads((report / "report.json").read_text()) == found
    assert (report / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert main(["calibrate", "--video", "nothing", "--json"]) == 2
    assert "swimmer-" in capsys.readouterr().out


@pytest.mark.nightly
def test_held_out_clips_are_told_as_rates_and_neither_listed_nor_filmed(runs_dir: Path, capsys: Capture) -> None:
    held = HeldOut.drawn(CalibrationRequest().hold_out_seed)
    options = ["--env", "HalfCheetah-v5", "--variations", "1", "--json"]
    main(["judge", "calibrate", *options])
    found = Calibration.model_validate_json(capsys.readouterr().out)
    assert found.held_out == held
    assert not held.opened
    assert sum(rates.false_fails.of for rates in found.never_looked_at[0].by_sentence) > 10
    assert found.never_looked_at[0].mistakes == ()
    assert not {*found.judges[0].by_mutation} & {*held.families}
    assert {*found.never_looked_at[0].by_mutation} == {*held.families} - OUT_OF_ITS_PLANE
    clips = ClipsRecord(runs_dir / "calibration" / "halfcheetah-v5").read_clips()
    assert clips is not None
    listed = {mistake.clip_id for mistake in found.judges[0].mistakes}
    assert not any(held.holds(clip) for clip in clips.clips if clip.clip_id in listed)
    hidden = next(clip.clip_id for clip in clips.clips if held.holds(clip))
    assert main(["calibrate", "--video", hidden]) == 2
    assert "held out" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.nightly
def test_the_whole_set_meets_the_targets(capsys: Capture) -> None:
    assert main(["judge", "calibrate", "--seed", "2", "--no-mutations", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sum(found["clips"].values()) >= 700


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.usefixtures("pictures")
def test_a_clip_is_filmed(capsys: Capture, runs_dir: Path) -> None:
    assert main(["judge", "calibrate", "--env", "Swimmer-v5", "--variations", "1", "--no-mutations", "--json"]) == 0
    capsys.readouterr()
    clips = ClipsRecord(runs_dir / "calibration" / "swimmer-v5").read_clips()
    assert clips is not None
    held = HeldOut.drawn(CalibrationRequest().hold_out_seed)
    clip_id = next(clip.clip_id for clip in clips.clips if not held.holds(clip))
    assert main(["calibrate", "--video", clip_id, "--json"]) == 0
    film = json.loads(capsys.readouterr().out)
    assert (runs_dir / film["video"]).stat().st_size > 1000
    assert (runs_dir / film["sheet"]).stat().st_size > 1000
