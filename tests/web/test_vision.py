"""Questions to the eyes, in the form that programs for Ollama speak, and who pays for them."""

import base64
from pathlib import Path

import pytest
from asking import EXAMPLES, Asking
from wire_stub import Stub, says

SESSION = EXAMPLES["session_id"]
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(30)).decode()
QUESTION = {"messages": [{"role": "user", "content": "What do you see?", "images": [PNG]}]}


def test_a_question_with_a_picture_is_answered_within_a_sessions_caps_and_counted_there(
    web: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = Stub([says("a pole")])
    with stub.serving():
        for name, value in stub.environment().items():
            monkeypatch.setenv(name, value)
        asked = {**QUESTION, "session_id": SESSION, "model": "anthropic:claude-opus-5-5"}
        answer = web("POST", "/api/vlm/api/chat", None, asked)
    assert (answer.status, answer.data["message"]["content"]) == (200, "a pole"), answer.body
    assert stub.seen[0].pictures == 1
    costs = web("GET", f"/api/sessions/{SESSION}/costs").data
    assert [row["role"] for row in costs["rows"]] == ["question"]


def test_without_a_session_no_model_is_asked_that_costs_money(web: Asking) -> None:
    answer = web("POST", "/api/vlm/api/chat", None, {**QUESTION, "model": "anthropic:claude-opus-5-5"})
    assert answer.status == 422
    assert "nothing caps it" in answer.data["detail"]
    assert web("POST", "/api/vlm/api/chat", None, QUESTION).data["next"][0]["remedy"] == "list_served"


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": []},
        {"messages": [{"role": "user", "content": "", "images": []}]},
        {"messages": [{"role": "user", "content": "see", "images": ["bm8gcGljdHVyZQ=="]}]},
        {"messages": [{"role": "assistant", "content": "I see"}]},
        {**QUESTION, "stream": True},
    ],
)
def test_a_question_that_is_none_is_refused(web: Asking, wrong: dict[str, object]) -> None:
    assert web("POST", "/api/vlm/api/chat", None, wrong).status == 422


def test_the_eyes_of_a_session_are_named(web: Asking) -> None:
    assert web("GET", "/api/vlm/status").data == {"available": False, "models": [], "eyes": ""}
    assert web("GET", f"/api/vlm/status?session={SESSION}").status == 200
    assert web("GET", "/api/vlm/api/tags").data == {"models": []}


def test_an_export_is_listed_and_downloaded_whole(web: Asking, seeded: Path) -> None:
    folder = seeded / SESSION / "export/one"
    folder.mkdir(parents=True)
    assert web("GET", f"/api/sessions/{SESSION}/exports").data == {}  # it is unfinished: there is no report
    assert web("GET", f"/api/sessions/{SESSION}/exports/one.zip").status == 404
