"""Nodes: other machines for trainings."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from p2p.contracts.errors import Busy, EnvironmentProblem, InvalidInput, NodeUnreachable, UnknownName
from p2p.contracts.job import JobStatus
from p2p.contracts.node import HostKey, Node, NodeState, NodeView
from p2p.contracts.remedies import Remedy
from p2p.registry import naming_extras
from p2p.service.workspace import Workspace
from p2p.store.clusters import ClusterStore
from p2p.store.remote import RemoteJobRecord, remote_jobs

if TYPE_CHECKING:
    from p2p.scheduler.nodes.node_setup import NodeSetup


def add_node(ws: Workspace, node: Node, cluster: str | None = None) -> NodeView:
    """Save a new node; nothing is sent to it.

    Args:
        node: The machine.
        cluster: Name of the cluster whose login node it is; its scheduler there is given the trainings.

    Raises:
        UnknownName: there is no such cluster.
        InvalidInput: there is another of its name, or its key file is not there.
        MissingExtra: what reaches it is not installed.
    """
    _node_setup(ws)
    if node.name == "local":
        raise InvalidInput("The name 'local' is that of this machine; choose another.")
    if node.key_file is not None and not Path(node.key_file).expanduser().is_file():
        raise InvalidInput(f"There is no key file {node.key_file}. Name the private key, such as ~/.ssh/id_ed25519.")
    if cluster is not None:
        known = ClusterStore(ws.node_store.path).all()
        if cluster not in known:
            raise UnknownName("cluster", cluster, known)
        node = node.model_copy(update={"cluster": known[cluster]})
    ws.node_store.add(node)
    return _view(ws, node)


def list_nodes(ws: Workspace) -> tuple[NodeView, ...]:
    """All nodes by name, as of their last check."""
    return tuple(_view(ws, node) for _, node in sorted(ws.node_store.all().items()))


def check_node(ws: Workspace, name: str) -> NodeView:
    """Probe a node: its resources, and whether a training could start; installs nothing.

    Raises:
        UnknownName: there is none of its name.
        MissingExtra: what reaches it is not installed.
    """
    node = ws.node_store.get(name)
    setup = _node_setup(ws)
    try:
        return _view(ws, setup.prepare(name, install=False), NodeState.READY)
    except NodeUnreachable as error:
        return _view(ws, node, NodeState.UNREACHABLE, str(error))
    except EnvironmentProblem as error:
        return _view(ws, ws.node_store.get(name), NodeState.NOT_READY, str(error))


def check_nodes(ws: Workspace) -> tuple[NodeView, ...]:
    """Probe all nodes in parallel.

    Raises:
        MissingExtra: what reaches them is not installed.
    """
    names = sorted(ws.node_store.all())
    with ThreadPoolExecutor(max(1, len(names))) as threads:
        return tuple(threads.map(partial(check_node, ws), names))


def bootstrap_node(ws: Workspace, name: str) -> NodeView:
    """Install the requirements of a training on a node; existing ones are kept.

    Raises:
        UnknownName: there is none of its name.
        NodeUnreachable: it does not answer.
        EnvironmentProblem: it lacks something that p2p cannot bring.
    """
    return _view(ws, _node_setup(ws).prepare(name), NodeState.READY)


def host_key(ws: Workspace, name: str) -> HostKey:
    """Host key shown by a node.

    Raises:
        UnknownName: there is none of its name.
        NodeUnreachable: it does not answer.
    """
    return _node_setup(ws).host_key(name)


def trust_node(ws: Workspace, name: str, fingerprint: str) -> HostKey:
    """Trust a node's key, replacing any earlier one.

    Raises:
        UnknownName: there is none of its name.
        NodeUnreachable: it does not answer, or shows a key of another fingerprint.
    """
    return _node_setup(ws).trust(name, fingerprint)


def remove_node(ws: Workspace, name: str, abandon: bool = False) -> tuple[JobStatus, ...]:
    """Delete a node.

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
        raise Busy(
            f"{len(live)} jobs have not ended on {name}, the first is {live[0].path}. "
            f"Wait for them, or give them up with: {Remedy.REMOVE_NODE.of(node=name)}"
        )
    ended = []
    for record in live:
        status = ws.backend.cancel(record.path)
        ended.append(status if status.state.finished else record.give_up())
    ws.node_store.remove(name)
    return tuple(ended)


def _live_jobs(ws: Workspace, name: str) -> list[RemoteJobRecord]:
    """Jobs of this runs directory on a node that have not ended, as far as known."""
    live = []
    for record in remote_jobs(ws.runs.path):
        remote = record.read()
        status = record.read_status()
        if remote is not None and remote.node == name and (status is None or not status.state.finished):
            live.append(record)
    return live


def _view(ws: Workspace, node: Node, state: NodeState | None = None, problem: str = "") -> NodeView:
    return NodeView(node=node, state=state, problem=problem, jobs=len(_live_jobs(ws, node.name)))


def _node_setup(ws: Workspace) -> "NodeSetup":
    with naming_extras():
        from p2p.scheduler.nodes.node_setup import NodeSetup  # noqa: PLC0415 - paramiko, which not everybody has

    return NodeSetup(ws.node_store)
