"""The addresses of the seed, each with an answer and a refusal; what the answers are made of."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from asking import EXAMPLES, METHODS, Asking, filled
from made_up_suites import begun, end, suite_of

from p2p.contracts.base import Contract
from p2p.contracts.errors import P2PError
from p2p.contracts.judgment import Label
from p2p.contracts.session import ExtendSession, NewSession, SessionStatus
from p2p.contracts.spending import Caps
from p2p.contracts.suite import NewSuiteRun
from p2p.contracts.work import NewExport
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.web import schemas
from p2p.web.problems import STATUS
from p2p.web.remedies import REQUESTS

SESSION = EXAMPLES["session_id"]
NO_SESSION = "session_20990101_000000_00000000"
Body = dict[str, Any] | None


class Route(NamedTuple):
    """An address of the seed: what it answers, and what it answers where something is wrong."""

    method: str
    path: str
    body: Body = None
    status: int = 200
    before: tuple[str, str] | None = None
    """A request that must come first."""
    wrong: str = ""
    """An address of the same kind that names what there is not; empty for the same one."""
    wrong_body: Body = None
    refused: int = 404


OF_SESSION = "/api/sessions/{session_id}"
OF_ITERATION = f"{OF_SESSION}/iterations/{{iteration_id}}"
IN_TRASH = "/api/trash/{entity_id}"
OF_RUN = "/api/benchmarks/{benchmark_id}"
POLE = {"prompt": "keep the pole balanced", "env_id": "InvertedPendulum-v5", "start": False}
PONY = Path(__file__).parents[2] / "examples" / "pony.xml"
HERE = f"/api/sessions/{SESSION}"
LOST, LOST_RUN = f"/api/sessions/{NO_SESSION}", "/api/benchmarks/nowhere"
SEED = (
    Route("POST", "/api/sessions", POLE, 201, wrong_body={"prompt": ""}, refused=422),
    Route("GET", "/api/sessions", wrong="/api/sessions?limit=0", refused=422),
    Route("GET", OF_SESSION, wrong=LOST),
    Route("POST", f"{OF_SESSION}/stop", wrong=f"{LOST}/stop"),
    Route("PATCH", OF_SESSION, {"alias": "pole", "starred": True, "tags": ["one"]}, wrong=LOST, wrong_body={}),
    Route("DELETE", OF_SESSION, wrong=LOST),
    Route("POST", f"{OF_SESSION}/restore", before=("DELETE", OF_SESSION), wrong=f"{LOST}/restore"),
    Route("GET", f"{OF_SESSION}/loop-iterations", wrong=f"{LOST}/loop-iterations"),
    Route("GET", OF_ITERATION, wrong=f"{HERE}/iterations/9"),
    Route("GET", f"{OF_ITERATION}/runs", wrong=f"{HERE}/iterations/9/runs"),
    Route("GET", f"{OF_ITERATION}/runs/{{run_id}}/metrics", wrong=f"{HERE}/iterations/1/runs/x/metrics"),
    Route("GET", f"{OF_SESSION}/analysis", before=("POST", f"{OF_SESSION}/analyze"), wrong=f"{LOST}/analysis"),
    Route("POST", f"{OF_SESSION}/analyze", wrong=f"{LOST}/analyze"),
    Route("GET", f"{OF_SESSION}/events", wrong=f"{LOST}/events"),
    Route("GET", f"{OF_SESSION}/events/{{seq}}", wrong=f"{HERE}/events/99999"),
    Route("GET", "/api/iterations", wrong="/api/iterations?cursor=x", refused=422),
    Route("GET", "/api/iterations/{iteration_id}", wrong=f"/api/iterations/{SESSION}.iter_9"),
    Route("GET", "/api/iterations/{iteration_id}/metrics", wrong=f"/api/iterations/{SESSION}.iter_9/metrics"),
    Route("GET", "/api/benchmarks/options"),
    Route("POST", "/api/benchmarks", wrong_body={"suite": "/etc/passwd"}),
    Route("GET", "/api/benchmarks"),
    Route("GET", OF_RUN, wrong=LOST_RUN),
    Route("POST", f"{OF_RUN}/stop", wrong=f"{LOST_RUN}/stop"),
    Route("PATCH", OF_RUN, {"starred": True}, wrong=LOST_RUN, wrong_body={}),
    Route("DELETE", OF_RUN, wrong=LOST_RUN),
    Route("POST", f"{OF_RUN}/restore", before=("DELETE", OF_RUN), wrong=f"{LOST_RUN}/restore"),
    Route("GET", "/api/envs"),
    Route("GET", "/api/reward-templates"),
    Route("GET", "/api/resources/status"),
    Route("GET", "/api/trash"),
    Route(
        "DELETE", "/api/trash/{entity_id}", None, 204, before=("DELETE", OF_SESSION), wrong=f"/api/trash/{NO_SESSION}"
    ),
    Route("POST", "/api/vlm/api/chat", wrong_body={"messages": []}, refused=422),
    Route("GET", "/api/vlm/api/tags"),
    Route("GET", "/api/vlm/status"),
)
DERIVED: dict[type[Contract], tuple[type[Contract], set[str]]] = {
    schemas.LabelRequest: (Label, {"score", "annotator", "comment"}),
    schemas.ExportRequest: (NewExport, {"formats", "run_id", "checkpoint", "overwrite", "license"}),
    schemas.SessionRequest: (NewSession, set(NewSession.model_fields) - {"preset"}),  # which p2p fills in
    schemas.ExtendRequest: (ExtendSession, set(ExtendSession.model_fields)),
    schemas.SuiteRunRequest: (NewSuiteRun, set(NewSuiteRun.model_fields)),
    schemas.CapChanges: (Caps, set(Caps.model_fields)),
}
"""What is put together for this front end: the contract that it is made of, and the fields that it takes from it."""
FIELDS = Path(__file__).with_name("fields.json")
"""Fields of everything in openapi.json."""
ELSEWHERE = {
    ("POST", "/api/benchmarks"): "starts processes: test_start_and_stop.py",
    ("POST", "/api/vlm/api/chat"): "asks a model: test_vision.py",
}
"""What answers 2xx in a test of its own."""


def _name(route: Route) -> str:
    return f"{route.method} {route.path}"


@pytest.fixture
def with_run(seeded: Path) -> None:
    """A run of a suite whose sessions have ended, beside the session."""
    ws = Workspace(Settings(runs_dir=seeded))
    suite = suite_of(2, name=EXAMPLES["benchmark_id"])
    _, run = begun(ws, suite)
    for case in suite.cases:
        end(ws, suite, run, case.name, SessionStatus.MAX_ITERATIONS)


def test_the_seed_names_34_addresses_and_all_of_them_are_served(web: Asking) -> None:
    paths = web.app.openapi()["paths"]
    served = {(method.upper(), path) for path, item in paths.items() for method in item}
    assert len({(route.method, route.path) for route in SEED}) == len(SEED) == 34
    assert {(route.method, route.path) for route in SEED} <= served


@pytest.mark.usefixtures("with_run")
@pytest.mark.parametrize("route", SEED, ids=_name)
def test_an_address_of_the_seed_answers_and_refuses(web: Asking, route: Route) -> None:
    if (route.method, route.path) not in ELSEWHERE:
        if route.before is not None:
            assert web(route.before[0], filled(route.before[1])).status == 200
        answer = web(route.method, filled(route.path), None, route.body)
        assert answer.status == route.status, answer.body
    if route.wrong or route.wrong_body is not None:
        refusal = web(route.method, route.wrong or route.path, None, route.wrong_body)
        assert refusal.status == route.refused, refusal.body
        assert refusal.headers["content-type"] == "application/problem+json"
        assert refusal.data["status"] == route.refused


def test_two_requests_with_the_same_key_are_one(web: Asking) -> None:
    once = {"idempotency-key": "one two"}
    first = web("POST", "/api/sessions", once, POLE)
    assert web("POST", "/api/sessions", once, POLE).data == first.data
    assert web("POST", "/api/sessions", {"idempotency-key": "another"}, POLE).data != first.data
    assert web("POST", "/api/sessions", once, {**POLE, "n_seeds": 3}).status == 422
    assert len(web("GET", "/api/sessions").data) == 3


@pytest.mark.parametrize(
    ("prompt", "named"), [(POLE["prompt"], "InvertedPendulum"), ("walk forward", str(PONY))], ids=["in short", "a file"]
)
def test_they_are_one_too_where_the_environment_has_an_id_of_its_own(web: Asking, prompt: str, named: str) -> None:
    asked = {**POLE, "prompt": prompt, "env_id": named}
    once = {"idempotency-key": "named"}
    first = web("POST", "/api/sessions", once, asked)
    assert first.status == 201, first.body
    assert web("POST", "/api/sessions", once, asked).data == first.data


def test_criteria_of_ones_own_are_kept(web: Asking) -> None:
    criteria = web("POST", "/api/elaborate-intent", None, {"prompt": POLE["prompt"], "env_id": POLE["env_id"]})
    mine = criteria.data["intent"]["criteria"][:1]
    made = web("POST", "/api/sessions", None, {**POLE, "criteria": mine, "episode_s": 5.0})
    assert made.status == 201, made.body
    kept = web("GET", f"/api/sessions/{made.data['session_id']}").data["criteria"]
    assert [one["key"] for one in kept] == [one["key"] for one in mine]


def test_a_list_leads_to_its_next_page_until_the_last(web: Asking) -> None:
    for _ in range(4):
        web("POST", "/api/sessions", None, POLE)
    seen, address = [], "/api/sessions?limit=2&q=pole"
    while address:
        page = web("GET", address)
        assert page.headers["x-total-count"] == "5"
        seen += [line["session_id"] for line in page.data]
        link = page.headers.get("link", "")
        address = link.partition(">")[0].removeprefix("<")
    assert len(seen) == len(set(seen)) == 5


def test_tags_are_given_as_a_whole_or_one_by_one(web: Asking) -> None:
    assert web("PATCH", HERE, None, {"tags": ["a", "b"]}).data["tags"] == ["a", "b"]
    assert web("PATCH", HERE, None, {"tags": ["b", "c"]}).data["tags"] == ["b", "c"]
    assert web("PATCH", HERE, None, {"add_tags": ["d"], "remove_tags": ["b"]}).data["tags"] == ["c", "d"]
    assert web("PATCH", HERE, None, {"starred": True}).data["tags"] == ["c", "d"]


def test_a_session_in_the_trash_says_what_to_do(web: Asking) -> None:
    web("DELETE", HERE)
    found = web("GET", HERE)
    assert found.status == 422
    assert found.data["detail"].endswith(f"To restore it: p2p trash --restore {SESSION}")
    assert found.data["next"] == [
        {"remedy": "restore", "arguments": {"session": SESSION}, "request": f"POST {HERE}/restore"}
    ]
    assert [item["id"] for item in web("GET", "/api/trash").data] == [SESSION]
    assert web(*found.data["next"][0]["request"].split()).status == 200
    assert web("GET", HERE).status == 200


def test_every_request_that_advice_names_is_served(web: Asking) -> None:
    served = {f"{method.upper()} {path}" for path, item in web.app.openapi()["paths"].items() for method in item}
    same = {
        "{session}": "{session_id}",
        "{iteration}": "{iteration_id}",
        "{job}": "{job_id}",
        "{run}": "{benchmark_id}",
    }
    same |= {"{node}": "{name}", "/ID/": "/{session_id}/"}
    for words in REQUESTS.values():
        if words.split()[0] not in METHODS:
            continue
        named = " ".join(words.replace(",", "").split()[:2])
        for short, long in same.items():
            named = named.replace(short, long)
        assert named in served


def test_every_kind_of_error_has_a_status_of_its_own_kind() -> None:
    for kind in _below(P2PError):
        if kind is not P2PError:
            found = next(STATUS[one] for one in kind.__mro__ if one in STATUS)
            assert 400 <= found < 600, kind
            assert found != 500, kind


def test_no_field_of_an_answer_or_a_request_is_lost(web: Asking) -> None:
    """P2P_UPDATE_SNAPSHOTS=1 renews the list where one is meant to go; new ones are welcome."""
    found = {
        name: sorted(schema.get("properties", schema.get("enum", [])))
        for name, schema in web.app.openapi()["components"]["schemas"].items()
    }
    if os.environ.get("P2P_UPDATE_SNAPSHOTS"):
        FIELDS.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n")
    known: dict[str, list[str]] = json.loads(FIELDS.read_text())
    lost = {f"{name}.{field}" for name, fields in known.items() for field in set(fields) - set(found.get(name, ()))}
    assert lost == set()
    assert len(known) > 100


@pytest.mark.parametrize("made", DERIVED, ids=lambda made: made.__name__)
def test_what_is_put_together_here_has_the_bounds_of_its_contract(made: type[Contract]) -> None:
    contract, names = DERIVED[made]
    own, theirs = made.model_json_schema()["properties"], contract.model_json_schema()["properties"]
    for name in names:
        assert _bounds(own[name]) == _bounds(theirs[name]), name


def _bounds(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in ("description", "title", "default")}


def _below(kind: type[P2PError]) -> Iterator[type[P2PError]]:
    yield kind
    for one in kind.__subclasses__():
        yield from _below(one)
