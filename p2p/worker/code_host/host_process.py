"""Client of a host: starts it, sends questions, and ends it in every case."""

import os
import select
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import p2p
from p2p.contracts.errors import EnvironmentProblem
from p2p.worker.code_host import processor_time, shared_memory
from p2p.worker.code_host.message import SIZE, UNFORESEEN, HostMessage, MessageKind
from p2p.worker.code_host.processor_time import Idleness, ProcessorStopwatch
from p2p.worker.code_host.shared_memory import Arrays, Box
from p2p.worker.code_host.untrusted_text import one_line, without_controls

Service = Literal["reward", "trial", "function"]
"""What a host does with the code it gets: see `p2p.worker.code_host.__main__`."""
START_LIMIT_S = 60.0
"""Its own time from the start of the process until it is confined and waits; it takes about a second."""
BUSY_FACTOR = 60.0
"""Time limits count what the process had of the processor; on the clock a busy machine may take so much longer."""
GRACE_S = 1.0
"""After the time limit, for telling at which line it was."""
ENDING_S = 10.0
"""Longest wait for a process to end once its connection has; a loaded machine or much memory delays it."""
LOOK_S = 0.5
"""At most so long is waited at once; a machine that slept meanwhile has waited no longer."""
KINDS = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_STREAM


class HostFailed(Exception):
    """The generated code returned nothing usable, and its process was ended.

    Args:
        how: What happened, as a predicate: "gave no answer within 10 s".
        row: Row of the arrays that was being computed; None if unknown.
        line: Line of the source at which the code was interrupted; None if unknown.
        late: Whether the time was up.
    """

    def __init__(self, how: str, row: int | None = None, line: int | None = None, late: bool = False) -> None:
        super().__init__(how)
        self.row = row
        self.line = line
        self.late = late


