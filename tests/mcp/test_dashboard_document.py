"""The dashboard's page is one document in the colours of `p2p web`."""

import re
from importlib.resources import files

from p2p_mcp.apps.page import dashboard_html


def test_the_page_has_the_colours_of_the_web_pages_and_is_small_and_loads_nothing() -> None:
    page = dashboard_html()
    assert (files("p2p") / "web/pages/static/tokens.css").read_text("utf-8") in page
    own = set(re.findall(r"(--[a-z0-9-]+):", page))
    clients = re.compile(r"--(color|font)-")
    assert {name for name in re.findall(r"var\((--[a-z0-9-]+)", page) if not clients.match(name)} <= own
    assert len(page.encode()) < 40_000
    assert not re.search(r"\bimport\b|<link|src=|https?://(?!www\.w3\.org/)", page)
