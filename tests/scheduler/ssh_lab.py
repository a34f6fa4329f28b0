"""A real sshd on a free port of the loopback, with keys and settings of its own, and a link that can be broken."""

import os
import pwd
import select
import shutil
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from job_helpers import until

from p2p.contracts.node import Node
from p2p.scheduler.nodes import environments, host_keys
from p2p.scheduler.nodes.links import links
from p2p.store.nodes import NodeStore
from p2p.store.remote import RemoteJobRecord

FETCHED = Path(sys.prefix) / "sshd"
"""Where `fetch_sshd.sh` has put one, on a machine without."""
PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:{FETCHED}/usr/sbin"
SSHD = shutil.which("sshd", path=PLACES)
KEYGEN = shutil.which("ssh-keygen")
SEPARATED_USER = "sshd"
"""Account that the server, started by root, hands connections to before they have logged in."""


def _own_accounts() -> tuple[str, ...]:
    """The words to start a server with where root starts it and its account is missing: with one, for it alone."""
    try:
        pwd.getpwnam(SEPARATED_USER)
    except KeyError:
        if os.getuid() == 0:
            mount = 'mount --bind "$1" /etc/passwd && shift && exec "$@"'
            return ("unshare", "--mount", "sh", "-c", mount, "sh")
    return ()


