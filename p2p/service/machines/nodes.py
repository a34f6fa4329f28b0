"""The other machines that trainings may run on."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from p2p import registry
from p2p.contracts.errors import EnvironmentProblem, InvalidInput, NodeUnreachable
from p2p.contracts.job import JobStatus
from p2p.contracts.node import HostKey, Node, NodeState, NodeView
from p2p.service.workspace import Workspace
from p2p.store.remote import RemoteJobRecord, remote_jobs

if TYPE_CHECKING:
    from p2p.scheduler.nodes.care import NodeCare


def add_node(ws: Workspace, node: Node) -> NodeView:
    """Keep a new node; nothing is sent to it.

    Raises:
        InvalidInput: there is another of its name, or its key file is not there.
        MissingExtra: what reaches it is not installed.
    """
    _care(ws)
    if node.name == "local":
        raise InvalidInput("The name 'local' is that of this machine; choose another.")
    if node.key_file is not None and not Path(node.key_file).expanduser().is_file():
        raise InvalidInput(f"There is no key file {node.key_file}. Name the private key, such as ~/.ssh/id_ed25519.")
    ws.node_store.add(node)
    return _view(ws, node)


def list_nodes(ws: Workspace) -> tuple[NodeView, ...]:
    """All nodes by name, as they were when last looked at."""
    return tuple(_view(ws, node) for _, node in sorted(ws.node_store.all().items()))


def check_node(ws: Workspace, name: str) -> NodeView:
    """Look at a node now: what it has, and whether a training could start there; nothing is installed.

    Raises:
        UnknownName: there is none of its name.
        MissingExtra: what reaches it is not installed.
    """
    node, care = ws.node_store.get(name), _care(ws)
    try:
        return _view(ws, care.prepare(name, install=False), NodeState.READY)
    except NodeUnreachable as error:
        return _view(ws, node, NodeState.UNREACHABLE, str(error))
    except EnvironmentProblem as error:
        return _view(ws, ws.node_store.get(name), NodeState.NOT_READY, str(error))


def check_nodes(ws: Workspace) -> tuple[NodeView, ...]:
    """Look at all nodes now, by name, at the same time.

    Raises:
        MissingExtra: what reaches them is not installed.
    """
    names = sorted(ws.node_store.all())
    with ThreadPoolExecutor(max(1, len(names))) as threads:
        return tuple(threads.map(partial(check_node, ws), names))


def bootstrap_node(ws: Workspace, name: str) -> NodeView:
    """Give a node all that a training needs; what is there already is kept.

    Raises:
        UnknownName: there is none of its name.
        NodeUnreachable: it does not answer.
        EnvironmentProblem: it lacks something that p2p cannot bring.
    """
    return _view(ws, _care(ws).prepare(name), NodeState.READY)


def host_key(ws: Workspace, name: str) -> HostKey:
    """The key by which a node proves who it is.

    Raises:
        UnknownName: there is none of its name.
        NodeUnreachable: it does not answer.
    """
    return _care(ws).host_key(name)


def trust_node(ws: Workspace, name: str, fingerprint: str) -> HostKey:
    """Trust a node's key from now on, in place of any earlier one.

    Raises:
        UnknownName: there is none of its name.
        NodeUnreachable: it does not answer, or shows a key of another fingerprint.
    """
    return _care(ws).trust(name, fingerprint)


def remove_node(ws: Workspace, name: str, abandon: bool = False) -> tuple[JobStatus, ...]:
    """Forget a node.

    Args:
        name: Its name.
        abandon: Whether jobs that have not ended there are ended, or, if it is out of reach, given up.

    Returns:
        How the jobs stand that had not ended.

    Raises:
        UnknownName: there is none of its name.
        InvalidInput: jobs have not ended there, and are not to be given up.
    """
    ws.node_store.get(name)
    live = _live_jobs(ws, name)
    if live and not abandon:
        raise InvalidInput(
            f"{len(live)} jobs have not ended on {name}, the first is {live[0].path}. "
            f"Wait for them, or give them up with: p2p nodes remove {name} --abandon"
        )
    ended = tuple(_give_up(ws, record) for record in live)
    ws.node_store.remove(name)
    return ended


def _give_up(ws: Workspace, record: RemoteJobRecord) -> JobStatus:
    status = ws.backend.cancel(record.path)
    return status if status.state.finished else record.give_up()


def _live_jobs(ws: Workspace, name: str) -> list[RemoteJobRecord]:
    """Jobs of this runs directory that are on a node and, as far as is known, have not ended."""
    live = []
    for record in remote_jobs(ws.runs.path):
        remote, status = record.read(), record.read_status()
        if remote is not None and remote.node == name and (status is None or not status.state.finished):
            live.append(record)
    return live


def _view(ws: Workspace, node: Node, state: NodeState | None = None, problem: str = "") -> NodeView:
    return NodeView(node=node, state=state, problem=problem, jobs=len(_live_jobs(ws, node.name)))


def _care(ws: Workspace) -> "NodeCare":
    care: NodeCare = registry.load("part", registry.NODES, "care")(ws.node_store)
    return care
