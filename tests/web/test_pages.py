import json
import re
from pathlib import Path
from typing import Any

import pytest
from asking import EXAMPLES, Asking
from suite_runs import LONG, pole_runs

from p2p.contracts.errors import InvalidInput
from p2p.service.rewards.criteria import derive_intent
from p2p.service.workspace import Workspace
from p2p.settings import Settings
from p2p.web.pages.new_session import chosen_criteria
from p2p.web.pages.static_files import address_of, static_files
from p2p.web.visitors import Keys

SESSION = EXAMPLES["session_id"]
OF_SESSION = ("/e2e", f"/e2e/{SESSION}", f"/e2e/{SESSION}?iteration=2", f"/e2e/{SESSION}/events/1")
PAGES = (*OF_SESSION, "/benchmark", "/trash", "/monitor", "/settings", "/e2e/new")


def form(web: Asking, address: str, body: str) -> "tuple[int, str]":
    kind = {"content-type": "application/x-www-form-urlencoded"}
    answer = web("POST", address, kind, body.encode())
    return answer.status, answer.headers.get("location", answer.body.decode())


@pytest.mark.parametrize("address", PAGES)
def test_a_page_is_whole_without_scripts_and_has_none_inline(web: Asking, address: str) -> None:
    answer = web("GET", address)
    text = answer.body.decode()
    assert answer.status == 200, text
    assert answer.headers["content-type"].startswith("text/html")
    assert "<h1" in text
    assert re.search(r"<script(?![^>]* src=)|\sstyle=|\son[a-z]+=|javascript:", text) is None
    for link in set(re.findall(r'(?:href|src)="(/static/[^"]+)"', text)):
        assert web("GET", link).status == 200, link


HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>{{ 7*7 }}\u202eRTL ' + "x" * 10_000


def test_nothing_that_a_session_says_is_read_as_a_page(web: Asking, seeded: Path) -> None:
    folder = seeded / SESSION
    for name in ("session.json", "loop_history.json", "lineage.json", "criteria.json", "iter_1/judgment.json"):
        path = folder / name
        if path.exists():
            path.write_text(json.dumps(spoilt(json.loads(path.read_text()))))
    lines = (folder / "events.jsonl").read_text().splitlines()
    events = [json.dumps({**json.loads(line), "data": {HOSTILE[:200]: HOSTILE}}) for line in lines]
    (folder / "events.jsonl").write_text("\n".join(events) + "\n")
    for address in OF_SESSION:
        answer = web("GET", address)
        text = answer.body.decode()
        assert answer.status == 200, text
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "&lt;script&gt;alert" in text, address


