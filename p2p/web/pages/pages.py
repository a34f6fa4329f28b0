"""The addresses that a browser opens, one file per page."""

from fastapi import APIRouter

from p2p.web.pages import labelling, session, sessions, static_files, theme, workbench

router = APIRouter(include_in_schema=False)
for one in (sessions, session, workbench, labelling, theme):
    router.include_router(one.router)
router.add_route(static_files.PATH, static_files.answer, methods=["GET"])
