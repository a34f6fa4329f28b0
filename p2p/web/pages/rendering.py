"""Pages made from templates, and errors as pages."""

import json
import shlex
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from functools import cache
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from p2p.cli.remedies import in_commands
from p2p.contracts import numbers
from p2p.contracts.errors import P2PError
from p2p.contracts.intent import needed
from p2p.contracts.job import in_words
from p2p.web.gate import VISITOR
from p2p.web.pages import charts, marks
from p2p.web.pages.static_files import address_of
from p2p.web.problems import Problem, TooMany, of_error, of_load, problem
from p2p.web.sharing import curtain_of
from p2p.web.visitors import OWNER, Visitor

THEME = "p2p_theme"
"""Cookie: "light" or "dark"; without it as the system has it."""
THEMES = ("light", "dark")
TABS = (
    ("e2e", "/e2e", "Sessions"),
    ("benchmark", "/benchmark", "Benchmark"),
    ("monitor", "/monitor", "Monitor"),
    ("trash", "/trash", "Trash"),
)
FOR_READERS = ("e2e", "benchmark")
"""Tabs that readers of all sessions have."""


class Address(str):
    """An address of ours: readers see it as it is, while paths in any other text are hidden from them."""

    __slots__ = ()


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page.

    Args:
        request: For it.
        template: Name in `templates/`.
        status: Of the answer.
        values: What the template names; `actions` are the commands of its forms.
    """
    theme = request.cookies.get(THEME, "")
    visitor = visitor_of(request)
    here = Address(request.url.path + (f"?{request.url.query}" if request.url.query else ""))
    values.setdefault("actions", ())
    if not visitor.may_change:
        values["curtain"] = curtain_of(request.app.state.workspace)
    text = (
        _environment(behind_curtain=not visitor.may_change)
        .get_template(template)
        .render(
            theme=theme if theme in THEMES else "",
            tabs=_tabs(visitor),
            may_change=visitor.may_change,
            here=here,
            **values,
        )
    )
    return HTMLResponse(text, status, headers={"vary": "cookie"})


def visitor_of(request: Request) -> Visitor:
    """Who asks."""
    found: Visitor = request.scope.get(VISITOR, OWNER)
    return found


def _tabs(visitor: Visitor) -> tuple[tuple[str, str, str], ...]:
    """The lists that a visitor may open."""
    if visitor.may_change:
        return TABS
    return tuple(tab for tab in TABS if tab[0] in FOR_READERS) if visitor.session_id is None else ()


def back_to(address: str) -> RedirectResponse:
    """Where a browser goes after a form."""
    return RedirectResponse(address, 303)


def command(*words: object) -> str:
    """A command of the terminal as it can be pasted there."""
    return shlex.join(str(word) for word in words)


class PageRoute(APIRoute):
    """A route whose errors are pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with errors of the error tree as pages."""
        answer = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await answer(request)
            except P2PError as error:
                found = of_error(error)
            except TooMany as error:
                found = of_load(error)
            except HTTPException as error:
                found = problem(error.status_code, "Refused", str(error.detail))
            except RequestValidationError as error:
                wrong = "; ".join(f"{one['loc'][-1]}: {one['msg']}" for one in error.errors())
                found = problem(422, "InvalidInput", f"The request is not valid: {wrong[:2000]}.")
            said = Problem.model_validate_json(bytes(found.body))
            answered = page(request, "error.html", said.status, problem=said, tab="", command="")
            if (wait := found.headers.get("retry-after")) is not None:
                answered.headers["retry-after"] = wait
            return answered

        return handler


def ago(then: str) -> str:
    """How long ago a time was, such as "3 min"; empty for none."""
    if not then:
        return ""
    return brief(max(0.0, (datetime.now(UTC) - datetime.fromisoformat(then)).total_seconds()))


def brief(seconds: float) -> str:
    """A time span in one unit, such as "3 min"."""
    for limit, unit, name in ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h")):
        if seconds < limit:
            return f"{int(seconds // unit)} {name}"
    return f"{int(seconds // 86_400)} d"


def cut(text: str, length: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= length else text[: length - 1] + "…"


def plain(value: object) -> str:
    """Data of an event in one line."""
    if isinstance(value, float):
        return numbers.number(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _static(path: str) -> Address:
    return Address(address_of(path))


@pass_context
def _for_readers(context: Context, value: object) -> object:
    """A value as readers may see it; what is safe already was looked at when it was made."""
    if not isinstance(value, str) or isinstance(value, Address | Markup):
        return value
    return context["curtain"](value)


@cache
def _environment(behind_curtain: bool) -> Environment:
    environment = Environment(
        loader=PackageLoader("p2p.web.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_for_readers if behind_curtain else None,  # it is called for each value
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "ago": ago,
        "brief": brief,
        "cut": cut,
        "duration": numbers.duration,
        "interval": numbers.interval_in_words,
        "number": numbers.number,
        "plain": plain,
        "score": numbers.score_in_words,
        "share": numbers.share_in_words,
        "waiting": in_words,
        "worded": in_commands,
    }
    environment.globals |= {
        "static": _static,
        "mark": marks.mark_of,
        "charts": charts,
        "needed": needed,
    }
    return environment
