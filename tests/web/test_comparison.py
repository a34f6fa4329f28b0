"""Two sessions on one page."""

from pathlib import Path

import pytest
from asking import Asking
from fastapi import FastAPI
from made_up_sessions import FIRST, RECORDED, SECOND, better, copy_of, otherwise

from p2p.contracts.session import NewSession
from p2p.http_server.host_names import HostNames
from p2p.service.sessions.lifecycle import create_session
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.web.app import guarded
from p2p.web.visitors import Keys, Visitor

PAGE = f"/compare/{FIRST}/{SECOND}"


@pytest.fixture
def seeded(tmp_path: Path) -> Path:
    runs = tmp_path / "runs"
    copy_of(RECORDED, runs, FIRST)
    other = copy_of(RECORDED, runs, SECOND)
    better(other)
    otherwise(other)
    return runs


def test_two_selected_sessions_are_compared_and_the_page_says_which_did_better_and_why(web: Asking) -> None:
    listed = web("GET", "/e2e").body.decode()
    assert 'formaction="/compare" data-compare' in listed
    selected = web("GET", f"/compare?back=%2Fe2e&tag=&session={FIRST}&session={SECOND}")
    assert (selected.status, selected.headers["location"]) == (303, PAGE)
    text = web("GET", PAGE).body.decode()
    for said in (
        "Better: the second",
        "learning_rate",
        "another one",
        "Keeps the pole up",
        f"p2p diff {FIRST} {SECOND}",
    ):
        assert said in text
    assert "+0.697" in text, "the difference of the first criterion"


def test_the_api_answers_with_what_the_page_shows(web: Asking) -> None:
    found = web("GET", f"/api/sessions/{FIRST}/compare/{SECOND}")
    assert (found.data["better"], found.data["comparable"]) == (SECOND, True)
    assert web("GET", f"/api/sessions/{FIRST}/compare/{FIRST}").status == 422
    assert web("GET", f"/api/sessions/{FIRST}/compare/session_20990101_000000_00000000").status == 404


def test_anything_but_two_sessions_is_refused_with_the_reason(web: Asking) -> None:
    for query in ("", f"?session={FIRST}", f"?session={FIRST}&session={SECOND}&session=x"):
        answer = web("GET", f"/compare{query}")
        assert answer.status == 422
        assert "Select two sessions" in answer.body.decode()
    fresh = create_session(web.app.state.workspace, NewSession(prompt="hop forward", env_id="Hopper-v5")).session_id
    text = web("GET", f"/compare/{FIRST}/{fresh}").body.decode()
    assert "not both are judged yet" in text
    assert "No iteration is judged yet" in text


def test_a_reader_of_one_session_does_not_see_another_beside_it(app: FastAPI, seeded: Path) -> None:
    app.state.workspace = Workspace(Settings(runs_dir=seeded))
    keys = Keys(reader=Visitor(may_change=False, session_id=FIRST))
    assert keys.reader_token is not None
    with Asking(guarded(app, HostNames(["127.0.0.1:8766"]), keys), app, keys.reader_token) as reader:
        assert reader("GET", f"/e2e/{FIRST}").status == 200
        for address in (PAGE, f"/compare/{SECOND}/{FIRST}", f"/api/sessions/{FIRST}/compare/{SECOND}"):
            assert reader("GET", address).status == 403
