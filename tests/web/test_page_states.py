"""What pages say where something is absent, broken or refused."""

import json
import resource
import shutil
import sys
from pathlib import Path

import pytest
from asking import EXAMPLES, Asking
from test_pages import form

from p2p.contracts.node import Node
from p2p.contracts.session import NewSession
from p2p.service.machines.nodes import add_node
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

SESSION = EXAMPLES["session_id"]


def text_of(web: Asking, address: str) -> str:
    return web("GET", address).body.decode()


def test_without_sessions_the_list_says_how_to_begin(web: Asking, tmp_path: Path) -> None:
    web.app.state.workspace = Workspace(Settings(runs_dir=tmp_path / "none"))
    assert "No session yet" in text_of(web, "/e2e")
    assert "p2p run" in text_of(web, "/e2e")
    assert "No run yet" in text_of(web, "/benchmark")
    assert "Nothing here" in text_of(web, "/trash")
    assert "None yet" in text_of(web, "/monitor")
    assert "Nothing waits for ada" in text_of(web, "/label?annotator=ada")


def test_before_its_first_recording_an_iteration_says_what_will_be_there(web: Asking) -> None:
    ws: Workspace = web.app.state.workspace
    name = create_session(ws, NewSession(prompt="hop forward", env_id="Hopper-v5")).session_id
    ws.runs.session(name).iteration(1).save_reward_source("pass")
    assert "No evaluation yet" in text_of(web, f"/e2e/{name}")
    page = text_of(web, f"/e2e/{name}/iterations/1")
    assert "No rollout is recorded yet" in page
    assert f"p2p watch {name}" in page


def test_a_broken_session_leaves_the_list_whole_and_says_so_on_its_own_page(web: Asking, seeded: Path) -> None:
    ws: Workspace = web.app.state.workspace
    sound = create_session(ws, NewSession(prompt="hop forward", env_id="Hopper-v5")).session_id
    (seeded / SESSION / "session.json").write_text('{"session_id": "ses')
    listed = web("GET", "/e2e")
    assert listed.status == 200
    assert sound in listed.body.decode()
    answer = web("GET", f"/e2e/{SESSION}")
    assert answer.status in (404, 422)
    assert "problem-title" in answer.body.decode()


def test_a_full_disk_is_named_with_what_to_do(web: Asking) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))  # to a program, a disk without room
    try:
        status, text = form(web, f"/e2e/{SESSION}/name", "alias=flip")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert status == 503
    assert "Free some space" in text
    assert "nothing already written is lost" in text


def test_an_extra_that_is_not_installed_is_named_with_the_line_that_brings_it(
    web: Asking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_a_node(web, tmp_path)
    for name in [name for name in sys.modules if name.startswith(("paramiko", "p2p.scheduler.nodes"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "paramiko", None)
    status, text = form(web, "/monitor/nodes/attic/check", "")
    assert status == 503
    assert "pip install" in text


def test_a_node_that_does_not_answer_is_shown_so(web: Asking, tmp_path: Path) -> None:
    with_a_node(web, tmp_path)
    status, text = form(web, "/monitor/nodes/attic/check", "")
    assert status == 200
    assert "unreachable" in text


def with_a_node(web: Asking, tmp_path: Path) -> None:
    """A workspace with a node on which nothing listens."""
    ws = Workspace(Settings(runs_dir=tmp_path / "runs", nodes_dir=tmp_path / "nodes"))
    add_node(ws, Node(name="attic", host="127.0.0.1", port=1, user="nobody"))
    web.app.state.workspace = ws
    assert "not asked" in text_of(web, "/monitor")


def test_what_was_stopped_in_its_training_is_not_shown_as_going_on(web: Asking, seeded: Path) -> None:
    shutil.rmtree(seeded / SESSION / "iter_2/report", ignore_errors=True)
    for name in ("judgment.json", "aggregation.json"):
        (seeded / SESSION / f"iter_2/{name}").unlink()
    for scalars in (seeded / SESSION / "iter_2").glob("*/metrics/scalars.jsonl"):
        scalars.unlink()
    status = seeded / SESSION / "status.json"
    status.write_text(json.dumps({**json.loads(status.read_text()), "status": "running"}))
    text = text_of(web, f"/e2e/{SESSION}")
    assert "Until it stopped: iteration 2" in text
    assert "It stopped before its first evaluation" in text
    assert "<p2p-figure" not in text
