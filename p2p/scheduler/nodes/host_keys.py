"""Host keys of nodes, trusted one by one by a person."""

import base64
import hashlib
import socket
from contextlib import suppress
from pathlib import Path

import paramiko

from p2p.contracts.errors import NodeUnreachable
from p2p.contracts.node import HostKey, Node
from p2p.scheduler.nodes.ssh_connection import explain
from p2p.store import files

SSH_PORT = 22


def offered(node: Node) -> paramiko.PKey:
    """Key that a node shows to any client; sends no credentials.

    Raises:
        NodeUnreachable: it does not answer.
    """
    try:
        with socket.create_connection((node.host, node.port), node.timeout_s) as plug:
            transport = paramiko.Transport(plug)
            transport.banner_timeout = node.timeout_s
            try:
                transport.start_client(timeout=node.timeout_s)
                return transport.get_remote_server_key()
            finally:
                transport.close()
    except (OSError, EOFError, paramiko.SSHException) as error:
        raise NodeUnreachable(explain(node, error)) from error


def look(node: Node, known_hosts: Path) -> HostKey:
    """Key that a node shows, and whether it is trusted.

    Raises:
        NodeUnreachable: it does not answer.
    """
    key = offered(node)
    return HostKey(
        kind=key.get_name(), fingerprint=fingerprint(key), trusted=_keys(known_hosts).check(_entry(node), key)
    )


def trust(node: Node, expected: str, known_hosts: Path) -> HostKey:
    """Trust the key that a node shows if it has the expected fingerprint; replaces an earlier one.

    Raises:
        NodeUnreachable: it does not answer, or shows another key than was looked at.
    """
    key = offered(node)
    if fingerprint(key) != expected:
        raise NodeUnreachable(
            f"{node.name} ({node.address}) shows {fingerprint(key)}; expected {expected}. The key was not trusted."
        )
    keys = _keys(known_hosts)
    with suppress(KeyError):
        del keys[_entry(node)]
    keys.add(_entry(node), key.get_name(), key)
    with files.replacing(known_hosts) as temporary:
        keys.save(str(temporary))
    return look(node, known_hosts)


def fingerprint(key: paramiko.PKey) -> str:
    """SHA-256 fingerprint in the form of `ssh-keygen -l`."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")


def _keys(known_hosts: Path) -> paramiko.HostKeys:
    return paramiko.HostKeys(str(known_hosts) if known_hosts.exists() else None)


def _entry(node: Node) -> str:
    """The node's name in the file."""
    return node.host if node.port == SSH_PORT else f"[{node.host}]:{node.port}"
