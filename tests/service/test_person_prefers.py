"""What a person prefers, who has watched two videos."""

import hashlib
from pathlib import Path

import pytest

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.preference import ComparedPolicy
from p2p.contracts.session import NewSession
from p2p.contracts.training import Evaluation, Purpose
from p2p.service.judging.preferring import person_prefers
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

FIRST, SECOND = ComparedPolicy(iteration=1), ComparedPolicy(iteration=2)


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(Settings(runs_dir=tmp_path))


@pytest.fixture
def session_id(ws: Workspace) -> str:
    """Two judged iterations, of which the median rollouts are filmed."""
    name = create_session(ws, NewSession(prompt="hop forward", env_id="Hopper-v5")).session_id
    for number in (1, 2):
        report = ws.runs.session(name).iteration(number).report
        report.videos_dir.mkdir(parents=True)
        report.video("median").write_bytes(b"film %d" % number)
        report.save_evaluation(
            Evaluation(run_id="baseline_seed_10", checkpoint=1000, purpose=Purpose.REPORT, dt=0.008, rollouts=())
        )
    return name


@pytest.mark.parametrize(("better", "chosen"), [("first", FIRST), ("second", SECOND), ("same", None)])
def test_it_is_kept_with_the_videos_that_were_watched(
    ws: Workspace, session_id: str, better: str, chosen: ComparedPolicy | None
) -> None:
    found = person_prefers(ws, session_id, (FIRST, SECOND), better, " it hops higher ")
    assert (found.observer, found.better, found.agreed, found.answers) == ("person", chosen, True, (better, better))
    assert found.reasons == ("it hops higher", "it hops higher")
    for number, picture in enumerate(found.pictures, 1):
        assert (ws.runs.path / picture.path).read_bytes() == b"film %d" % number
        assert picture.sha256 == hashlib.sha256(b"film %d" % number).hexdigest()
    person_prefers(ws, session_id, (FIRST, SECOND), better, "it hops higher")  # said twice, it counts once
    assert ws.record(session_id).read_preferences() == (found,)


def test_what_nobody_can_have_watched_is_refused(ws: Workspace, session_id: str) -> None:
    with pytest.raises(InvalidInput, match="with itself"):
        person_prefers(ws, session_id, (FIRST, FIRST), "same", "x")
    with pytest.raises(InvalidInput, match="characters why"):
        person_prefers(ws, session_id, (FIRST, SECOND), "same", "  ")
    with pytest.raises(UnknownName, match="side"):
        person_prefers(ws, session_id, (FIRST, SECOND), "left", "x")
    with pytest.raises(UnknownName, match="iteration"):
        person_prefers(ws, session_id, (FIRST, ComparedPolicy(iteration=3)), "first", "x")
    with pytest.raises(InvalidInput, match="No video"):
        person_prefers(ws, session_id, (FIRST, SECOND), "first", "x", "p10")
    assert ws.record(session_id).read_preferences() == ()
