"""States as an icon and a word: never by colour alone."""

from typing import NamedTuple


class Mark(NamedTuple):
    """How a state is shown."""

    icon: str
    word: str
    tone: str
    """Class of its colour: "good", "bad", "at-work", "soft"."""


MARKS = {
    "passed": Mark("✓", "passed", "good"),
    "completed": Mark("✓", "completed", "good"),
    "ended": Mark("✓", "ended", "good"),
    "ready": Mark("✓", "ready", "good"),
    "ok": Mark("✓", "ok", "good"),
    "max_iterations": Mark("✗", "not passed", "bad"),
    "not_passed": Mark("✗", "not passed", "bad"),
    "failed": Mark("✗", "not passed", "bad"),
    "not_trained": Mark("!", "not trained", "bad"),
    "crashed": Mark("!", "crashed", "bad"),
    "capped": Mark("!", "capped", "bad"),
    "timed_out": Mark("!", "timed out", "bad"),
    "running": Mark("●", "running", "at-work"),
    "submitting": Mark("●", "starting", "at-work"),
    "pending": Mark("◌", "pending", "soft"),
    "open": Mark("◌", "open", "soft"),
    "queued": Mark("◌", "queued", "soft"),
    "waiting": Mark("◌", "waiting", "soft"),
    "cancelled": Mark("‖", "stopped", "soft"),
    "interrupted": Mark("‖", "interrupted", "soft"),
    "skipped": Mark("–", "skipped", "soft"),
    "no_verdict": Mark("?", "no verdict", "soft"),
    "warning": Mark("!", "warning", "bad"),
    "problem": Mark("!", "problem", "bad"),
    "lost": Mark("!", "lost", "bad"),
    "unreachable": Mark("!", "unreachable", "bad"),
    "not ready": Mark("!", "not ready", "bad"),
    "budget": Mark("!", "cap reached", "bad"),
    "invalid_code": Mark("!", "invalid code", "bad"),
    "rate_limited": Mark("!", "rate limited", "bad"),
    "auth_error": Mark("!", "key refused", "bad"),
    "error": Mark("!", "error", "bad"),
}


def mark_of(state: str | None) -> Mark:
    """How a state is shown; None is a verdict that there is not."""
    if state is None:
        return Mark("◌", "not judged yet", "soft")
    return MARKS.get(str(state), Mark("?", str(state).replace("_", " "), "soft"))
