"""What routes are made with: who may use them, and how they say what is wrong."""

from typing import Any

from fastapi import APIRouter, Depends

from p2p.web.problems import MEDIA_TYPE, Problem
from p2p.web.sharing import admit

WRONG: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "What is wrong, and what to do.", "model": Problem, "content": {MEDIA_TYPE: {}}}
}


class Router(APIRouter):
    """A group of routes. The application takes its routes: `include_router` would make each a second time."""

    def __init__(self, **options: Any) -> None:
        said = WRONG if options.get("include_in_schema", True) else None
        super().__init__(dependencies=[Depends(admit)], responses=said, **options)
