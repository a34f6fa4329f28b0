"""Too much at once, or too often: 429, and when to ask again."""

import threading

import pytest
from asking import EXAMPLES, Asking

from p2p.contracts.inference import RateLimited
from p2p.web.pages import session
from p2p.web.problems import RETRY_S
from p2p.web.routes import exports, iterations, media

SESSION = EXAMPLES["session_id"]
HERE = f"/api/sessions/{SESSION}"


@pytest.mark.parametrize(
    ("address", "body", "turns", "what"),
    [
        (f"{HERE}/exports", {"formats": ["sb3"]}, exports._exporting, "exports"),
        (f"{HERE}/iterations/1/views", {"label": "median"}, media._rendering, "renderings"),
    ],
)
def test_what_keeps_a_core_busy_is_refused_while_others_are_at_it(
    web: Asking, address: str, body: dict[str, object], turns: threading.Semaphore, what: str
) -> None:
    taken = 0
    while turns.acquire(blocking=False):
        taken += 1
    try:
        answer = web("POST", address, None, body)
    finally:
        for _ in range(taken):
            turns.release()
    assert taken > 0
    assert answer.status == 429
    assert int(answer.headers["retry-after"]) == RETRY_S
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.data["detail"] == f"Too many {what} at once: ask again in {RETRY_S} s."
    assert web("POST", address, None, body).status != 429, "and later it is not"


def test_wrong_tokens_by_the_dozen_are_refused_with_the_time_to_wait(web: Asking) -> None:
    wrong = {"authorization": "Bearer wrong"}
    answers = [web("GET", "/e2e", wrong) for _ in range(12)]
    assert [answer.status for answer in answers[:10]] == [401] * 10
    assert {answer.status for answer in answers[10:]} == {429}
    assert 0 < int(answers[-1].headers["retry-after"]) <= 60


def test_pages_and_api_say_when_to_come_again_if_a_provider_does(web: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RateLimited("The provider has had too many requests.")

    monkeypatch.setattr(session, "analyze_session", refuse)
    sent = web("POST", f"/e2e/{SESSION}/report", {"content-type": "application/x-www-form-urlencoded"}, b"")
    assert (sent.status, sent.headers["retry-after"]) == (429, str(RETRY_S))
    assert "too many requests" in sent.body.decode()
    monkeypatch.setattr(iterations, "rejudge", refuse)
    told = web("POST", f"{HERE}/iterations/1/judge")
    assert (told.status, told.headers["retry-after"], told.data["type"]) == (429, str(RETRY_S), "RateLimited")
