"""The tools, one file per noun."""

from p2p_mcp.toolbox import Toolbox
from p2p_mcp.tools import (
    catalog,
    comparing,
    create,
    dashboard,
    export,
    jobs,
    judge_code,
    judging,
    keeping,
    labelling,
    metrics,
    nodes,
    rewards,
    sessions,
    training,
    viewing,
)


def add_all(toolbox: Toolbox) -> None:
    """Offer every tool the toolbox wants."""
    for module in (
        *(catalog, nodes, create, sessions, keeping, rewards, training, jobs),
        *(metrics, judging, judge_code, comparing, labelling, viewing, export, dashboard),
    ):
        module.add(toolbox)
