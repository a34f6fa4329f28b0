"""The other machines and clusters that trainings may run on: seen here, added and trusted by a person alone."""

from p2p.contracts.base import Contract
from p2p.contracts.node import NodeState
from p2p.service.machines.clusters import list_clusters
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


class ClusterLine(Contract):
    """One cluster, whose scheduler is not asked."""

    backend: str
    """What train_iteration takes as `backend`."""
    jobs: int
    problem: str
    """What this machine lacks to reach it."""


class NodeList(Answer):
    """Machines besides the one that this server runs on."""

    nodes: tuple[NodeLine, ...]
    clusters: tuple[ClusterLine, ...]
    next_step: str


def list_nodes(ws: Workspace) -> NodeList:
    """List other machines and clusters that can train; machines are asked just now: cores, memory, whether prepared."""
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
    clusters = tuple(
        ClusterLine(backend=view.backend, jobs=view.jobs, problem=view.problem) for view in list_clusters(ws)
    )
    usable = [line.backend for line in lines if line.prepared] + [line.backend for line in clusters if not line.problem]
    ready = next(iter(usable), None)
    step = f'train_iteration(session_id="...", backend="{ready}")' if ready else f"Train here. {ADD}"
    return NodeList(nodes=tuple(lines), clusters=clusters, next_step=step)
