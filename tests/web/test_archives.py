"""Archives: what is in them is what lies on the disk, and nothing else is."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from asking import EXAMPLES, VIDEO, Asking
from made_up_sessions import SECOND, copy_of

import p2p
from p2p.cli import main
from p2p.contracts.training import Purpose
from p2p.contracts.work import ExportReport, RecordedEpisode, ReturnStatistics
from p2p.store.exports import ExportedFiles

SESSION = EXAMPLES["session_id"]
RETURNS = ReturnStatistics(n=1, mean=1.0, std=0.0, low=None, high=None)


@pytest.fixture
def exported(seeded: Path) -> ExportedFiles:
    """A finished export with a policy of 3 MB, a card, and a file that does not belong to it."""
    found = ExportedFiles(seeded / SESSION / "export/one")
    found.path.mkdir(parents=True)
    found.policy_path.write_bytes(bytes(range(256)) * 12_000)
    found.save_card("# A policy")
    (found.path / "notes.txt").write_text("a person's own")
    episode = RecordedEpisode(
        env_id="InvertedPendulum-v5",
        env_kwargs={},
        frame_skip=2,
        seed=1,
        steps=10,
        purpose=Purpose.REPORT,
        label="median",
        trained_return=1.0,
        gymnasium_return=1.0,
    )
    found.save_report(
        ExportReport(
            run_id="baseline_seed_10",
            checkpoint=4096,
            episode=episode,
            checks=(),
            trained_returns=RETURNS,
            gymnasium_returns=RETURNS,
            versions={},
        )
    )
    return found


def contents(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name) for name in opened.namelist()}


def test_an_export_comes_as_an_archive_with_all_its_files(web: Asking, exported: ExportedFiles) -> None:
    answer = web("GET", f"/api/sessions/{SESSION}/exports/one.zip")
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"] == f'attachment; filename="{SESSION}_one.zip"'
    assert contents(answer.body) == {path.name: path.read_bytes() for path in exported.present()}
    assert "notes.txt" not in contents(answer.body)


@pytest.mark.usefixtures("exported")
def test_several_sessions_come_as_one_archive_by_page_command_and_python(
    web: Asking, seeded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_of(seeded / SESSION, seeded, SECOND)
    assert 'formaction="/api/results.zip"' in web("GET", "/e2e").body.decode()
    answer = web("GET", f"/api/results.zip?back=%2Fe2e&tag=&session={SESSION}&session={SECOND}")
    found = contents(answer.body)
    for session in (SESSION, SECOND):
        for name in ("session.json", "criteria.json", "iter_2/judgment.json", "export/one/README.md"):
            assert found[f"{session}/{name}"] == (seeded / session / name).read_bytes()
        assert any(name.startswith(f"{session}/iter_2/baseline") for name in found)
    assert not any("notes.txt" in name or "events" in name for name in found)
    by_command = tmp_path / "command.zip"
    words = ["pack", SESSION, SECOND, "--output", str(by_command), "--json", "--runs-dir", str(seeded)]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out) == {"archive": str(by_command), "files": len(found)}
    one, two = (p2p.load_session(name, runs_dir=seeded) for name in (SESSION, SECOND))
    by_python = one.pack(tmp_path / "python.zip", two)
    assert contents(by_command.read_bytes()) == contents(by_python.read_bytes()) == found


def test_a_video_of_the_best_attempt_is_in_the_archive(web: Asking, seeded: Path) -> None:
    videos = seeded / SESSION / "iter_2/report/videos"
    videos.mkdir(parents=True)
    (videos / "median.mp4").write_bytes(VIDEO)
    found = contents(web("GET", f"/api/results.zip?session={SESSION}").body)
    assert found[f"{SESSION}/iter_2/report/videos/median.mp4"] == VIDEO


def test_no_sessions_or_unknown_ones_are_refused(web: Asking) -> None:
    assert web("GET", "/api/results.zip").status == 422
    assert web("GET", "/api/results.zip?session=nobody").status == 404
