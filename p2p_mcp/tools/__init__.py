"""The tools, one file per noun."""

from p2p_mcp.toolbox import Toolbox
from p2p_mcp.tools import (
    catalog,
    create,
    dashboard,
    export,
    jobs,
    judging,
    keeping,
    labelling,
    metrics,
    rewards,
    sessions,
    training,
    viewing,
)


def add_all(toolbox: Toolbox) -> None:
    """Offer every tool the toolbox wants."""
    for module in (
        *(catalog, create, sessions, keeping, rewards, training, jobs),
        *(metrics, judging, labelling, viewing, export, dashboard),
    ):
        module.add(toolbox)
