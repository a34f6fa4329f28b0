"""`p2p label`: people's scores of rollouts, held against the judges'."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from session_views import judgment
from typer.testing import CliRunner

from p2p.cli.app import app
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.judgment import RolloutScore
from p2p.contracts.session import NewSession
from p2p.service.judging.labelling import label_rollout
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

RECORDED = {"p10": 0.2, "median": 0.5, "p90": 0.9}


def label(tmp_path: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["label", *words, "--runs-dir", str(tmp_path)])


@pytest.fixture
def judged(tmp_path: Path) -> tuple[Workspace, str]:
    """A session whose only iteration is judged."""
    ws = Workspace(Settings(runs_dir=tmp_path))
    request = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")
    session_id = create_session(ws, request).session_id
    rollouts = tuple(
        RolloutScore(seed=seed, episode_return=1.0, label=name, intent_score=score, success=False, values={})
        for seed, (name, score) in enumerate(RECORDED.items())
    )
    recorded = judgment().model_copy(update={"rollouts": rollouts, "run_id": "config_0_seed_1"})
    ws.record(session_id).iteration(1).save_judgment(recorded)
    return ws, session_id


def test_labels_are_held_against_what_the_judges_gave(judged: tuple[Workspace, str]) -> None:
    tmp_path = judged[0].runs.path
    assert "No rollout is labelled yet" in label(tmp_path).output
    for name, score in (("p10", 0.1), ("median", 0.6), ("p90", 1.0)):
        done = label(tmp_path, "latest", "--score", str(score), "--rollout", name, "--by", "Ada", "--comment", "seen")
        assert done.exit_code == 0, done.output
    found = json.loads(label(tmp_path, "latest", "--json").stdout)
    assert [one["judged"] for one in found["labels"]] == list(RECORDED.values())
    assert found["agreement"] == {
        "n": 3,
        "threshold": 0.8,
        "spearman": pytest.approx(1.0),
        "kappa": 1.0,
        "same_side": 1.0,
    }
    shown = label(tmp_path, "--all").output
    assert "3 labels, 100% on the same side of 0.8 as the judges" in shown
    assert "Ada" in shown


def test_a_later_label_of_the_same_person_replaces_the_earlier(judged: tuple[Workspace, str]) -> None:
    ws, session_id = judged
    label_rollout(ws, session_id, 0.1, "Ada")
    label_rollout(ws, session_id, 0.7, "Ada")
    labels = label_rollout(ws, session_id, 0.3, "Grace").labels
    assert [(one.annotator, one.score) for one in labels] == [("Ada", 0.7), ("Grace", 0.3)]


def test_a_broken_line_loses_no_other_label(judged: tuple[Workspace, str]) -> None:
    ws, session_id = judged
    label_rollout(ws, session_id, 0.1, "Ada")
    with ws.record(session_id).labels_path.open("a") as file:
        file.write('{"iteration": 1}\nno json\n')
    assert len(label_rollout(ws, session_id, 0.2, "Grace").labels) == 2


def test_what_cannot_be_labelled_is_refused_with_what_can(judged: tuple[Workspace, str]) -> None:
    ws, session_id = judged
    with pytest.raises(UnknownName, match="Known: median, p10, p90"):
        label_rollout(ws, session_id, 0.5, "Ada", rollout="best")
    with pytest.raises(InvalidInput, match=r"score cannot be 1\.5"):
        label_rollout(ws, session_id, 1.5, "Ada")
    with pytest.raises(InvalidInput, match="annotator cannot be ''"):
        label_rollout(ws, session_id, 0.5, "  ")
    bare = create_session(ws, NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5")).session_id
    with pytest.raises(InvalidInput, match="nothing judged yet"):
        label_rollout(ws, bare, 0.5, "Ada")
    ws.record(bare).iteration(1).save_judgment(judgment())  # of an iteration no run of which was recorded
    with pytest.raises(InvalidInput, match="no recorded rollouts"):
        label_rollout(ws, bare, 0.5, "Ada")
    assert not ws.record(session_id).labels_path.exists()
