import json
from pathlib import Path

import pytest

from p2p.cli import main
from p2p.cli.view import shown
from p2p.contracts.frame import FrameNote
from p2p.contracts.session import NewSession
from p2p.contracts.work import PictureFile, RolloutPictures
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _runs_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("P2P_RUNS_DIR", str(tmp_path / "runs"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["view", "--label", "../../etc/passwd"], "--label: Input should be 'p10', 'median' or 'p90'"),
        (["view", "--camera", "behind"], "--camera"),
        (["view", "--slow", "9"], "'--slow': Input should be less than or equal to 8"),
        (["view", "--from", "3", "--to", "2"], "--to must be later than --from"),
        (["view", "--frames", "-1"], "--frames"),
        (["view"], "Unknown session 'latest'"),
        (["plot", "--what", "curves"], "Unknown plot 'curves'. Did you mean 'curve'?"),
        (["plot"], "Unknown session 'latest'"),
    ],
)
def test_what_cannot_be_shown_exits_2_and_says_what_can(words: list[str], said: str, capsys: Capture) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err
    assert main([*words, "--json"]) == 2
    assert said in json.loads(capsys.readouterr().out)["error"]["message"]


def test_pictures_are_listed_with_their_moments() -> None:
    sheet = PictureFile(path="s/iter_2/views/a/sheet.jpg", size_bytes=9, width=800, height=600, mime_type="image/jpeg")
    made = RolloutPictures(
        session_id="s",
        iteration=2,
        compared_with=1,
        label="p90",
        sheet=sheet,
        frames=(FrameNote(index=1, t_s=0.05, step=1, event="start"),),
        frame_files=(),
        video=sheet.model_copy(update={"path": "s/iter_2/views/a/video.mp4"}),
        note="jump",
    )
    lines = [str(part) for part in shown(made, Path("/runs"))]
    assert lines[0] == "Iteration 2 beside iteration 1, p90 rollout: jump."
    assert lines[-2:] == ["  /runs/s/iter_2/views/a/sheet.jpg", "  /runs/s/iter_2/views/a/video.mp4"]


def test_comparing_without_a_model_names_what_a_terminal_has(tmp_path: Path, capsys: Capture) -> None:
    request = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
    name = create_session(Workspace(Settings(runs_dir=tmp_path / "runs")), request).session_id
    assert main(["compare", name, "1", "2"]) == 2
    words = " ".join(capsys.readouterr().err.split())
    assert f"look yourself: p2p view {name}" in words
    assert "--judge-model PROVIDER:MODEL" in words
    assert "calling_agent" not in words
