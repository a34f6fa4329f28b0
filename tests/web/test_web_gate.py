"""Who is let in: every address of the application, by every method, from every wrong place."""

import hashlib
from pathlib import Path

import pytest
from asking import EXAMPLES, HOST, METHODS, Asking

from p2p.web import visitors
from p2p.web.gate import CONTENT_SECURITY_POLICY
from p2p.web.visitors import MOST_WRONG, OWNER, WITHIN_S, Keys, TooManyWrongTokens

SESSION = EXAMPLES["session_id"]
WRONG: dict[str, tuple[dict[str, str | None], int]] = {
    "no token": ({"authorization": None}, 401),
    "a wrong token": ({"authorization": "Bearer " + "x" * 32}, 401),
    "another scheme": ({"authorization": "Basic abc"}, 401),
    "a foreign host": ({"host": "evil.example:8766"}, 421),
    "another port of this host": ({"host": "127.0.0.1:8767"}, 421),
    "a host without its port": ({"host": "127.0.0.1"}, 421),
    "no host": ({"host": None}, 421),
    "a foreign origin": ({"origin": "http://evil.example"}, 403),
    "a page on another port": ({"origin": "http://127.0.0.1:9999"}, 403),
    "no page at all": ({"origin": "null"}, 403),
    "our name over another scheme": ({"origin": f"https://{HOST}"}, 403),
    "another site": ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "video"}, 403),
    "the same site": ({"sec-fetch-site": "same-site", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}, 403),
    "a frame elsewhere": (
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
        403,
    ),
}


def _state(runs: Path) -> str:
    """Fingerprint of all that is kept."""
    files = sorted(path for path in runs.rglob("*") if path.is_file())
    told = (f"{path}{path.stat().st_mtime_ns}" for path in files if not path.name.startswith(".index"))
    return hashlib.sha256("".join(told).encode()).hexdigest()


@pytest.mark.parametrize("wrong", WRONG)
def test_every_address_refuses_by_every_method(
    web: Asking, seeded: Path, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitors, "MOST_WRONG", 10**9)
    headers, status = WRONG[wrong]
    before = _state(seeded)
    for address in web.addresses():
        for method in METHODS:
            answer = web(method, address, headers)
            assert answer.status == status, (method, address)
            assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert _state(seeded) == before


def test_a_token_in_the_address_becomes_a_cookie_and_leaves_the_address(web: Asking, keys: Keys) -> None:
    answer = web("GET", f"/api/sessions?limit=5&token={keys.token}", {"authorization": None})
    assert answer.status == 303
    assert answer.headers["location"] == f"http://{HOST}/api/sessions?limit=5"
    cookie, *attributes = answer.headers["set-cookie"].split("; ")
    assert cookie.startswith("p2p_8766=")
    assert keys.token not in cookie
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(attributes)
    known = {"authorization": None, "cookie": cookie}
    assert web("GET", "/api/sessions", known).status == 200
    assert (
        web("GET", "/api/sessions", known | {"sec-fetch-site": "same-origin", "origin": f"http://{HOST}"}).status == 200
    )
    assert web("GET", "/api/sessions", known | {"cookie": cookie + "x"}).status == 401
    assert web("GET", "/api/sessions", known | {"cookie": f"p2p_8766={keys.token}"}).status == 401
    assert web("GET", "/api/sessions", known | {"cookie": cookie.replace("8766", "8767")}).status == 401


def test_an_address_with_two_slashes_leads_to_no_other_host(web: Asking, keys: Keys) -> None:
    answer = web("GET", f"//evil.example/x?token={keys.token}", {"authorization": None})
    assert answer.headers["location"] == f"http://{HOST}//evil.example/x"


def test_a_token_for_a_browser_that_is_opened_works_once(web: Asking, keys: Keys) -> None:
    once = keys.one_time_token()
    assert web("GET", f"/?token={once}", {"authorization": None}).status == 303
    assert web("GET", f"/?token={once}", {"authorization": None}).status == 401


def test_a_token_in_the_address_changes_nothing_by_itself(web: Asking, keys: Keys) -> None:
    address = f"/api/sessions/{SESSION}?token={keys.token}"
    assert web("DELETE", address, {"authorization": None}).status == 401
    assert web("GET", f"/api/sessions/{SESSION}").status == 200


def test_whoever_follows_a_link_from_elsewhere_is_sent_on_once_and_changes_nothing(web: Asking) -> None:
    followed = {"authorization": None, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    followed["sec-fetch-dest"] = "document"
    answer = web("GET", f"/api/sessions/{SESSION}", followed)
    assert answer.status == 200
    assert b'http-equiv="refresh" content="0"' in answer.body
    assert b"script" not in answer.body
    assert SESSION.encode() not in answer.body
    assert web("GET", f"/api/sessions/{SESSION}", followed | {"sec-fetch-site": "same-origin"}).status == 401
    assert web("POST", f"/api/sessions/{SESSION}/stop", followed).status == 403


def test_after_ten_wrong_tokens_none_is_looked_at_for_a_minute_and_browsers_that_are_in_stay(
    web: Asking, keys: Keys
) -> None:
    cookie = web("GET", f"/?token={keys.token}", {"authorization": None}).headers["set-cookie"].split(";")[0]
    for _ in range(MOST_WRONG):
        assert web("GET", "/api/sessions", {"authorization": "Bearer wrong"}).status == 401
    right = web("GET", "/api/sessions")
    assert right.status == 429
    assert right.headers["retry-after"] == "60"
    assert web("GET", f"/?token={keys.token}", {"authorization": None}).status == 429
    assert web("GET", "/api/sessions", {"authorization": None, "cookie": cookie}).status == 200


def test_wrong_tokens_are_forgotten_after_a_minute() -> None:
    now = [0.0]
    keys = Keys("a-token-of-my-own-0123", clock=lambda: now[0])
    for _ in range(MOST_WRONG):
        assert keys.with_token("wrong") is None
    with pytest.raises(TooManyWrongTokens):
        keys.with_token("a-token-of-my-own-0123")
    now[0] = WITHIN_S + 1
    assert keys.with_token("a-token-of-my-own-0123") == OWNER


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("text/plain", 415),
        ("multipart/form-data; boundary=x", 415),
        ("", 415),
        ("application/json", 422),
        ("application/json; charset=utf-8", 422),
    ],
)
def test_only_bodies_that_no_other_page_can_send_are_read(web: Asking, kind: str, status: int) -> None:
    answer = web("POST", "/api/sessions", {"content-type": kind}, b'{"no_such_field": 1}')
    assert answer.status == status


def test_a_body_is_no_longer_than_a_mebibyte_said_or_not(web: Asking) -> None:
    long = b'{"prompt": "' + b"x" * (1 << 20) + b'"}'
    assert web("POST", "/api/sessions", None, long).status == 413
    assert web("POST", "/api/sessions", {"content-length": None, "transfer-encoding": "chunked"}, long).status == 413


def test_a_read_with_a_body_is_refused(web: Asking) -> None:
    assert web("GET", "/api/sessions", None, {"a": 1}).status == 400


def test_a_refusal_is_a_problem_that_says_what_to_do(web: Asking) -> None:
    answer = web("GET", "/api/sessions", {"authorization": None})
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.data["status"] == 401
    assert "p2p web" in answer.data["detail"]