class CodeRefused(Exception):
    """The host refused the code.

    Args:
        kind: Name of the host's error.
        message: Its message.
        row: Row of the arrays that was being computed; None if unknown.
    """

    def __init__(self, kind: str, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.row = row


@dataclass(frozen=True, slots=True)
class HostAnswer:
    """Answer of a host. Generated code may have influenced all of it."""

    fields: Any
    """A JSON value with finite numbers and harmless texts."""
    table: NDArray[np.float64]
    """Shape (rows, columns); empty when there is none."""


class HostProcess:
    """Confined process for generated code. It ends with this object, or with this process.

    Args:
        service: What it does with the code.

    Raises:
        EnvironmentProblem: it does not start.
    """

    def __init__(self, service: Service) -> None:
        inbox = Box(shared_memory.INBOX_BYTES, False)
        outbox = Box(shared_memory.OUTBOX_BYTES, True)
        ours, theirs = socket.socketpair(socket.AF_UNIX, KINDS)
        self._inbox = inbox.memory
        self._outbox = outbox.memory
        self._socket = ours
        descriptors = (theirs.fileno(), inbox.fd, outbox.fd)
        command = [sys.executable, "-P", "-m", "p2p.worker.code_host", service, str(os.getpid())]
        self._process = subprocess.Popen(
            [*command, *map(str, descriptors)],
            pass_fds=descriptors,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        self.close = weakref.finalize(self, _end, self._process, ours)
        """Ends the process; nothing happens the second time."""
        theirs.close()
        inbox.close_file()
        outbox.close_file()
        self._number = 0
        self._ready = False

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def ask(self, operation: str, fields: Mapping[str, Any], arrays: Arrays, limit_s: float) -> HostAnswer:
        """Send a question; return the answer.

        Args:
            operation: One that its service has.
            fields: JSON values.
            arrays: Numbers by name; the host sees them, and cannot change them.
            limit_s: Most time that it has for itself [s], see `processor_time`; on the clock `BUSY_FACTOR` of it.

        Raises:
            EnvironmentProblem: the process did not start.
            HostFailed: there was no answer in time, or none at all, or one that is none; the process is ended.
            CodeRefused: the host says that the code is to blame.
        """
        self._await_start()
        if not self.close.alive:
            raise HostFailed("was asked again after it had failed")
        self._number += 1
        shared_memory.progress(self._outbox)[:] = -1
        try:
            size = shared_memory.write_question(self._inbox, operation, fields, arrays)
        except ValueError as error:
            raise HostFailed(f"cannot take so much input at once: {error}") from error
        try:
            self._socket.send(HostMessage(MessageKind.QUESTION, self._number, size).packed())
            return self._answer(self._receive(limit_s))
        except OSError as error:
            raise self._failed(self._ended()) from error
        except (ValueError, OverflowError, KeyError, TypeError) as error:
            raise self._failed(f"sent an invalid answer: {one_line(str(error))}") from error

    def _await_start(self) -> None:
        """Wait once for its confinement.

        Raises:
            EnvironmentProblem: it does not start.
        """
        if self._ready:
            return
        try:
            message = self._receive(START_LIMIT_S)
        except (HostFailed, OSError, ValueError) as error:
            self.close()
            raise EnvironmentProblem(f"The process for generated code did not start: it {error}.") from error
        if message.kind is not MessageKind.READY:
            raise EnvironmentProblem("The process for generated code did not start correctly.")
        self._ready = True

    def _receive(self, limit_s: float) -> HostMessage:
        left = limit_s
        patience = BUSY_FACTOR * limit_s
        poll = select.poll()
        watch = ProcessorStopwatch(self._process.pid)
        idle = Idleness(self._process.pid)
        poll.register(self._socket, select.POLLIN)
        while left > 0 and patience > 0:
            begun = time.monotonic()
            look = min(left, LOOK_S)
            if poll.poll(1000 * look):
                data = self._socket.recv(SIZE + 1)
                if not data:
                    raise self._failed(self._ended())
                return HostMessage.unpacked(data)
            waited = min(time.monotonic() - begun, 2 * look)  # and not what this process itself was stopped for
            left -= watch.spent(waited)
            patience -= waited
            idle.look(waited)
            if idle.seconds > processor_time.IDLE_LIMIT_S:
                raise self._late(
                    limit_s, f"used no processor time for {processor_time.IDLE_LIMIT_S:g} s: it waits for something"
                )
        raise self._late(limit_s)

    def _answer(self, message: HostMessage) -> HostAnswer:
        """Decode the message and the outbox.

        Raises:
            CodeRefused: it is a refusal.
            HostFailed: it is one that the host was not made for.
            ValueError: it is no answer to this question.
        """
        if message.number != self._number or message.kind not in (MessageKind.ANSWER, MessageKind.REFUSAL):
            raise ValueError("an unexpected message")
        fields = without_controls(shared_memory.read_text(self._outbox, message.text_bytes))
        if message.kind is MessageKind.REFUSAL:
            kind = one_line(str(fields["kind"]))
            text = one_line(str(fields["message"]))
            raise self._failed(text) if kind == UNFORESEEN else CodeRefused(kind, text, self._row_and_line()[0])
        return HostAnswer(
            fields, shared_memory.read_table(self._outbox, message.text_bytes, message.rows, message.columns)
        )

    def _late(self, limit_s: float, how: str = "") -> HostFailed:
        self._process.send_signal(signal.SIGALRM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_S)
        return self._failed(how or f"gave no answer within {limit_s:g} s", late=not how)

    def _failed(self, how: str, late: bool = False) -> HostFailed:
        """End the process and return the error."""
        self.close()
        row, line = self._row_and_line()
        return HostFailed(how, row, line, late)

    def _row_and_line(self) -> tuple[int | None, int | None]:
        """Row being computed and line being executed, as the host last wrote them."""
        row, line = shared_memory.progress(self._outbox).tolist()
        return row if row >= 0 else None, line if line > 0 else None

    def _ended(self) -> str:
        """How a process with a closed socket ended."""
        try:
            code = self._process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            return "closed its connection without an answer"
        if code == -signal.SIGKILL:
            return "was ended without an answer by SIGKILL, as happens when memory runs out"
        if code < 0:
            number = -code
            try:
                name = signal.Signals(number).name
            except ValueError:
                name = f"signal {number}"
            return f"ended its process without an answer, by {name}"
        return f"ended its process without an answer, with exit code {code}"


def _environment() -> dict[str, str]:
    """Environment of a host: no keys, one thread, and a fixed hash seed."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    here = str(Path(p2p.__file__).resolve().parents[1])
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return {
        **threads,
        **kept,
        "PYTHONPATH": here,
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYDANTIC_DISABLE_PLUGINS": "1",
    }


def _end(process: "subprocess.Popen[bytes]", connection: socket.socket) -> None:
    connection.close()
    process.kill()
    process.wait()
