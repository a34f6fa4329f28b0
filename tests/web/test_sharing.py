"""What readers see, who were given the second address of `p2p web --share`."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import EXAMPLES, HOST, METHODS, Asking
from fastapi import FastAPI

from p2p.http_server.host_names import HostNames
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.web.app import guarded
from p2p.web.visitors import Keys, Visitor

SESSION = EXAMPLES["session_id"]
MACHINE = "attic-7"
NOT_FOR_READERS = ("/api/jobs", "/log", "/events", "/api/nodes", "/api/providers", "/api/labels", "/wishes", "/costs")


@pytest.fixture
def reader(app: FastAPI, seeded: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asking]:
    """The same front end, asked with the token of readers."""
    monkeypatch.setattr(socket, "gethostname", lambda: MACHINE)
    app.state.workspace = Workspace(Settings(runs_dir=seeded))
    keys = Keys(reader=Visitor(may_change=False))
    assert keys.reader_token is not None
    with Asking(guarded(app, HostNames([HOST]), keys), app, keys.reader_token) as asking:
        yield asking


def _mark(seeded: Path) -> str:
    """Put what readers must not see into everything that the front end reads; returns it."""
    secret = f"{seeded}/private/place.txt"
    status = seeded / SESSION / "status.json"
    kept = json.loads(status.read_text())
    told = f"{MACHINE}: no file {secret}"
    status.write_text(json.dumps(kept | {"status": "error", "error": told}))
    draft = seeded / SESSION / "iter_2/draft.json"
    draft.write_text(json.dumps(json.loads(draft.read_text()) | {"reasoning": f"see {secret}"}))
    return secret


def test_readers_change_nothing_by_any_method_of_any_address(reader: Asking) -> None:
    for address in reader.addresses():
        for method in set(METHODS) - {"GET", "HEAD"}:
            assert reader(method, address, None, {}).status == 403, (method, address)


def test_no_answer_for_readers_names_a_path_a_machine_or_a_person(reader: Asking, seeded: Path) -> None:
    secret = _mark(seeded)
    shown = 0
    for address in reader.addresses():
        if address.endswith("stream"):
            continue
        answer = reader("GET", address)
        shown += answer.status == 200
        assert answer.status in (200, 303, 403, 404, 405, 422, 503), address
        text = answer.body.decode("utf-8", "replace")
        for hidden in (secret, str(seeded), str(Path.home()) + "/", MACHINE, "Traceback"):
            assert hidden not in text, (address, hidden)
    assert shown > 15


def test_logs_calls_machines_and_keys_are_not_for_readers(reader: Asking) -> None:
    for method, address in reader.operations():
        if method == "GET" and any(part in address for part in NOT_FOR_READERS):
            assert reader("GET", address).status == 403, address


def test_readers_of_one_session_see_no_other_and_no_list(app: FastAPI, seeded: Path) -> None:
    app.state.workspace = Workspace(Settings(runs_dir=seeded))
    keys = Keys(reader=Visitor(may_change=False, session_id="session_of_somebody_else"))
    assert keys.reader_token is not None
    with Asking(guarded(app, HostNames([HOST]), keys), app, keys.reader_token) as other:
        for _, address in other.operations():
            assert other("GET", address).status in (403, 405), address
    keys = Keys(reader=Visitor(may_change=False, session_id=SESSION))
    assert keys.reader_token is not None
    with Asking(guarded(app, HostNames([HOST]), keys), app, keys.reader_token) as one:
        assert one("GET", f"/api/sessions/{SESSION}").status == 200
        assert one("GET", f"/api/iterations/{SESSION}.iter_1").status == 200
        assert one("GET", "/api/sessions").status == 403
        assert one("GET", "/api/iterations").status == 403


def test_readers_get_a_cookie_that_is_theirs(web: Asking, keys: Keys) -> None:
    cookie = web("GET", f"/?token={keys.reader_token}", {"authorization": None}).headers["set-cookie"].split(";")[0]
    known = {"authorization": None, "cookie": cookie}
    assert web("GET", "/api/sessions", known).status == 200
    assert web("POST", f"/api/sessions/{SESSION}/stop", known).status == 403
    assert web("GET", "/api/jobs", known).status == 403
