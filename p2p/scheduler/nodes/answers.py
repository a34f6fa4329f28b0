"""Parse a command's output on a node: shell noise, heartbeats, then one line with the answer.

    .                        every second, until there is an answer
    p2p-answer:{…}           JSON: the answer, or {"failure": {"kind", "message"}}
    …                        bytes, where the command sends files

Needs nothing but Python 3.11: it runs on the node before anything is installed there.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any, Protocol

MARK = b"p2p-answer:"
SIGN_OF_LIFE_S = 1.0


def give(work: Callable[[], Any], then: Callable[[], Iterable[bytes]] = tuple) -> int:
    """Run `work`, print its answer and then the bytes of `then`; return the exit status."""
    done = threading.Event()
    signs = threading.Thread(target=_live, args=(done,), daemon=True)
    signs.start()
    try:
        answer = work()
        status = 0
    except Exception as error:  # the entry point on the node: every failure is sent to the caller
        answer = {"failure": {"kind": type(error).__name__, "message": str(error)}}
        status = 1
    done.set()
    signs.join()
    _write(b"\n" + MARK + json.dumps(answer).encode() + b"\n")
    if status == 0:
        for piece in then():
            _write(piece)
    return status


class BytesReceiver(Protocol):
    """Receiver of the bytes after an answer."""

    def begin(self, answer: Any) -> None:
        """Receive the answer, before the first byte."""

    def take(self, data: bytes) -> None:
        """Receive the next bytes."""


class AnswerCollector:
    """Collect a command's output up to its answer; hand the rest to `rest`."""

    def __init__(self, rest: BytesReceiver | None = None) -> None:
        self.value: Any = None
        self._rest = rest
        self._complete = False
        self._line = b""

    def __call__(self, data: bytes) -> None:
        """Receive the next piece."""
        if not self._complete:
            # Look for the answer line; return the bytes after it.
            self._line += data
            while not self._complete and b"\n" in self._line:
                line, _, self._line = self._line.partition(b"\n")
                if line.startswith(MARK):
                    self.value = json.loads(line.removeprefix(MARK))
                    self._complete = True
                    if self._rest is not None:
                        self._rest.begin(self.value)
            data = self._line if self._complete else b""
        if data and self._complete and self._rest is not None:
            self._rest.take(data)


def _live(done: threading.Event) -> None:
    while not done.wait(SIGN_OF_LIFE_S):
        _write(b".\n")


def _write(data: bytes) -> None:
    """Write; ignore a reader that is gone."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError:
        pass
