"""The addresses that a browser opens, one file per page."""

from fastapi import APIRouter

from p2p.web.pages import session, sessions, static_files, theme

router = APIRouter(include_in_schema=False)
for one in (sessions, session, theme):
    router.include_router(one.router)
router.add_route(static_files.PATH, static_files.answer, methods=["GET"])
