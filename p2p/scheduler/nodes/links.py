"""Cache of open connections to nodes; a node that does not answer is not tried again for a while."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from p2p.contracts.errors import NodeUnreachable, UnknownName
from p2p.contracts.node import Node
from p2p.scheduler.nodes.ssh_connection import Connection
from p2p.store.nodes import NodeStore

PAUSES_S = (0.0, 1.0, 2.0, 4.0, 8.0, 15.0)
"""After so many failures in a row [s]; the last one for all further."""


class _NodeConnection:
    """A connection and its recent failures."""

    def __init__(self, node: Node, known_hosts: Path) -> None:
        self.node = node
        self.connection = Connection(node, known_hosts)
        self.failures = 0
        self.retry_at = 0.0
        self.reason = ""


class Links:
    """One connection per node.

    Args:
        store: the nodes.
    """

    def __init__(self, store: NodeStore) -> None:
        self.store = store
        self._lines: dict[str, _NodeConnection] = {}
        self._lock = threading.Lock()

    @contextmanager
    def to(self, name: str, patient: bool = True) -> Iterator[Connection]:
        """Connection to a node.

        Args:
            name: Of the node.
            patient: Whether a node that did not answer just now is left alone.

        Raises:
            NodeUnreachable: it does not answer, or has not just now; or p2p knows it no more.
        """
        line = self._line(name)
        if patient and time.monotonic() < line.retry_at:
            raise NodeUnreachable(line.reason)
        try:
            yield line.connection
        except NodeUnreachable as error:
            line.reason = str(error)
            line.retry_at = time.monotonic() + PAUSES_S[min(line.failures, len(PAUSES_S) - 1)]
            line.failures += 1
            raise
        line.failures = 0
        line.retry_at = 0.0

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            for line in self._lines.values():
                line.connection.close()
            self._lines.clear()

    def _line(self, name: str) -> _NodeConnection:
        try:
            node = self.store.get(name)
        except UnknownName as error:
            raise NodeUnreachable(f"The node {name!r} was removed. Add it again to reach its jobs.") from error
        with self._lock:
            line = self._lines.get(name)
            if line is None or line.node != node:
                if line is not None:
                    line.connection.close()
                line = self._lines[name] = _NodeConnection(node, self.store.known_hosts_path)
            return line


_ALL: dict[Path, Links] = {}


def links(store: NodeStore) -> Links:
    """This process's connections to the nodes of a store."""
    return _ALL.setdefault(store.path, Links(store))
