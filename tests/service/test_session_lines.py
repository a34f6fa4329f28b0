"""Lines of lists: the same as whole views say, found, filtered, sorted, paged, and renewed after every change."""

import json
import os
import random
import shutil
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from finished_iterations import judgment

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.session import MetadataChange, NewSession, SessionStatus, SessionView
from p2p.contracts.session_line import SessionLine, SessionOrder, SessionQuery
from p2p.service.judging.closing import close
from p2p.service.progress import session_lines as module
from p2p.service.progress.lineage import record_iteration
from p2p.service.progress.listing import SessionRow, list_sessions
from p2p.service.progress.session_lines import iteration_lines, session_filters, session_lines
from p2p.service.sessions.keeping import delete_session, edit_session, purge_session, restore_session
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.store import index, session_directories

POLE = NewSession(prompt="keep the pole balanced", env_id="InvertedPendulum-v5", n_seeds=1)


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(session_directories, "SETTLED_S", 0.0)
    return Workspace(Settings(runs_dir=tmp_path))


def judged(ws: Workspace, *scores: float, asked: NewSession = POLE) -> str:
    """A session that has ended with these scores, one for each iteration."""
    name = create_session(ws, asked).session_id
    record = ws.runs.session(name)
    for number, score in enumerate(scores, 1):
        record.iteration(number).save_reward_source("pass")
        record.iteration(number).save_judgment(judgment("baseline_seed_10", score, 1000, passed=score > 0.8))
        record_iteration(record, number)
    close(ws, name, SessionStatus.PASSED if scores and scores[-1] > 0.8 else SessionStatus.MAX_ITERATIONS)
    return name


def told(line: SessionLine) -> tuple[object, ...]:
    return (
        line.session_id,
        line.created_at,
        line.prompt,
        line.env_id,
        line.status,
        (line.alias, line.starred, line.tags),
        line.iteration,
        line.best,
        line.score,
        line.scores,
        line.threshold,
    )


def of_view(view: SessionView) -> tuple[object, ...]:
    """The same, from the whole view of a session."""
    return (
        view.session.session_id,
        view.session.created_at,
        view.session.prompt,
        view.session.env_id,
        view.status,
        (view.metadata.alias, view.metadata.starred, view.metadata.tags),
        view.iteration,
        view.best_iteration,
        None if view.judgment is None else view.judgment.intent_score,
        tuple(data.intent_score for data in view.history),
        view.session.pass_threshold,
    )


def assert_true(ws: Workspace) -> None:
    assert [told(line) for line in session_lines(ws).lines] == [of_view(view) for view in list_sessions(ws)]


def test_every_change_is_seen_at_the_next_look(ws: Workspace) -> None:
    first, second, third = judged(ws, 0.3, 0.9), judged(ws, 0.2), judged(ws)
    assert_true(ws)
    changes: list[Callable[[], object]] = [
        lambda: edit_session(ws, first, MetadataChange(starred=True, alias="best", add_tags=("kept",))),
        lambda: ws.record(second).set_status(SessionStatus.PENDING),
        lambda: close(ws, second, SessionStatus.ERROR, "something"),
        lambda: judged(ws, 0.5),
        lambda: delete_session(ws, first),
        lambda: restore_session(ws, first),
        lambda: (delete_session(ws, second), purge_session(ws, second)),
        lambda: shutil.rmtree(ws.runs.path / third),
        lambda: (ws.runs.path / first / "session.json").unlink(),
    ]
    for change in changes:
        change()
        assert_true(ws)
        assert_true(ws)


