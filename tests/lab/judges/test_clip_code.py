"""Judge functions measured on clips: confined, on their sentences alone, and a failure is no verdict."""

import json
from pathlib import Path

import pytest

from p2p.agents.builtin.author import BuiltinAuthor
from p2p.cli import main
from p2p.envs import catalog
from p2p.lab.contracts.calibration import Calibration, CalibrationRequest
from p2p.lab.judges.calibrate import calibrate
from p2p.lab.judges.whole_sentence import KEY, whole
from p2p.service.workspace import Workspace
from p2p.settings import Settings

DRAFTS, REVIEWED = (Path(__file__).parent / "functions" / name for name in ("drafts", "reviewed"))
SWIMMER = "Swimmer-v5"
CRASHES = """
def judge(features):
    if features["displacement_x"][-1] > 0.5:
        raise RuntimeError("went too far")
    return {"score": 0.0}
"""
TEXT = "def judge(features):\n    return {'score': 'high', 'evidence': ''}\n"
OUTSIDE = "import os\n\ndef judge(features):\n    return {'score': 1.0}\n"
DICE = "def judge(features):\n    return {'score': float(np.random.random())}\n"
TOO_MUCH = "def judge(features):\n    return {'score': 7, 'evidence': 'far above 1'}\n"


def measured(tmp_path: Path, folder: Path, limit: int | None = None) -> Calibration:
    request = CalibrationRequest(
        judges=("predicates",),
        judge_code=(str(folder),),
        env_ids=(SWIMMER,),
        seed=4,
        variations=1,
        mutations=False,
        limit=limit,
    )
    return calibrate(Workspace(Settings(runs_dir=tmp_path / "runs")), request)


def kept(folder: Path, **sources: str) -> Path:
    for name, source in sources.items():
        path = folder / SWIMMER.lower() / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return folder


@pytest.mark.nightly
def test_a_folder_of_functions_is_measured_beside_the_predicates_on_their_sentences_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("P2P_RUNS_DIR", str(tmp_path / "runs"))
    page = tmp_path / "page.md"
    page.write_text("<!-- judge-code -->\nold\n<!-- /judge-code -->\n")
    options = ["--env", SWIMMER, "--variations", "1", "--no-mutations", "--readme", str(page), "--json"]
    assert main(["judge", "calibrate", "--judge-code", str(DRAFTS), *options]) == 0
    found = Calibration.model_validate(json.loads(capsys.readouterr().out))
    predicates, drafts = found.judges
    assert (predicates.judge, drafts.judge, found.sentences) == ("predicates", "code:drafts", 1)
    assert predicates.costly.count == 0
    assert (drafts.costly.count, drafts.costly.of) > (0, 0), "its mean speed is met by one spike"
    assert drafts.auroc is not None
    assert (drafts.score_variance, drafts.unsteady, drafts.usd_per_verdict) == (0.0, 0, 0.0)
    assert drafts.repeated > 0
    assert "| code:drafts | " in page.read_text()
    assert (tmp_path / "runs/calibration/report/plot.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.nightly
def test_what_fails_has_no_verdict_with_the_reason_and_dice_are_found_out(tmp_path: Path) -> None:
    broken = {"swim_forward": CRASHES, "swim_backward": TEXT, "stay_still": OUTSIDE}
    folder = kept(tmp_path / "broken", **broken, turn_right_180_degrees=DICE, spin_clockwise=TOO_MUCH)
    judge = measured(tmp_path, folder, limit=120).judges[1]
    missing = [mistake for mistake in judge.mistakes if mistake.passed is None]
    reasons = {mistake.sentence: mistake.reason for mistake in missing}
    assert reasons["swim forward"] == "RuntimeError: went too far"
    assert "the score is 'high'" in reasons["swim backward"]
    assert "imports 'os'" in reasons["stay still"]
    assert all(mistake.score is None for mistake in missing), "never a score of 0"
    assert any(counts.get("failed") for counts in judge.verdicts.values()), "where it did not crash it has a verdict"
    assert (judge.score_variance or 0.0) > 0.0
    assert any(mistake.sentence == "spin clockwise" and mistake.score == 1.0 for mistake in judge.mistakes)


def test_a_folder_that_cannot_be_measured_is_refused_with_what_it_should_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("P2P_RUNS_DIR", str(tmp_path / "runs"))

    def said(folder: Path, *more: str) -> str:
        assert main(["judge", "calibrate", "--judge-code", str(folder), *more]) == 2
        return capsys.readouterr().err

    (tmp_path / "empty").mkdir()
    assert "is not a folder" in said(tmp_path / "nothing")
    assert "ant-v5/walk_to_the_left.py" in said(tmp_path / "empty")
    (tmp_path / "typo" / "swimer-v5").mkdir(parents=True)
    (tmp_path / "typo" / "swimer-v5" / "swim_forward.py").write_text(TEXT)
    assert "swimmer-v5" in said(tmp_path / "typo")
    assert "the same name" in said(DRAFTS, "--judge-code", str(DRAFTS))
    wrong = kept(tmp_path / "wrong", swim_forwards=TEXT)
    assert "swim_forward.py" in said(wrong, "--env", SWIMMER, "--variations", "1")


@pytest.mark.parametrize("folder", [DRAFTS, REVIEWED], ids=lambda folder: folder.name)
def test_every_function_of_a_folder_is_for_a_sentence_that_is_understood(folder: Path) -> None:
    for path in folder.glob("*/*.py"):
        robot = next(env_id for env_id in catalog.known() if env_id.lower() == path.parent.name)
        BuiltinAuthor().elicit(path.stem.replace("_", " "), catalog.load(robot))


def test_a_function_is_told_all_that_is_asked_in_words_and_no_predicate() -> None:
    intent = BuiltinAuthor().elicit("do a backflip and land on your feet", catalog.load("HalfCheetah-v5"))
    (criterion,) = whole(intent).criteria
    assert (criterion.key, criterion.predicate) == (KEY, None)
    assert all(each.description in criterion.description for each in intent.criteria)
