import re

import pytest
from asking import EXAMPLES, Asking

from p2p.web.pages.static_files import address_of, static_files

SESSION = EXAMPLES["session_id"]
PAGES = ("/e2e",)


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
