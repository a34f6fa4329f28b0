"""What people do with a session, from Python and by command: what is kept is what pages show."""

import json
from pathlib import Path

import pytest
from made_up_sessions import FIRST, RECORDED, copy_of

import p2p
from p2p.cli import main
from p2p.contracts.errors import InvalidInput
from p2p.store.iterations import IterationRecord


@pytest.fixture
def session(tmp_path: Path) -> p2p.Session:
    copy_of(RECORDED, tmp_path / "runs", FIRST)
    return p2p.load_session(FIRST, runs_dir=tmp_path / "runs")


def test_a_session_is_named_capped_and_reported_on(session: p2p.Session) -> None:
    session.edit(alias="pole", starred=True, add_tags=("a",))
    assert (session.view.metadata.alias, session.view.metadata.starred) == ("pole", True)
    session.set_caps(dollars=5.0)
    assert session.view.session.caps.dollars == 5.0
    with pytest.raises(InvalidInput):
        session.set_caps(euros=5.0)
    assert session.analyze().iterations == 2


def test_what_a_person_prefers_is_kept_from_python_and_by_command(
    session: p2p.Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (1, 2):
        iteration = IterationRecord(session.path / f"iter_{number}")
        video = iteration.report.video("median")
        video.parent.mkdir(parents=True, exist_ok=True)
        video.write_bytes(b"watched")
    better = session.prefer(1, 2, "second", "it stays up longer").better
    assert better is not None
    assert better.iteration == 2
    words = ["compare", FIRST, "1", "2", "--better", "first", "--json", "--runs-dir", str(tmp_path / "runs")]
    assert main(words) == 2
    assert "--because" in capsys.readouterr().out
    assert main([*words, "--because", "it moves less"]) == 0
    kept = json.loads(capsys.readouterr().out)
    assert (kept["better"]["iteration"], kept["observer"]) == (1, "person")
    said = [one.reasons[0] for one in session.compare_iterations(1, 2).preferences]
    assert "it moves less" in said


def test_a_session_goes_to_the_trash_comes_back_and_goes_for_good(session: p2p.Session) -> None:
    place = session.path
    with pytest.raises(InvalidInput):
        session.purge()
    session.delete().restore()
    assert place.exists()
    session.delete().purge()
    assert not place.exists()
