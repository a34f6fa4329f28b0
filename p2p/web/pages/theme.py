"""Light, dark, or as the system has it."""

from typing import Annotated, Literal

from fastapi import Form
from starlette.responses import Response

from p2p.web.pages.rendering import THEME, PageRoute, back_to
from p2p.web.pages.sessions import Back, own
from p2p.web.router import Router

router = Router(include_in_schema=False, route_class=PageRoute, default_response_class=Response)
YEAR_S = 31_536_000


@router.post("/theme")
def choose(theme: Annotated[Literal["light", "dark"], Form()], back: Back = "/e2e") -> Response:
    """Keep a theme in a cookie, so that the first paint is right."""
    answer = back_to(own(back))
    answer.set_cookie(THEME, theme, max_age=YEAR_S, samesite="strict", path="/")
    return answer
