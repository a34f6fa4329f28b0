"""The tools, one file per noun."""

from p2p_mcp.toolbox import Toolbox
from p2p_mcp.tools import catalog, dashboard, jobs, sessions, training


def add_all(toolbox: Toolbox) -> None:
    """Offer every tool the toolbox wants."""
    for module in (catalog, sessions, training, jobs, dashboard):
        module.add(toolbox)
