"""The addresses that a browser opens, one file per page."""

from fastapi import APIRouter

from p2p.web.pages import (
    benchmarks,
    comparison,
    labelling,
    machines,
    new_session,
    session,
    sessions,
    static_files,
    theme,
    trash,
    workbench,
)

router = APIRouter(include_in_schema=False)
for one in (sessions, new_session, session, benchmarks, machines, trash, workbench, comparison, labelling, theme):
    router.include_router(one.router)
router.add_route(static_files.PATH, static_files.answer, methods=["GET"])
