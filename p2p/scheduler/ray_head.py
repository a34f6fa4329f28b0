"""A Ray of this machine alone, started by p2p: one head, whose jobs run here.

It is bound to loopback where Ray allows it, and takes calls with a token only: Ray listens on further ports of every
network interface, and whoever may talk to it may run programs.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from p2p.contracts.errors import EnvironmentProblem, MissingExtra, NodeUnreachable
from p2p.scheduler import supervisor
from p2p.scheduler.ray_jobs import RayJobs, read_token
from p2p.store import files

TRIES = 3
START_S = 90.0
"""How long one start may take: 4 s on an idle machine, more than a minute on a crowded one."""
STOP_S = 15.0
POLL_S = 0.2
OBJECT_STORE = 100_000_000
"""Bytes; our jobs put nothing into it, and Ray takes no less than 75 MB."""
LINES = 8
"""Of the log that an error shows."""
TOKEN_VARIABLE = "RAY_AUTH_TOKEN_PATH"
HEAD_VARIABLE = "P2P_RAY_HEAD"
"""Variable that only processes of a head have, its jobs included: the head's place. Whoever talks to it has no need
of it, unlike of the token."""


class RayHead:
    """A Ray head on this machine.

    Args:
        place: Directory for its token, log and process id.
        address: Of its dashboard, "http://127.0.0.1:8265".
        program: `ray` of an interpreter that has ray[default]; None takes that beside this interpreter, or on the PATH.
        options: Further words for `ray start`.
    """

    def __init__(self, place: Path, address: str, program: str | None = None, options: tuple[str, ...] = ()) -> None:
        self.place = place
        self.address = address
        self.token_path = place / "auth_token"
        self.log_path = place / "head.log"
        self.pid_path = place / "head.pid"
        self._program = program
        self._options = options

    def start(self) -> None:
        """Start the head, unless it answers; return when jobs can be submitted.

        Raises:
            MissingExtra: Ray is not installed.
            EnvironmentProblem: it does not start, or something else has its port.
        """
        program = self._program or _program()
        files.make_directory(self.place)
        with files.exclusive(self.place / "lock", TRIES * (START_S + STOP_S)):
            if not self.token_path.exists():
                with files.replacing(self.token_path) as temporary:
                    temporary.chmod(0o600)
                    temporary.write_text(secrets.token_hex(32), encoding="utf-8")
            for _ in range(TRIES):
                if self._answers():
                    return
                self._end()
                self._begin(program)
                if self._wait():
                    return
            self._end()
            raise EnvironmentProblem(f"Ray did not start in {TRIES} tries. {self.log_path} ends so:\n{self._log()}")

    def processes(self) -> set[int]:
        """All processes of the head that live, with what it starts jobs by; the jobs themselves are not of them.

        Some of Ray's write their title over the environment that they were started with; those are found as children.
        """
        tagged = set(filter(self._is_ours, supervisor.processes()))
        return tagged.union(*(supervisor.descendants(pid)[0] for pid in tagged))

    def stop(self) -> None:
        """End the head; nothing if there is none. A start that is under way is waited for, and undone."""
        if self.place.is_dir():
            with files.exclusive(self.place / "lock", TRIES * (START_S + STOP_S)):
                self._end()

    def _end(self) -> None:
        table = supervisor.processes()
        before = {pid: table[pid] for pid in self.processes() & table.keys()}
        if (pid := self._pid()) is not None and self._is_ours(pid):
            supervisor.send([pid], signal.SIGTERM)
        deadline = time.monotonic() + STOP_S
        while self._lives() and time.monotonic() < deadline:
            time.sleep(POLL_S)
        table = supervisor.processes()
        orphans = {pid for pid, (_, began) in before.items() if table.get(pid, (0, ""))[1] == began}
        supervisor.send(self.processes() | orphans, signal.SIGKILL)

    def _begin(self, program: str) -> None:
        """Begin `ray start` in the background, as nobody's child."""
        words = (
            *(program, "start", "--head", "--block", "--port=0", "--min-worker-port=0", "--max-worker-port=0"),
            *(f"--ray-client-server-port={_free_port()}", "--dashboard-agent-listen-port=0"),
            *("--node-ip-address=127.0.0.1", "--dashboard-host=127.0.0.1"),
            *(f"--dashboard-port={urlsplit(self.address).port or 80}", f"--object-store-memory={OBJECT_STORE}"),
            *("--include-log-monitor=false", "--disable-usage-stats", *self._options),
        )
        added = {
            "RAY_AUTH_MODE": "token",
            TOKEN_VARIABLE: str(self.token_path),
            HEAD_VARIABLE: str(self.place),
            "RAY_raylet_start_wait_time_s": str(int(START_S)),
        }
        begun = subprocess.run(
            ["/bin/sh", "-c", '"$@" >"$0" 2>&1 </dev/null & echo $!', str(self.log_path), *words],
            stdout=subprocess.PIPE,
            env=supervisor.environment(os.environ, added, ()),
            start_new_session=True,
            check=True,
            text=True,
        )
        files.write_text(self.pid_path, begun.stdout)

    def _wait(self) -> bool:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and self._lives():
            if self._answers():
                return True
            time.sleep(POLL_S)
        return False

    def _answers(self) -> bool:
        headers = {"Authorization": f"Bearer {read_token(self.token_path)}"}
        try:
            RayJobs(self.address, headers).version()
        except NodeUnreachable:
            return False
        return True

    def _lives(self) -> bool:
        return (pid := self._pid()) is not None and self._is_ours(pid)

    def _pid(self) -> int | None:
        text = (files.read_text(self.pid_path) or "").strip()
        return int(text) if text.isdigit() else None

    def _is_ours(self, pid: int) -> bool:
        """Whether a process belongs to this head: all are started with its place."""
        return supervisor.variable(pid, HEAD_VARIABLE) == str(self.place)

    def _log(self) -> str:
        return "\n".join((files.read_text(self.log_path) or "").splitlines()[-LINES:])


def _program() -> str:
    beside = Path(sys.executable).with_name("ray")
    found = str(beside) if beside.exists() else shutil.which("ray")
    if found is None:
        raise MissingExtra("ray", "ray")
    return found


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port
