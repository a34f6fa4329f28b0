"""The other machines that trainings may run on: seen here, added and trusted by a person alone."""

from p2p.contracts.base import Contract
from p2p.contracts.node import NodeState
from p2p.service.machines.nodes import check_nodes
from p2p.service.workspace import Workspace
from p2p_mcp.views.answer import Answer

ADD = "A person adds, trusts and prepares them: p2p nodes --help"


class NodeLine(Contract):
    """One machine."""

    backend: str
    """What train_iteration takes as `backend`."""
    reachable: bool
    prepared: bool
    """True when a training could start there now."""
    cores: int | None
    """None before it was first looked at, as for the memory."""
    memory_free_mb: int | None
    gpus: tuple[str, ...]
    jobs: int
    """Jobs of this runs directory that are there and have not ended."""
    problem: str
    """What it lacks, and what the user can do."""


class NodeList(Answer):
    """Machines besides the one that this server runs on."""

    nodes: tuple[NodeLine, ...]
    next_step: str


def list_nodes(ws: Workspace) -> NodeList:
    """List the other machines that can train, asked just now: cores, free memory, whether they are prepared."""
    lines = []
    for view in check_nodes(ws):
        facts = view.node.facts
        lines.append(
            NodeLine(
                backend=f"ssh:{view.node.name}",
                reachable=view.state is not NodeState.UNREACHABLE,
                prepared=view.state is NodeState.READY,
                cores=facts.cores if facts else None,
                memory_free_mb=facts.memory_free_mb if facts else None,
                gpus=facts.gpus if facts else (),
                jobs=view.jobs,
                problem=view.problem,
            )
        )
    ready = next((line.backend for line in lines if line.prepared), None)
    step = f'train_iteration(session_id="...", backend="{ready}")' if ready else f"Train here. {ADD}"
    return NodeList(nodes=tuple(lines), next_step=step)