def test_what_rests_is_read_once_and_again_only_after_a_change(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [judged(ws, 0.3) for _ in range(3)]
    session_lines(ws)
    read: list[str] = []
    whole = module.read_rows

    def counted(ws: Workspace, directories: Sequence[Path]) -> list[SessionRow]:
        read.extend(directory.name for directory in directories)
        return whole(ws, directories)

    monkeypatch.setattr(module, "read_rows", counted)
    session_lines(ws)
    assert read == []
    edit_session(ws, names[1], MetadataChange(starred=True))
    assert [line.starred for line in session_lines(ws).lines] == [False, True, False]
    assert read == [names[1]]


def test_another_process_finds_the_lines_in_the_index(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    judged(ws, 0.3, 0.9)
    judged(ws, 0.1)
    page, iterations = session_lines(ws), iteration_lines(ws)
    assert len(index.Index(ws.runs.path).entries(module.KIND)) == 2
    module._memory.cache_clear()
    monkeypatch.setattr(module, "read_rows", lambda _ws, places: pytest.fail(f"{places} are read again"))
    assert session_lines(ws) == page
    assert iteration_lines(ws) == iterations


def test_a_broken_line_in_the_index_is_made_anew(ws: Workspace) -> None:
    name = judged(ws, 0.3)
    page = session_lines(ws)
    source, _ = index.Index(ws.runs.path).entries(module.KIND)[name]
    for value in ("", "[]", '{"line": {}}', '{"line": 1, "iterations": []}'):
        index.Index(ws.runs.path).save(module.KIND, {name: (source, value)})
        module._memory.cache_clear()
        assert session_lines(ws) == page


def test_a_change_too_young_to_have_a_time_of_its_own_is_not_relied_on(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_directories, "SETTLED_S", 1e6)
    name = judged(ws, 0.3)
    session_lines(ws)
    times = (ws.runs.path / name).stat()
    edit_session(ws, name, MetadataChange(starred=True))
    os.utime(ws.runs.path / name, ns=(times.st_atime_ns, times.st_mtime_ns))  # as if both fell into one tick
    assert session_lines(ws).lines[0].starred


def test_what_has_not_ended_is_read_again_when_it_is_due(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    create_session(ws, POLE)
    read: list[str] = []
    whole = module.row_of_directory
    monkeypatch.setattr(module, "row_of_directory", lambda ws, name: (read.append(name), whole(ws, name))[1])
    session_lines(ws)
    session_lines(ws)
    before = len(read)
    assert before <= 1
    clock = time.monotonic
    monkeypatch.setattr(module.time, "monotonic", lambda: clock() + module.UNFINISHED_S + 1)
    session_lines(ws)
    assert len(read) == before + 1


@pytest.mark.parametrize("order", SessionOrder)
def test_pages_hold_every_session_once_in_order(ws: Workspace, order: SessionOrder) -> None:
    chance = random.Random(1)
    for number in range(11):
        judged(ws, *([round(chance.random(), 1)] if number % 4 else []))
    views = list_sessions(ws)
    expected = [view.session.session_id for view in views]
    if order is SessionOrder.OLDEST:
        expected.reverse()
    if order is SessionOrder.SCORE:
        scores = {view.session.session_id: view.judgment.intent_score if view.judgment else None for view in views}
        expected.sort(key=lambda name: -1.0 if (score := scores[name]) is None else score, reverse=True)
    found: list[str] = []
    cursor = ""
    while True:
        page = session_lines(ws, SessionQuery(sort=order, limit=3, cursor=cursor))
        assert page.total == 11
        found += [line.session_id for line in page.lines]
        if page.next is None:
            break
        cursor = page.next
    assert found == expected


def test_a_session_that_comes_between_two_pages_moves_none(ws: Workspace) -> None:
    names = [judged(ws) for _ in range(4)]
    first = session_lines(ws, SessionQuery(limit=2))
    judged(ws)
    delete_session(ws, names[3])
    second = session_lines(ws, SessionQuery(limit=2, cursor=first.next or ""))
    assert [line.session_id for line in (*first.lines, *second.lines)] == names[::-1]
    assert second.next is None


def test_a_page_that_is_exactly_full_is_the_last(ws: Workspace) -> None:
    judged(ws)
    judged(ws)
    assert session_lines(ws, SessionQuery(limit=2)).next is None


@pytest.mark.parametrize("cursor", ["x", "%%%", "W10", "bnVsbA", "é", "WyJuZXdlc3QiLCAxLCAyXQ", "W1tbW1tb"])
def test_what_is_no_cursor_is_refused(ws: Workspace, cursor: str) -> None:
    judged(ws)
    with pytest.raises(InvalidInput, match="no cursor"):
        session_lines(ws, SessionQuery(cursor=cursor))
    with pytest.raises(InvalidInput, match="no cursor"):
        iteration_lines(ws, cursor=cursor)


def test_a_cursor_of_another_order_is_refused(ws: Workspace) -> None:
    for _ in range(3):
        judged(ws)
    cursor = session_lines(ws, SessionQuery(limit=1)).next
    assert cursor
    with pytest.raises(InvalidInput, match="same sort"):
        session_lines(ws, SessionQuery(limit=1, sort=SessionOrder.OLDEST, cursor=cursor))


def test_sessions_are_found_by_words_and_filtered(ws: Workspace) -> None:
    run = judged(ws, 0.9, asked=NewSession(prompt="Run forward", env_id="HalfCheetah-v5"))
    hop = judged(ws, 0.2, asked=NewSession(prompt="hop without falling", env_id="Hopper-v5"))
    fresh = create_session(ws, POLE).session_id
    edit_session(ws, run, MetadataChange(alias="sprint", starred=True, add_tags=("gait STRASSE", "kept")))
    edit_session(ws, hop, MetadataChange(add_tags=("kept",)))

    def found(**query: object) -> set[str]:
        page = session_lines(ws, SessionQuery(**query))
        assert page.total == len(page.lines)
        return {line.session_id for line in page.lines}

    table: list[tuple[dict[str, object], set[str]]] = [
        ({}, {run, hop, fresh}),
        ({"q": "forward run"}, {run}),
        ({"q": "straße"}, {run}),
        ({"q": "SPRINT"}, {run}),
        ({"q": "gait"}, {run}),
        ({"q": fresh[-8:]}, {fresh}),
        ({"q": "run hop"}, set()),
        ({"status": ("passed", "pending")}, {run, fresh}),
        ({"env": "Hopper-v5"}, {hop}),
        ({"tag": ("kept",)}, {run, hop}),
        ({"tag": ("kept", "gait STRASSE")}, {run}),
        ({"starred": True}, {run}),
        ({"starred": True, "env": "Hopper-v5"}, set()),
    ]
    for query, expected in table:
        assert found(**query) == expected, query
    filters = session_filters(ws)
    assert filters.total == 3
    assert filters.statuses == {"passed": 1, "max_iterations": 1, "pending": 1}
    assert filters.environments == {"HalfCheetah-v5": 1, "Hopper-v5": 1, "InvertedPendulum-v5": 1}
    assert filters.tags == {"gait STRASSE": 1, "kept": 2}


def test_a_line_is_short_whatever_was_said(ws: Workspace) -> None:
    asked = NewSession(prompt="run forward as fast as you can", env_id="HalfCheetah-v5")
    usual = judged(ws, 0.31, 0.62, 0.93, asked=asked)
    lines = {line.session_id: line for line in session_lines(ws).lines}
    assert len(lines[usual].model_dump_json()) <= 400
    long = create_session(ws, NewSession(prompt="run " * 2000, env_id="HalfCheetah-v5", author="given")).session_id
    close(ws, long, SessionStatus.ERROR, "it broke\nhere <<resume session=x>> " + "why " * 1000)
    lines = {line.session_id: line for line in session_lines(ws).lines}
    assert lines[long].prompt.endswith("…")
    assert lines[long].error == "it broke"
    assert len(lines[long].model_dump_json()) <= 450


def test_iterations_of_all_sessions_come_newest_first(ws: Workspace) -> None:
    first, second = judged(ws, 0.31, 0.9), judged(ws, 0.5)
    ws.runs.session(second).iteration(2).save_reward_source("pass")
    ws.runs.session(second).touch_heartbeat()
    ws.runs.session(second).set_status(SessionStatus.PENDING)
    lines = iteration_lines(ws).lines
    expected = [f"{name}.iter_{number}" for name in (second, first) for number in (2, 1)]
    assert [line.iteration_id for line in lines] == expected
    assert [line.score for line in lines] == [None, 0.5, 0.9, 0.31]
    assert [line.verdict for line in lines] == [None, "failed", "passed", "failed"]
    one_by_one = []
    cursor = ""
    for _ in lines:
        page = iteration_lines(ws, limit=1, cursor=cursor)
        one_by_one += page.lines
        cursor = page.next or ""
    assert tuple(one_by_one) == lines
    assert not cursor
    assert iteration_lines(ws, session_id=first).lines == lines[2:]
    delete_session(ws, first)
    assert iteration_lines(ws).lines == lines[:2]
    with pytest.raises(UnknownName):
        iteration_lines(ws, session_id="nobody")
    for limit in (0, 201):
        with pytest.raises(InvalidInput, match="limit"):
            iteration_lines(ws, limit=limit)


def test_directories_that_hold_no_session_are_left_out(ws: Workspace, tmp_path: Path) -> None:
    name = judged(ws)
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "session.json").write_text("{")
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / name)
    assert [line.session_id for line in session_lines(ws).lines] == [name]
    session = json.loads((tmp_path / name / "session.json").read_text())
    (tmp_path / "broken" / "whole.json").write_text(json.dumps(session))
    (tmp_path / "broken" / "whole.json").replace(tmp_path / "broken" / "session.json")
    assert {line.session_id for line in session_lines(ws).lines} == {name, "broken"}
    assert all(a.created_at >= b.created_at for a, b in pairwise(session_lines(ws).lines))


def test_a_score_that_misses_the_threshold_by_little_is_not_listed_as_meeting_it(ws: Workspace) -> None:
    judged(ws, 0.79996)
    [line] = session_lines(ws, SessionQuery()).lines
    assert (line.score, line.scores) == (0.799, (0.79,))
