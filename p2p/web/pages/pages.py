"""The addresses that a browser opens, one file per page."""

from starlette.routing import Route

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

PAGES = (sessions, new_session, session, benchmarks, machines, trash, workbench, comparison, labelling, theme)
ROUTES = (
    *(route for page in PAGES for route in page.router.routes),
    Route(static_files.PATH, static_files.answer, methods=["GET"]),
)
