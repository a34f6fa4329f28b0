"""The dashboard's page, for clients that show MCP Apps."""

from importlib.resources import files
from typing import Any

from mcp.server.apps import Apps

DASHBOARD = "ui://p2p/dashboard.html"
SHOWS_DASHBOARD: dict[str, Any] = {"ui": {"resourceUri": DASHBOARD}, "ui/resourceUri": DASHBOARD}
"""`_meta` of a tool whose result the page shows; hosts read one spelling or the other."""
TOKENS = "/* TOKENS */"
"""Where the colours and sizes of `p2p web` stand in the page."""
FOR_THE_PAGE: dict[str, Any] = {"ui": {"visibility": ["app"]}}
"""`_meta` of a tool that only the page calls."""


def dashboard_page() -> Apps:
    """The extension that serves the page: one HTML document that loads nothing from anywhere."""
    apps = Apps()
    apps.add_html_resource(
        DASHBOARD,
        dashboard_html(),
        name="dashboard",
        title="Training dashboard",
        description="Status, curves, criteria and frames of a session, updating while it trains.",
        prefers_border=True,
    )
    return apps


def dashboard_html() -> str:
    """The page in one document, in the colours of `p2p web`; those of the client come first where it gives some."""
    tokens = files("p2p").joinpath("web/pages/static/tokens.css").read_text(encoding="utf-8")
    html = files(__package__).joinpath("dashboard.html").read_text(encoding="utf-8")
    return html.replace(TOKENS, tokens)