def _can_start() -> bool:
    """Whether there is a server and the account it needs, or a way to give it one."""
    words = _own_accounts()
    if SSHD is None or KEYGEN is None:
        return False
    trial = [*words, "/etc/passwd", "true"] if words else ["true"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


HAS_SSHD = _can_start()
NO_SSHD = "needs a real sshd: apt install openssh-server, or make .venv/.sshd"
NEEDS_SSHD = pytest.mark.skipif(not HAS_SSHD, reason=NO_SSHD)
SETTINGS = """\
Port {port}
ListenAddress {address}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile {folder}/sshd.pid
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
MaxStartups 50:30:100
PrintMotd no
AcceptEnv P2P_CANARY
"""


class Sshd:
    """An SSH server that is started and stopped by tests."""

    def __init__(self, folder: Path, address: str = "127.0.0.1", wrapper: tuple[str, ...] = ()) -> None:
        folder.mkdir(parents=True)
        self.folder, self.address, self._wrapper = folder, address, wrapper
        for name in ("host_key", "user_key"):
            make_key(folder / name)
        shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
        self.port = free_port()
        text = SETTINGS.format(port=self.port, address=address, folder=folder)
        (folder / "sshd_config").write_text(text)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, unless it runs."""
        if self._process is not None:
            return
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, parents=True, exist_ok=True)
        assert SSHD is not None
        command = [SSHD, "-D", "-f", str(self.folder / "sshd_config"), "-E", str(self.folder / "log")]
        if accounts := _own_accounts():
            passwd = self.folder / "passwd"
            own = f"{SEPARATED_USER}:x:65533:65534::/run/sshd:/usr/sbin/nologin\n"
            passwd.write_text(f"{Path('/etc/passwd').read_text().rstrip()}\n{own}")
            passwd.chmod(0o644)
            command = [*accounts, str(passwd), *command]
        libraries = ":".join(str(path) for path in FETCHED.glob("usr/lib/*-linux-*"))
        env = os.environ | ({"LD_LIBRARY_PATH": libraries} if libraries else {})
        self._process = subprocess.Popen(
            [*self._wrapper, *command], stdin=subprocess.DEVNULL, start_new_session=True, env=env
        )
        until(self._answers)

    def stop(self) -> None:
        """End the server and all its sessions; what they started goes on."""
        if self._process is None:
            return
        for child in children(self._process.pid):
            with suppress(OSError):
                if Path(f"/proc/{child}/comm").read_text().startswith("sshd"):
                    os.kill(child, 9)
        self._process.kill()
        self._process.wait()
        self._process = None

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self.folder / "log").read_text()
        try:
            with socket.create_connection((self.address, self.port), 1) as plug:
                plug.settimeout(5)
                return plug.recv(4) == b"SSH-"
        except OSError:
            return False


class Proxy:
    """Passes TCP on to a port, until it is told to break."""

    def __init__(self, port: int, address: str = "127.0.0.1") -> None:
        self._target = (address, port)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._refusing, self._stalled, self._closed = False, False, False
        self._break_at: int | None = None
        self._break: Callable[[], None] = self.reset
        self.passed = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def break_after(self, n_bytes: int, how: Callable[[], None]) -> None:
        """Do `how` once so many more bytes have been passed on."""
        with self._lock:
            self._break_at, self._break = self.passed + n_bytes, how

    def drop(self) -> None:
        """Hang up (FIN)."""
        self._close_pairs(politely=True)

    def reset(self) -> None:
        """Hang up (RST)."""
        self._close_pairs(politely=False)

    def stall(self) -> None:
        """Say nothing any more, on any connection."""
        self._stalled = True

    def _close_pairs(self, politely: bool) -> None:
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for plug in pair:
                with suppress(OSError):
                    if politely:
                        plug.shutdown(socket.SHUT_RDWR)
                    else:
                        plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                plug.close()

    def refuse(self) -> None:
        """Let nobody in, and break what is there."""
        self._refusing = True
        self.reset()

    def mend(self) -> None:
        """Let everybody in; connections from before are closed."""
        with self._lock:
            self._break_at = None
        self._refusing = self._stalled = False
        self.reset()

    def close(self) -> None:
        self._closed = True
        self._server.close()
        self.reset()

    def _accept(self) -> None:
        while not self._closed:
            try:
                caller, _ = self._server.accept()
            except OSError:
                return
            if self._refusing:
                caller.close()
                continue
            try:
                called = socket.create_connection(self._target, 5)
            except OSError:
                caller.close()
                continue
            with self._lock:
                self._pairs.append((caller, called))
            threading.Thread(target=self._pass_on, args=(caller, called), daemon=True).start()

    def _pass_on(self, caller: socket.socket, called: socket.socket) -> None:
        other = {caller: called, called: caller}
        try:
            while True:
                for plug in select.select([caller, called], [], [], 0.2)[0]:
                    if self._stalled:
                        continue
                    data = plug.recv(1 << 14)
                    if not data:
                        raise OSError("over")
                    other[plug].sendall(data)
                    self._count(len(data))
                if self._stalled:
                    threading.Event().wait(0.05)
        except (OSError, ValueError):
            for plug in (caller, called):
                plug.close()

    def _count(self, n_bytes: int) -> None:
        with self._lock:
            self.passed += n_bytes
            due = self._break_at is not None and self.passed >= self._break_at
            if due:
                self._break_at = None
        if due:
            self._break()


class Lab:
    """A node on the loopback, reached through a link that can be broken."""

    def __init__(self, place: Path, name: str = "attic") -> None:
        self.sshd = Sshd(place / "sshd")
        self.sshd.start()
        self.link = Proxy(self.sshd.port)
        self.root = place / "node"
        self.store = NodeStore(place / "config")
        self.node = self.add(name)

    def add(self, name: str, **fields: object) -> Node:
        """A node of the store that is this server, trusted and prepared."""
        node = Node.model_validate(
            {
                "name": name,
                "host": "127.0.0.1",
                "port": self.link.port,
                "key_file": str(self.sshd.folder / "user_key"),
                "directory": str(self.root),
                "python": sys.executable,
                "timeout_s": 8.0,
                **fields,
            }
        )
        self.store.add(node)
        host_keys.trust(node, host_keys.fingerprint(host_keys.offered(node)), self.store.known_hosts_path)
        with links(self.store).to(name) as link:
            self.store.update(node.model_copy(update={"facts": environments.probe(link)}))
        return self.store.get(name)

    def remote_directory(self, directory: Path) -> Path:
        """Where a job runs."""
        remote = RemoteJobRecord(directory).read()
        assert remote is not None, f"{directory} is no job of a node"
        return Path(remote.path)

    def make_good(self) -> None:
        """As it was at first: the server runs, the link is whole, there is one node, nobody remembers otherwise."""
        for name in set(self.store.all()) - {self.node.name}:
            self.store.remove(name)
        self.link.mend()
        self.sshd.start()
        links(self.store).close()

    def close(self) -> None:
        links(self.store).close()
        self.link.close()
        self.sshd.stop()


def make_key(path: Path) -> None:
    assert KEYGEN is not None
    subprocess.run([KEYGEN, "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def children(pid: int) -> list[int]:
    """Processes below one that are still in its tree."""
    found, generation = [], [pid]
    while generation:
        below = []
        for parent in generation:
            with suppress(OSError):
                below += [int(word) for word in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
        found += below
        generation = below
    return found
