"""Lines that a person types while the agent works."""

import queue
import threading
from typing import TextIO


class TypedLines:
    """Collects lines, and hands them out when a turn begins."""

    def __init__(self) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen(self, stream: TextIO) -> None:
        """Read lines of `stream` from now on; reading never keeps the process alive."""
        threading.Thread(target=self._read, args=(stream,), name="steering", daemon=True).start()

    def say(self, line: str) -> None:
        """Add one line; an empty one is dropped."""
        if line.strip():
            self._lines.put(line.strip())

    def take(self) -> tuple[str, ...]:
        """The lines since the last call, oldest first."""
        lines = []
        while not self._lines.empty():
            lines.append(self._lines.get())
        return tuple(lines)

    def _read(self, stream: TextIO) -> None:
        for line in stream:
            self.say(line)
