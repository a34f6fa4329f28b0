"""The application: routes and pages over one workspace, behind the gate."""

import warnings

from fastapi import FastAPI
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.types import ASGIApp

import p2p
from p2p.contracts.base import build_contracts
from p2p.http_server.host_names import HostNames
from p2p.http_server.listening import BODY_S
from p2p.service.workspace import Workspace
from p2p.web import problems
from p2p.web.answers import Answers
from p2p.web.gate import Gate
from p2p.web.pages import pages
from p2p.web.routes import ROUTES
from p2p.web.sharing import curtain_of
from p2p.web.streams import Streams
from p2p.web.visitors import Keys

LONGEST_BODY = 1 << 20
"""[bytes]."""

# FastAPI keeps this one back too, but contracts are built at the first request, when it no longer does
warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)


def web_app(ws: Workspace) -> FastAPI:
    """Routes and pages over a workspace, for whoever asks: `guarded` puts the gate before it."""
    app = FastAPI(
        title="p2p",
        version=p2p.__version__,
        description="One sentence in, a trained and judged policy out.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        routes=[*ROUTES, *pages.ROUTES],
        redirect_slashes=False,
    )
    app.state.workspace = ws
    app.state.streams = Streams()
    problems.install(app)
    build_contracts()  # now: two threads that use one for the first time break it
    return app


def guarded(app: FastAPI, names: HostNames, keys: Keys, longest: int = LONGEST_BODY) -> ASGIApp:
    """An application behind the gate.

    Args:
        app: What answers.
        names: Hosts that requests may be sent to.
        keys: Who may send them.
        longest: Longest body [bytes].
    """
    return Gate(Answers(app, curtain_of(app.state.workspace)), names, keys, longest, BODY_S)
