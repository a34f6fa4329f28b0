"""This machine and the others, and the providers of language models."""

from p2p.contracts.machine import MachineView
from p2p.contracts.node import NodeView, SetupReport
from p2p.service.machines.nodes import bootstrap_node, check_node, list_nodes
from p2p.service.machines.overview import machine
from p2p.service.machines.setup import check_setup
from p2p.settings import keys_present
from p2p.web.arguments import Ws
from p2p.web.router import Router
from p2p.web.schemas import Provider

router = Router(prefix="/api", tags=["machines"])


@router.get("/resources/status")
def resources(ws: Ws) -> MachineView:
    """Cores and who owns them, who waits, load, memory and disk; other machines as of their last check."""
    return machine(ws)


@router.get("/nodes")
def nodes(ws: Ws) -> tuple[NodeView, ...]:
    """Other machines, as of their last check."""
    return list_nodes(ws)


@router.post("/nodes/{name}/check")
def check(ws: Ws, name: str) -> NodeView:
    """Look whether a training could start there; nothing is installed."""
    return check_node(ws, name)


@router.post("/nodes/{name}/bootstrap")
def bootstrap(ws: Ws, name: str) -> NodeView:
    """Install there what a training needs."""
    return bootstrap_node(ws, name)


@router.post("/setup")
def setup(ws: Ws) -> SetupReport:
    """Check what this machine has and lacks. It takes seconds, and a process."""
    return check_setup(ws)


@router.get("/providers")
def providers() -> tuple[Provider, ...]:
    """Providers of language models, and whether a key of each is set."""
    return tuple(
        Provider(name=name.removesuffix("_API_KEY").lower(), has_key=there) for name, there in keys_present().items()
    )