def spoilt(value: Any, key: str = "") -> Any:
    """The same data, hostile wherever a person or a model may write."""
    if isinstance(value, dict):
        return {name: spoilt(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [spoilt(item, key) for item in value]
    if key in ("prompt", "diagnosis", "lesson", "text", "description", "reason", "error") and isinstance(value, str):
        return HOSTILE
    return value


def test_a_session_is_named_stopped_deleted_and_reported_on_by_forms(web: Asking) -> None:
    page = f"/e2e/{SESSION}"
    assert form(web, f"{page}/name", "alias=flip&tags=a, b ,a") == (303, page)
    text = web("GET", page).body.decode()
    assert '<span class="tag">flip</span>' in text
    assert 'value="a, b"' in text
    assert form(web, f"{page}/name", "alias=&tags=b") == (303, page)
    assert 'value="b"' in web("GET", page).body.decode()
    assert form(web, f"{page}/cap", "dollars=3") == (303, page)
    assert "of $3" in web("GET", page).body.decode()
    assert form(web, f"{page}/report", f"back={page}") == (303, page)
    assert "Whole report" in web("GET", page).body.decode()
    assert form(web, f"{page}/delete", "") == (303, "/e2e")
    assert SESSION not in web("GET", "/e2e").body.decode()


def test_a_wish_that_nobody_would_read_is_refused_with_the_reason(web: Asking) -> None:
    status, text = form(web, f"/e2e/{SESSION}/wish", "wish=land softer")
    assert status == 422
    assert "problem-title" in text


def test_what_lies_in_the_trash_comes_back_or_goes_for_good_by_its_name(web: Asking, seeded: Path) -> None:
    assert "Nothing here" in web("GET", "/trash").body.decode()
    assert form(web, f"/e2e/{SESSION}/delete", "")[0] == 303
    assert SESSION in web("GET", "/trash").body.decode()
    assert form(web, f"/trash/{SESSION}/restore", "") == (303, "/trash")
    assert form(web, f"/e2e/{SESSION}/delete", "")[0] == 303
    assert form(web, f"/trash/{SESSION}/purge", "typed=yes")[0] == 422
    assert form(web, "/trash/empty", "typed=all")[0] == 422
    assert (seeded / SESSION).exists()
    assert form(web, f"/trash/{SESSION}/purge", f"typed={SESSION}") == (303, "/trash")
    assert not (seeded / SESSION).exists()


def test_keys_are_shown_as_set_or_not_and_nothing_of_them(web: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret-0123456789")
    text = web("GET", "/settings").body.decode()
    assert "ANTHROPIC_API_KEY" in text
    assert "sk-secret" not in text


SENTENCE = "prompt=run+forward&env_id=HalfCheetah-v5&author=builtin"


def test_a_new_session_shows_its_criteria_and_its_time_before_anything_is_kept(web: Asking, seeded: Path) -> None:
    before = sorted(path.name for path in seeded.iterdir())
    text = web("GET", f"/e2e/new?{SENTENCE}").body.decode()
    assert 'name="threshold_moves_forward"' in text
    assert "for each of at most 3 iterations" in text
    status, text = form(web, "/e2e/new", SENTENCE)
    assert status == 200
    assert "Start when they are right" in text
    assert sorted(path.name for path in seeded.iterdir()) == before


def test_a_sentence_that_is_not_understood_keeps_the_form_and_says_why(web: Asking) -> None:
    answer = web("GET", "/e2e/new?prompt=compose+a+sonnet")
    assert answer.status == 200
    assert "Not understood" in answer.body.decode()
    status, text = form(web, "/e2e/new", "prompt=compose+a+sonnet&env_id=HalfCheetah-v5")
    assert status == 422
    assert ">compose a sonnet</textarea>" in text
    assert "whole number" in form(web, "/e2e/new", f"{SENTENCE}&total_timesteps=many")[1]


def test_criteria_are_taken_as_the_form_leaves_them(web: Asking) -> None:
    criteria = derive_intent(web.app.state.workspace, "run forward", "HalfCheetah-v5").criteria
    first, second = criteria[0], criteria[1]
    left = {f"use_{first.key}": "on", f"threshold_{first.key}": "4", f"use_{second.key}": "on", "required_": "on"}
    kept = chosen_criteria(criteria, left)
    assert [one.key for one in kept] == [first.key, second.key]
    assert kept[0].predicate is not None
    assert kept[0].predicate.threshold == 4
    assert not kept[0].required
    with pytest.raises(InvalidInput, match="at least one"):
        chosen_criteria(criteria, {})
    with pytest.raises(InvalidInput, match="are numbers"):
        chosen_criteria(criteria, {f"use_{first.key}": "on", f"threshold_{first.key}": "fast"})


def test_readers_see_a_session_without_events_costs_forms_or_paths(web: Asking, keys: Keys, seeded: Path) -> None:
    path = seeded / SESSION / "iter_1/judgment.json"
    judgment = json.loads(path.read_text())
    path.write_text(json.dumps({**judgment, "diagnosis": "see /home/someone/runs/secret.json"}))
    reader = {"authorization": f"Bearer {keys.reader_token}"}
    text = web("GET", f"/e2e/{SESSION}?iteration=1", reader).body.decode()
    assert "Score by iteration" in text
    assert "/home/someone" not in text
    assert "Costs" not in text
    assert re.findall(r'method="post" action="([^"]+)"', text) == ["/theme"]
    assert "/static/" in text
    assert re.findall(r'href="(/\w+)"[^>]*>(?:Sessions|Benchmark|Monitor|Trash)<', text) == ["/e2e", "/benchmark"]
    assert web("GET", f"/e2e/{SESSION}/events/1", reader).status == 403


def test_files_of_pages_never_change_under_their_address_and_unknown_ones_are_not_there(web: Asking) -> None:
    answer = web("GET", address_of("base.css"))
    assert (answer.status, answer.body) == (200, static_files()["base.css"])
    assert "immutable" in answer.headers["cache-control"]
    assert "immutable" not in web("GET", "/static/0000/base.css").headers["cache-control"]
    assert web("GET", "/static/0000/../../app.py").status == 404


def test_a_list_is_searched_filtered_and_starred_by_forms(web: Asking) -> None:
    assert SESSION in web("GET", "/e2e?q=&status=&env=&tag=&sort=newest").body.decode()
    assert "No session matches" in web("GET", "/e2e?q=nothing-is-called-so").body.decode()
    assert form(web, f"/e2e/{SESSION}/star", "starred=true&back=/e2e") == (303, "/e2e")
    assert SESSION in web("GET", "/e2e?starred=true").body.decode()
    assert form(web, f"/e2e/{SESSION}/star", "starred=false&back=//elsewhere.test") == (303, "/e2e")


def test_a_wrong_address_is_answered_by_a_page_that_says_why(web: Asking) -> None:
    answer = web("GET", "/e2e?sort=colour")
    assert answer.status == 422
    assert "sort" in answer.body.decode()


def test_a_theme_is_kept_in_a_cookie_and_painted_at_first(web: Asking) -> None:
    answer = web("POST", "/theme", {"content-type": "application/x-www-form-urlencoded"}, b"theme=dark&back=/e2e")
    assert answer.status == 303
    cookie = answer.headers["set-cookie"].partition(";")[0]
    assert 'data-theme="dark"' in web("GET", "/e2e", {"cookie": cookie}).body.decode()
    assert 'data-theme="' not in web("GET", "/e2e", {"cookie": 'p2p_theme="><script>'}).body.decode()


@pytest.mark.slow
def test_runs_of_suites_are_listed_followed_compared_and_stopped(
    web: Asking, tmp_path_factory: pytest.TempPathFactory
) -> None:
    web.app.state.workspace = Workspace(Settings(runs_dir=pole_runs(tmp_path_factory) / "runs"))
    names = re.findall(r'href="/benchmark/([^"]+)" data-open', web("GET", "/benchmark").body.decode())
    assert LONG in names
    text = web("GET", f"/benchmark/{LONG}").body.decode()
    assert "95 % interval" in text
    assert f"/e2e/{LONG}-" in text
    other = next(name for name in names if name != LONG)
    answer = web("GET", f"/benchmark/compare?first={LONG}&second={other}")
    assert answer.status == 200, answer.body.decode()
    compared = answer.body.decode()
    assert "Difference over common cases" in compared
    drawn = re.search(r'aria-label="-50 .*?x1="([\d.]+)" x2="([\d.]+)" y1="8".*?cx="([\d.]+)"', compared)
    assert drawn is not None
    low, high, mean = drawn.groups()
    assert 0 < float(low) < float(mean) < float(high) < 160
    assert float(mean) < 80, "less is on the left"
    assert web("GET", "/benchmark/compare?first=a&second=b").status == 404
    assert form(web, "/benchmark", "suite=no-such-suite")[0] == 404
    assert form(web, "/benchmark", "suite=basic&seeds=many")[0] == 422


LOSES = ("/purge", "/empty")
"""Ends of addresses after which something is gone for good."""


def test_nothing_is_lost_for_good_by_one_click(web: Asking) -> None:
    form(web, f"/e2e/{SESSION}/delete", "")
    text = "".join(web("GET", address).body.decode() for address in (*PAGES, "/trash"))
    forms = re.findall(r'<form method="post" action="([^"]+)"(.*?)</form>', text, re.DOTALL)
    losing = [(address, inner) for address, inner in forms if address.endswith(LOSES)]
    assert {address.rpartition("/")[2] for address, _ in losing} == {"purge", "empty"}
    for address, inner in losing:
        assert re.search(r'<input[^>]*name="typed"[^>]* required', inner), address
    assert web("DELETE", f"/trash/{SESSION}").status in (404, 405), "no page removes by another method"


def test_several_sessions_at_once_are_refused_with_the_reason_where_nothing_can_be_done(web: Asking) -> None:
    assert form(web, "/e2e/selected", "action=star")[0] == 422
    assert "Say which tag" in form(web, "/e2e/selected", f"action=tag&session={SESSION}")[1]
    status, text = form(web, "/e2e/selected", f"action=star&session={SESSION}&session=nobody")
    assert status == 422
    assert "Done with 1 of 2" in text
    assert SESSION in web("GET", "/e2e?starred=true").body.decode()
    assert "Select two" in web("GET", f"/e2e/{SESSION}/compare?of=1").body.decode()
    answer = web("GET", f"/e2e/{SESSION}/compare?of=2&of=1")
    assert answer.headers["location"] == f"/e2e/{SESSION}/compare/1/2"
