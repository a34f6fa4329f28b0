"""What a session leaves on disk, and what commands say of it, must not change unnoticed.

`P2P_UPDATE_SNAPSHOTS=1 pytest tests/session/test_recorded_session.py` records both again.
"""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import recorded_session as recorded
from shared_sessions import end_films

from p2p.cli import main
from p2p.contracts.session import NewSession
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.driving import start_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings

RECORDED = Path(__file__).parent / "recorded"
CANARY = "sk-canary-0123456789"
UPDATE = bool(os.environ.get("P2P_UPDATE_SNAPSHOTS"))
REQUEST = NewSession(
    prompt="keep the pole balanced",
    env_id="InvertedPendulum-v5",
    n_report_rollouts=10,
    config={"total_timesteps": 4_000, "num_evals": 2, "n_eval_episodes": 3},
    max_iterations=2,
)
COMMANDS: dict[str, list[str]] = {
    "list": ["list"],
    "show": ["show", "latest"],
    "show_iteration": ["show", "latest", "--iteration", "1"],
    "watch": ["watch", "latest"],
    "criteria": ["criteria", REQUEST.prompt, "--env", REQUEST.env_id],
    "envs": ["envs"],
    "env": ["envs", REQUEST.env_id],
    "jobs": ["jobs"],
    "analyze": ["analyze", "latest"],
    "tag": ["tag", "latest", "--alias", "pole", "--star", "--tag", "kept"],
    "stop": ["stop", "pole"],
    "resume": ["resume", "pole"],
    "delete": ["delete", "pole"],
    "trash": ["trash"],
}


@pytest.mark.slow
@pytest.mark.usefixtures("pictures")
def test_a_session_leaves_the_same_files_with_the_same_contents_as_ever_and_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    ws = Workspace(Settings(runs_dir=tmp_path / "runs"))
    session_id = create_session(ws, REQUEST, session_id=recorded.SESSION_ID).session_id
    start_session(ws, session_id)
    while (view := view_session(ws, session_id)).alive:
        time.sleep(0.2)
    end_films(tmp_path)
    session = ws.record(session_id).path
    assert [path for path in tmp_path.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()] == []
    assert None not in view.artefacts.model_dump().values()
    assert [run.validate() for iteration in ws.record(session_id).iteration_records() for run in iteration.runs()] == (
        [[]] * 4
    )
    if UPDATE:
        recorded.save(session, RECORDED / "session")
    assert recorded.tree(session) == (RECORDED / "session" / "tree.txt").read_text().splitlines()
    found = recorded.texts(session)
    known = recorded.kept_texts(RECORDED / "session")
    assert sorted(found) == sorted(known)
    if (RECORDED / "session" / "processor.txt").read_text().strip() == recorded.processor():
        assert found == known
    else:  # another processor rounds differently, and a training amplifies it: what is called how stays
        assert {name: _shape(text) for name, text in found.items()} == {name: _shape(t) for name, t in known.items()}


def _shape(text: str) -> Any:
    """Which keys a JSON text has, and of which types their values are."""
    try:
        lines = [json.loads(text)]
    except ValueError:
        lines = [json.loads(line) for line in text.splitlines()] if text.startswith("{") else []
    return sorted({json.dumps(_types(line), sort_keys=True) for line in lines})


def _types(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _types(kept) for key, kept in value.items()}
    if isinstance(value, list):
        return sorted({json.dumps(_types(item), sort_keys=True) for item in value})
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def test_commands_say_of_the_recorded_session_what_they_always_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs_dir = tmp_path / "runs"
    monkeypatch.setenv("P2P_RUNS_DIR", str(runs_dir))
    recorded.lay_out(RECORDED / "session", runs_dir)
    for name, arguments in COMMANDS.items():
        code = main([*arguments, "--json"])
        answer = recorded.normalised(json.loads(capsys.readouterr().out), runs_dir)
        text = json.dumps({"exit_code": code, "answer": answer}, indent=1, ensure_ascii=False) + "\n"
        path = RECORDED / "commands" / f"{name}.json"
        if UPDATE:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        assert text == path.read_text(), f"`p2p {' '.join(arguments)} --json` answers differently"
