"""The addresses that a browser opens."""

from fastapi import APIRouter
from starlette.responses import RedirectResponse

router = APIRouter(include_in_schema=False)


@router.get("/")
def start() -> RedirectResponse:
    """The list of sessions."""
    return RedirectResponse("/api/sessions", 303)
