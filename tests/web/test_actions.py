"""Whatever a page can do, a command and the Python API can; and the page shows the command."""

import html
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from asking import EXAMPLES, Asking
from fastapi import FastAPI
from made_up_suites import begun, end, suite_of
from starlette.routing import BaseRoute

import p2p
from p2p.cli.app import app as command_line
from p2p.contracts.session import SessionStatus
from p2p.service.workspace import Workspace
from p2p.web.pages.actions import ACTIONS, Action

SESSION = EXAMPLES["session_id"]
PARTS = {**EXAMPLES, "iteration_id": "1", "other_id": "2"}
OF_THE_BROWSER = {"/theme"}
PAGES = {
    "/e2e": ("/e2e/new", "/e2e/selected", "/compare", "/api/results.zip"),
    "/e2e/{session_id}": (
        *(f"/e2e/{{session_id}}/{name}" for name in ("stop", "resume", "wish", "cap", "name", "star", "report")),
        "/e2e/{session_id}/delete",
        "/e2e/{session_id}/compare",
    ),
    "/e2e/{session_id}/iterations/{iteration_id}": ("/e2e/{session_id}/iterations/{iteration_id}/label",),
    "/e2e/{session_id}/compare/{iteration_id}/{other_id}": ("/e2e/{session_id}/compare/{iteration_id}/{other_id}",),
    "/benchmark": ("/benchmark",),
    "/benchmark/{benchmark_id}": tuple(f"/benchmark/{{benchmark_id}}/{name}" for name in ("stop", "resume", "delete")),
    "/trash": ("/trash/{entity_id}/restore", "/trash/{entity_id}/purge", "/trash/empty"),
    "/monitor": ("/monitor/nodes/{name}/check", "/monitor/jobs/{job_id}/cancel"),
    "/settings": ("/settings",),
}
"""Page -> the forms whose commands it shows."""


def posted(routes: list[BaseRoute]) -> Iterator[str]:
    """Addresses of pages, and not of the API, that take a form."""
    for route in routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from posted(inner.routes)
        elif "POST" in getattr(route, "methods", ()) and not route.path.startswith("/api"):  # type: ignore[attr-defined]
            yield route.path  # type: ignore[attr-defined]


def words_of(action: Action) -> list[str]:
    return [word.format(**PARTS) for word in action.words]


def parse(words: list[str]) -> None:
    """Read a command as the command line does, without doing it.

    Raises:
        UsageError: it would be refused.
    """
    found: Any = typer.main.get_command(command_line)
    context = found.make_context(words[0], words[1:])
    name, *rest = words[1:]
    found = found.get_command(context, name)
    assert found is not None, f"no command {name!r}"
    context = found.make_context(name, rest, parent=context)
    while hasattr(found, "get_command"):
        name, *rest = rest
        found = found.get_command(context, name)
        assert found is not None, f"no command {name!r} in {shlex.join(words)}"
        context = found.make_context(name, rest, parent=context)


def test_no_form_of_a_page_is_without_a_command(app: FastAPI) -> None:
    forms = set(posted(app.routes)) - OF_THE_BROWSER
    assert len(forms) > 15
    assert forms <= {action.form for action in ACTIONS}
    assert {action.form for action in ACTIONS} == {form for shown in PAGES.values() for form in shown}


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: f"{action.form} {action.does}")
def test_each_action_has_a_command_that_is_read_and_a_name_in_python(action: Action) -> None:
    parse(words_of(action))
    if action.python:
        found: object = p2p
        for part in action.python.split("."):
            found = getattr(found, part)
        assert callable(found)
    else:
        assert action.form.startswith(("/monitor", "/settings")), "of this machine, and of no session"


@pytest.fixture
def suite_run(web: Asking) -> None:
    ws: Workspace = web.app.state.workspace
    suite = suite_of(2, name=EXAMPLES["benchmark_id"])
    _, run = begun(ws, suite)
    for case in suite.cases:
        end(ws, suite, run, case.name, SessionStatus.MAX_ITERATIONS)


@pytest.mark.usefixtures("suite_run")
@pytest.mark.parametrize("page", PAGES)
def test_each_page_shows_the_commands_of_what_it_can_do(web: Asking, page: str) -> None:
    text = html.unescape(web("GET", page.format(**PARTS)).body.decode())
    shown = re.findall(r'<code class="command"[^>]*>(.*?)</code>', text)
    assert {shlex.join(words_of(action)) for action in ACTIONS if action.form in PAGES[page]} <= set(shown)
    for command in shown:
        if command.startswith("p2p "):
            parse(shlex.split(command))
