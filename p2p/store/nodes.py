"""Known nodes and their trusted host keys."""

import hmac
import secrets
from pathlib import Path

from pydantic import Field

from p2p import config_file
from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.node import Node, RemoteJob
from p2p.contracts.remedies import Remedy
from p2p.store import files, layout
from p2p.store.named_records import NamedRecords


class _Nodes(Contract):
    nodes: dict[str, Node] = Field(default={})


class NodeStore:
    """`nodes.json`, `nodes_key` and `known_hosts`, beside the configuration file.

    Args:
        path: another directory to keep them in.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_directory()
        self._records = NamedRecords[Node](self.path / layout.NODES, self.path / layout.NODES_LOCK, _Nodes)
        self._key_path = self.path / layout.NODES_KEY
        self.known_hosts_path = self.path / layout.KNOWN_HOSTS

    def all(self) -> dict[str, Node]:
        """All nodes by name.

        Raises:
            StorageProblem: the file is there and cannot be understood.
        """
        return self._records.all()

    def get(self, name: str) -> Node:
        """Look up a node by name.

        Raises:
            UnknownName: there is none.
        """
        nodes = self.all()
        if name not in nodes:
            raise UnknownName("node", name, nodes)
        return nodes[name]

    def add(self, node: Node) -> None:
        """Save a new node.

        Raises:
            InvalidInput: there is another of its name.
        """
        with self._records.changing() as nodes:
            if node.name in nodes:
                raise InvalidInput(
                    f"A node {node.name!r} already exists, at {nodes[node.name].address}. "
                    f"Choose another name, or remove it first: {Remedy.REMOVE_NODE.of(node=node.name)}"
                )
            nodes[node.name] = node

    def update(self, node: Node) -> None:
        """Update a known node; a removed one stays removed."""
        with self._records.changing() as nodes:
            if node.name in nodes:
                nodes[node.name] = node

    def remove(self, name: str) -> None:
        """Delete a node."""
        self._records.remove(name)

    def sealed(self, remote: RemoteJob) -> RemoteJob:
        """Copy of `remote` with a seal that `is_sealed` checks.

        Raises:
            StorageProblem: the key cannot be kept.
        """
        with files.exclusive(self.path / layout.NODES_LOCK):
            if (key := self._key()) is None:
                with files.replacing(self._key_path) as temporary:
                    temporary.chmod(0o600)
                    temporary.write_text(key := secrets.token_hex(32), encoding="ascii")
        return remote.model_copy(update={"seal": _seal(key, remote)})

    def is_sealed(self, remote: RemoteJob) -> bool:
        """Whether the seal of `remote` was made by this user."""
        key = self._key()
        return key is not None and hmac.compare_digest(_seal(key, remote).encode(), remote.seal.encode())

    def _key(self) -> str | None:
        """Secret of this user; None before the first remote job."""
        return files.read_text(self._key_path) or None


def _seal(key: str, remote: RemoteJob) -> str:
    return hmac.new(key.encode(), f"{remote.node}\0{remote.path}".encode(), "sha256").hexdigest()


def default_directory() -> Path:
    """Folder of the configuration file, or the user's default folder if the file is switched off."""
    file = config_file.location()
    return file.parent if file.suffix == ".toml" else config_file.folder()
