import json
import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from shared_sessions import BALANCE

from p2p.contracts.session import EventName, NewSession
from p2p.service.progress.session_view import view_session
from p2p.service.sessions.driving import resume_session, start_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import layout

KILLS = 20
ENDED = ("passed", "max_iterations")
TINY = {"total_timesteps": 6_000, "num_evals": 2, "n_eval_episodes": 3}


def _processes(session: Path) -> list[int]:
    """Every live supervisor and job of a session, from their handles."""
    pids = []
    for handle in session.rglob(layout.HANDLE):
        value = json.loads(handle.read_bytes())
        pids += [pid for pid in (value.get("pid"), value.get("child")) if pid and Path(f"/proc/{pid}").exists()]
    return pids


def _new_session(ws: Workspace, **fields: Any) -> str:
    request = NewSession(
        prompt=BALANCE,
        env_id="InvertedPendulum-v5",
        pass_threshold=1.0,
        n_report_rollouts=10,
        config=TINY,
        **fields,
    )
    return create_session(ws, request).session_id


@pytest.mark.slow
def test_a_session_killed_with_all_its_processes_while_it_trains_ends_as_one_that_was_not(tmp_path: Path) -> None:
    ws = Workspace(Settings(runs_dir=tmp_path))
    session_id = _new_session(ws, max_iterations=1, n_seeds=1)
    start_session(ws, session_id)
    while not any(run.step for run in view_session(ws, session_id).runs):
        time.sleep(0.05)
    victims = _processes(ws.record(session_id).path)
    assert len(victims) == 4, "supervisor and job, of the session and of its training"
    for pid in victims:
        with suppress(ProcessLookupError):  # a supervisor takes its job with it
            os.kill(pid, signal.SIGKILL)
    while view_session(ws, session_id).alive:
        time.sleep(0.05)
    assert view_session(ws, session_id).status not in ENDED
    resume_session(ws, session_id)
    while view_session(ws, session_id).alive:
        time.sleep(0.1)
    assert_nothing_is_broken_or_done_twice(ws, session_id)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_session_killed_twenty_times_ends_with_no_step_done_twice_and_no_broken_file(tmp_path: Path) -> None:
    ws = Workspace(Settings(runs_dir=tmp_path))
    session_id = _new_session(ws, max_iterations=2)
    path = ws.record(session_id).path
    dice = random.Random(0)
    start_session(ws, session_id)
    kills = 0
    view = view_session(ws, session_id)
    while view.alive or view.status not in ENDED:
        if kills < KILLS:
            time.sleep(dice.uniform(0.1, 3.0))  # the moment of a kill is what is random here
            if victims := _processes(path):
                os.kill(dice.choice(victims), signal.SIGKILL)
                kills += 1
        else:
            time.sleep(0.5)
        view = view_session(ws, session_id)
        if not view.alive and view.status not in ENDED:
            resume_session(ws, session_id)
    assert_nothing_is_broken_or_done_twice(ws, session_id)


def assert_nothing_is_broken_or_done_twice(ws: Workspace, session_id: str) -> None:
    view, path = view_session(ws, session_id), ws.record(session_id).path
    assert view.status in ENDED
    events = ws.record(session_id).events.read()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    ends = Counter((event.event, event.iteration) for event in events if event.event.endswith((".end", ".completed")))
    assert all(count == 1 for (name, _), count in ends.items() if name != EventName.SESSION_COMPLETED), ends
    for file in path.rglob("*.json"):
        json.loads(file.read_bytes())
    for iteration in ws.record(session_id).iteration_records():
        aggregation = iteration.read_aggregation()
        assert aggregation is not None
        completed = [r for config in aggregation.configs.values() for r in config.per_seed if r.status == "completed"]
        for result in completed:
            run = iteration.run(result.config_id, result.seed)
            assert run.validate() == []
            steps = [row["global_step"] for row in run.parse_scalars()[0]]
            assert steps == sorted(set(steps)), "a restarted run leaves no row of the one before"
