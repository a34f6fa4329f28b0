"""One SSH connection to a node: commands and files, with a time limit on everything."""

import logging
import shlex
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

import paramiko

from p2p.contracts.errors import NodeUnreachable
from p2p.contracts.node import Node
from p2p.contracts.remedies import Remedy

KEEPALIVE_S = 5
MAX_CHANNELS = 4
"""At a time, one of them for files; a server's MaxSessions is 10, and others may share it."""
CHUNK = 1 << 16


logging.getLogger("paramiko").setLevel(logging.CRITICAL)  # what it would tell on stderr is told by our errors


class Receiver(Protocol):
    """Callback for a command's output."""

    def __call__(self, data: bytes) -> None:
        """Receive the next piece."""


class Connection:
    """SSH connection, opened on first use and reopened after a loss; thread-safe.

    Args:
        node: which machine.
        known_hosts: file of the host keys that are trusted; any other is refused.
    """

    def __init__(self, node: Node, known_hosts: Path) -> None:
        self.node = node
        self._known_hosts = known_hosts
        self._client: paramiko.SSHClient | None = None
        self._sftp: paramiko.SFTPClient | None = None
        self._lock = threading.RLock()
        self._commands = threading.BoundedSemaphore(MAX_CHANNELS - 1)

    @contextmanager
    def files(self) -> Iterator[paramiko.SFTPClient]:
        """SFTP channel, for one thread at a time.

        Raises:
            NodeUnreachable: the link is down.
            OSError: the node refuses what is done with it, as a full disk or a missing file.
        """
        with self._lock, self._translating():
            if self._sftp is None:
                self._sftp = self._open().open_sftp()
                channel = self._sftp.get_channel()
                assert channel is not None, "a client of its own has a channel"
                channel.settimeout(self.node.timeout_s)
            yield self._sftp

    def run(self, argv: Sequence[str], receive: Receiver, sent: bytes = b"") -> tuple[int, str]:
        """Run a command on the node.

        Args:
            argv: the command; every word reaches it as it is.
            receive: what takes its output; silence longer than the node's `timeout_s` counts as a loss of the link.
            sent: what it reads.

        Returns:
            Its exit status, and what it wrote on stderr.

        Raises:
            NodeUnreachable: the link is down, or went down before the end of the command, which may go on.
        """
        with self._commands, self._translating():
            with self._lock:
                transport = self._open().get_transport()
                assert transport is not None, "a client that is connected has a transport"
                channel = transport.open_session(timeout=self.node.timeout_s)
            with channel:
                channel.settimeout(self.node.timeout_s)
                channel.exec_command(shlex.join(argv))
                if sent:
                    channel.sendall(sent)
                channel.shutdown_write()
                while data := channel.recv(CHUNK):  # all of it before the status, which comes after the output
                    receive(data)
                stderr = b"".join(iter(lambda: channel.recv_stderr(CHUNK), b""))
                if not channel.status_event.wait(self.node.timeout_s) or channel.exit_status < 0:
                    raise EOFError("it ended without an exit status")
                return channel.exit_status, stderr.decode(errors="replace")

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        with self._lock:
            client = self._client
            self._client = None
            self._sftp = None
        if client is not None:
            client.close()

    def _open(self) -> paramiko.SSHClient:
        transport = self._client.get_transport() if self._client is not None else None
        if self._client is not None and transport is not None and transport.is_active():
            return self._client
        self.close()
        client = paramiko.SSHClient()
        client.set_missing_host_key_policy(paramiko.RejectPolicy())
        with suppress(FileNotFoundError):
            client.load_host_keys(str(self._known_hosts))
        try:
            self._connect(client)
        except BaseException:
            client.close()
            raise
        self._client = client
        return client

    def _connect(self, client: paramiko.SSHClient) -> None:
        node = self.node
        key_file = str(Path(node.key_file).expanduser()) if node.key_file else None
        client.connect(
            node.host,
            node.port,
            username=node.user,
            key_filename=key_file,
            allow_agent=node.allow_agent,
            look_for_keys=node.look_for_keys,
            timeout=node.timeout_s,
            banner_timeout=node.timeout_s,
            auth_timeout=node.timeout_s,
            channel_timeout=node.timeout_s,
        )
        transport = client.get_transport()
        assert transport is not None, "a client that is connected has a transport"
        transport.set_keepalive(KEEPALIVE_S)

    @contextmanager
    def _translating(self) -> Iterator[None]:
        """Turn connection errors into `NodeUnreachable` and close the connection."""
        try:
            yield
        except (paramiko.SSHException, EOFError, ConnectionError, TimeoutError, socket.gaierror) as error:
            self.close()
            raise NodeUnreachable(explain(self.node, error)) from error
        except OSError as error:
            transport = self._client.get_transport() if self._client is not None else None
            if transport is not None and transport.is_active() and "ocket is closed" not in str(error):
                raise  # the node answers, and refuses
            self.close()
            raise NodeUnreachable(explain(self.node, error)) from error


def explain(node: Node, error: Exception) -> str:
    """Describe a connection error and its remedy."""
    where = f"{node.name} ({node.address})"
    if isinstance(error, paramiko.BadHostKeyException):
        return (
            f"{where} shows a different host key from the trusted one: it was reinstalled, or the connection is "
            f"intercepted. If you know why it changed: {Remedy.TRUST_NODE.of(node=node.name)}"
        )
    if "not found in known_hosts" in str(error):
        return f"The host key of {where} is not trusted yet. Look at it with: {Remedy.TRUST_NODE.of(node=node.name)}"
    if isinstance(error, paramiko.AuthenticationException | paramiko.PasswordRequiredException):
        return (
            f"{where} refuses the login: {error} Add the node again with a key that it accepts; a key with a "
            "passphrase must be in the SSH agent."
        )
    return f"{where} does not answer: {str(error) or type(error).__name__}"
