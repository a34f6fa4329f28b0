"""vLLM server on this machine, bound to loopback: start, wait, stop.

Tried with a process that takes the arguments and has the addresses of `vllm serve`, and not with vLLM itself.
"""

import json
import os
import secrets
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

from p2p.contracts.errors import EnvironmentProblem
from p2p.contracts.inference import HOST, ServedModel, VllmOptions

POLL_S = 0.5
PROBE_S = 3.0
GRACE_S = 15.0
"""Between asking the server to end and ending it [s]."""
TAIL = 2_000
"""Characters of the log that an error shows."""
COMMAND = ("vllm", "serve")


class VllmServer:
    """Server process and its address.

    Args:
        options: What is served.
        log: File its output goes to.
        command: The program, to which the options are added.
    """

    def __init__(self, options: VllmOptions, log: Path, command: Sequence[str] = COMMAND) -> None:
        self.options = options
        self._log = log
        self._command = tuple(command)
        self._key = secrets.token_urlsafe(24)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def base_url(self) -> str:
        """Address for `VLLM_BASE_URL`."""
        return f"http://{HOST}:{self.options.port}/v1"

    def environment(self) -> dict[str, str]:
        """Environment variables that point the provider `vllm` at this server."""
        return {"VLLM_BASE_URL": self.base_url, "VLLM_API_KEY": self._key}

    def start(self, heartbeat: Callable[[], None] = lambda: None) -> None:
        """Start the server and wait until it serves the model; stop it on failure.

        Raises:
            EnvironmentProblem: vLLM is not installed; or it ended, or did not answer in time, and the message holds
                the end of its log.
        """
        try:
            with self._log.open("ab") as output:
                command = [
                    *self._command,
                    self.options.model,
                    *("--host", HOST),
                    *("--port", str(self.options.port)),
                    *("--max-model-len", str(self.options.max_model_len)),
                    *("--gpu-memory-utilization", str(self.options.gpu_memory_share)),
                ]
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=self._inherited(),
                    start_new_session=True,
                )
        except FileNotFoundError as error:
            raise EnvironmentProblem(
                f"{self._command[0]} is not installed. Run: pip install vllm, "
                "or set VLLM_BASE_URL to a server elsewhere."
            ) from error
        try:
            self._wait(heartbeat)
        except BaseException:
            self.stop()
            raise

    def healthy(self) -> bool:
        """Whether the server answers and serves the model."""
        return _serves(self.options.port, self._key, self.options.model)

    def models(self) -> tuple[str, ...]:
        """Models it serves; empty while it does not answer."""
        return _models(self.options.port, self._key)

    def leave(self) -> int:
        """Detach from the running server; return its process id, which leads its process group."""
        process = self._process
        self._process = None
        assert process is not None, "there is a server to leave"
        process.returncode = 0  # not ours to wait for any more, which its destructor would mention
        return process.pid

    def stop(self) -> None:
        """End the server and its processes, if running."""
        process = self._process
        self._process = None
        if process is None:
            return
        _signal(process.pid, 15)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
        _signal(process.pid, 9)  # also what it left behind in its group
        process.wait()

    def __enter__(self) -> "VllmServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _wait(self, heartbeat: Callable[[], None]) -> None:
        assert self._process is not None
        deadline = time.monotonic() + self.options.start_s
        while not self.healthy():
            if (code := self._process.poll()) is not None:
                raise EnvironmentProblem(f"The server ended with code {code} before it answered.{self._tail()}")
            if time.monotonic() >= deadline:
                late = f"{self.options.model} did not answer within {self.options.start_s:g} s."
                raise EnvironmentProblem(f"The server of {late}{self._tail()}")
            heartbeat()
            time.sleep(POLL_S)

    def _inherited(self) -> dict[str, str]:
        """This process's variables without the keys of others; its own key goes this way, where `ps` shows nothing."""
        env = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        if self.options.devices is not None:
            env["CUDA_VISIBLE_DEVICES"] = self.options.devices
        return env | {"VLLM_API_KEY": self._key}

    def _tail(self) -> str:
        try:
            text = self._log.read_text(encoding="utf-8", errors="replace")[-TAIL:].strip()
        except OSError:
            return ""
        return f" The end of {self._log}:\n{text}" if text else f" Its log {self._log} is empty."


def answers(server: ServedModel) -> bool:
    """Whether a detached server answers and serves its model."""
    return _serves(server.port, server.key, server.model)


def end_group(pid: int) -> None:
    """End a detached server's process group: SIGTERM, then SIGKILL."""
    for number in (15, 9):  # the second also for what the first one left behind in its group
        _signal(pid, number)
        deadline = time.monotonic() + GRACE_S
        while not has_ended(pid) and time.monotonic() < deadline:
            time.sleep(POLL_S / 5)


def has_ended(pid: int) -> bool:
    """Whether a process has ended; a zombie counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] in ("Z", "X")
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def _serves(port: int, key: str, model: str) -> bool:
    return _get(port, key, "/health") is not None and model in _models(port, key)


def _models(port: int, key: str) -> tuple[str, ...]:
    try:
        answer = json.loads(_get(port, key, "/v1/models") or b"{}")
        return tuple(str(entry["id"]) for entry in answer["data"])
    except (ValueError, KeyError, TypeError):
        return ()


def _get(port: int, key: str, path: str) -> bytes | None:
    request = Request(f"http://{HOST}:{port}{path}", headers={"Authorization": f"Bearer {key}"})
    try:
        with urlopen(request, timeout=PROBE_S) as response:
            return bytes(response.read())
    except (URLError, OSError):
        return None


def _signal(pid: int, number: int) -> None:
    """Signal a process group that we created."""
    with suppress(ProcessLookupError):
        os.killpg(pid, number)
