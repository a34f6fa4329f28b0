"""The worker's end of a host: starts it, asks it, and ends it whatever it does."""

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
from p2p.worker.code_host import boxes, idleness
from p2p.worker.code_host.boxes import Arrays, Box
from p2p.worker.code_host.message import SIZE, UNFORESEEN, Kind, Message
from p2p.worker.code_host.processor_time import Stopwatch
from p2p.worker.code_host.untrusted_text import one_line, without_controls

Service = Literal["reward", "trial", "function"]
"""What a host does with the code it gets: see `p2p.worker.code_host.__main__`."""
START_LIMIT_S = 60.0
"""Its own time from the start of the process until it is confined and waits; it takes about a second."""
BUSY_FACTOR = 60.0
"""Time limits count what the process had of the processor; on the clock a busy machine may take so much longer."""
GRACE_S = 1.0
"""After the time limit, for telling at which line it was."""
LOOK_S = 0.5
"""At most so long is waited at once; a machine that slept meanwhile has waited no longer."""
KINDS = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_STREAM


class HostFailed(Exception):
    """The code gave no answer, or one that is none; the message says how, as the rest of a sentence.

    Args:
        how: What happened.
        row: Row of the arrays that was being computed; None where that is not known.
        line: Line of the source at which the code was interrupted; None where that is not known.
        late: Whether the time was up.
    """

    def __init__(self, how: str, row: int | None = None, line: int | None = None, late: bool = False) -> None:
        super().__init__(how)
        self.row, self.line, self.late = row, line, late


class CodeRefused(Exception):
    """What the host itself says against the code, in its words; `kind` is the name of its error."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Answer:
    """What a host answered. The code has had a hand in all of it."""

    fields: Any
    """A JSON value with finite numbers and harmless texts."""
    table: NDArray[np.float64]
    """Shape (rows, columns); empty when there is none."""


class HostProcess:
    """A process that runs generated code, confined. It ends with this object, or with this process.

    Args:
        service: What it does with the code.

    Raises:
        EnvironmentProblem: it does not start.
    """

    def __init__(self, service: Service) -> None:
        inbox, outbox = Box(boxes.INBOX_BYTES, False), Box(boxes.OUTBOX_BYTES, True)
        ours, theirs = socket.socketpair(socket.AF_UNIX, KINDS)
        self._inbox, self._outbox, self._socket = inbox.memory, outbox.memory, ours
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
        self._number, self._ready = 0, False

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def ask(self, operation: str, fields: Mapping[str, Any], arrays: Arrays, limit_s: float) -> Answer:
        """Have something computed.

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
        boxes.progress(self._outbox)[:] = -1
        try:
            size = boxes.write_question(self._inbox, operation, fields, arrays)
        except ValueError as error:
            raise HostFailed(f"cannot be asked so much at once: {error}") from error
        try:
            self._socket.send(Message(Kind.QUESTION, self._number, size).packed())
            return self._answer(self._receive(limit_s))
        except OSError as error:
            raise self._failed(self._ended()) from error
        except (ValueError, OverflowError, KeyError, TypeError) as error:
            raise self._failed(f"answered nonsense: {one_line(str(error))}") from error

    def _await_start(self) -> None:
        """Wait until it is confined; once.

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
        if message.kind is not Kind.READY:
            raise EnvironmentProblem("The process for generated code did not start as it should.")
        self._ready = True

    def _receive(self, limit_s: float) -> Message:
        left, patience, poll = limit_s, BUSY_FACTOR * limit_s, select.poll()
        watch, idle = Stopwatch(self._process.pid), idleness.Idleness(self._process.pid)
        poll.register(self._socket, select.POLLIN)
        while left > 0 and patience > 0:
            begun, look = time.monotonic(), min(left, LOOK_S)
            if poll.poll(1000 * look):
                data = self._socket.recv(SIZE + 1)
                if not data:
                    raise self._failed(self._ended())
                return Message.unpacked(data)
            waited = min(time.monotonic() - begun, 2 * look)  # and not what this process itself was stopped for
            left -= watch.spent(waited)
            patience -= waited
            idle.look(waited)
            if idle.seconds > idleness.LIMIT_S:
                raise self._late(limit_s, f"used no processor time for {idleness.LIMIT_S:g} s: it waits for something")
        raise self._late(limit_s)

    def _answer(self, message: Message) -> Answer:
        """What the message and the outbox say.

        Raises:
            CodeRefused: it is a refusal.
            HostFailed: it is one that the host was not made for.
            ValueError: it is no answer to this question.
        """
        if message.number != self._number or message.kind not in (Kind.ANSWER, Kind.REFUSAL):
            raise ValueError("a message nobody asked for")
        fields = without_controls(boxes.read_text(self._outbox, message.text_bytes))
        if message.kind is Kind.REFUSAL:
            kind, text = one_line(str(fields["kind"])), one_line(str(fields["message"]))
            raise self._failed(text) if kind == UNFORESEEN else CodeRefused(kind, text)
        return Answer(fields, boxes.read_table(self._outbox, message.text_bytes, message.rows, message.columns))

    def _late(self, limit_s: float, how: str = "") -> HostFailed:
        self._process.send_signal(signal.SIGALRM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_S)
        return self._failed(how or f"gave no answer within {limit_s:g} s", late=not how)

    def _failed(self, how: str, late: bool = False) -> HostFailed:
        """The error, after the end of the process."""
        self.close()
        row, line = boxes.progress(self._outbox).tolist()
        return HostFailed(how, row if row >= 0 else None, line if line > 0 else None, late)

    def _ended(self) -> str:
        """How the process ended that closed its socket."""
        try:
            code = self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            return "closed its connection without an answer"
        if code == -signal.SIGKILL:
            return "was ended without an answer by SIGKILL, as happens when memory runs out"
        if code < 0:
            return f"ended its process without an answer, by {_signal_name(-code)}"
        return f"ended its process without an answer, with exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _environment() -> dict[str, str]:
    """All that a host knows of ours: no keys, one thread, and sets whose order is the same every time."""
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
