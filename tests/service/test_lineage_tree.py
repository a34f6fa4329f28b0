"""The tree of attempts as it is drawn, from judged iterations and the one under way."""

from pathlib import Path

import pytest
from finished_iterations import judgment

from p2p.contracts.errors import UnknownName
from p2p.contracts.reward import Change, Revision
from p2p.contracts.session import NewSession, SessionAnalysis
from p2p.service.progress.lineage import record_iteration
from p2p.service.progress.lineage_tree import lineage_tree
from p2p.service.sessions.analyzing import written_analysis
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store.sessions import SessionRecord

WEIGHT = Change(kind="reward", name="jump", old=2.0, new=4.0, reason="it stays low")


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(Settings(runs_dir=tmp_path))


@pytest.fixture
def record(ws: Workspace) -> SessionRecord:
    """Iterations 2 and 3 both go on from 1; 4 goes on from 2 and is under way."""
    asked = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", max_iterations=9)
    record = ws.runs.session(create_session(ws, asked).session_id)
    for number, (score, based_on) in enumerate(((0.3, 1), (0.6, 1), (0.5, 2)), 1):
        iteration = record.iteration(number)
        iteration.save_reward_source("pass")
        iteration.save_judgment(judgment("baseline_seed_10", score, 1000))
        record_iteration(record, number)
        iteration.save_revision(
            Revision(based_on=based_on, diagnosis="low", lesson=f"lesson {number}", changes=(WEIGHT,), source="pass")
        )
    record.iteration(4).save_reward_source("pass")
    return record


def test_each_iteration_hangs_below_the_one_it_changed(ws: Workspace, record: SessionRecord) -> None:
    tree = lineage_tree(ws, record.session_id)
    assert [(node.iteration, node.parent, node.score) for node in tree.nodes] == [
        (1, None, 0.3),
        (2, 1, 0.6),
        (3, 1, 0.5),
        (4, 2, None),
    ]
    assert [node.star for node in tree.nodes] == [True, True, False, False]
    assert [node.best for node in tree.nodes] == [False, True, False, False]
    assert [node.verdict for node in tree.nodes] == ["failed", "failed", "failed", None]
    assert [node.changes for node in tree.nodes] == [(), (WEIGHT,), (WEIGHT,), (WEIGHT,)]
    assert tree.nodes[3].lesson == "lesson 3"
    assert tree.lessons == record.read_lineage().lessons
    assert [lesson.text for lesson in tree.lessons] == ["lesson 1", "lesson 2"]


def test_a_session_without_iterations_has_an_empty_tree(ws: Workspace) -> None:
    asked = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
    name = create_session(ws, asked).session_id
    assert lineage_tree(ws, name).nodes == ()
    with pytest.raises(UnknownName, match="session"):
        lineage_tree(ws, "nobody")


def test_asking_for_the_report_writes_none(ws: Workspace, record: SessionRecord) -> None:
    before = sorted(path.name for path in record.path.iterdir())
    assert written_analysis(ws, record.session_id) is None
    assert sorted(path.name for path in record.path.iterdir()) == before
    written = SessionAnalysis(
        session_id=record.session_id,
        iterations=3,
        analysis="It rises.",
        key_findings=("0.6 in iteration 2",),
        recommendations=(),
        written_by="builtin",
    )
    record.save_analysis(written)
    assert written_analysis(ws, record.session_id) == written
