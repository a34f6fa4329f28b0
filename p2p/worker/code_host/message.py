"""Messages between a host of generated code and the worker: of fixed size, numbers only.

What is large lies in memory that both see: the inbox, which the host can only read, and the outbox, which it alone
writes. A message says how much of it counts.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum

_FORMAT = struct.Struct("<4sIQQQQ")
_MAGIC = b"p2p1"
SIZE = _FORMAT.size
"""Of every message [bytes]."""


UNFORESEEN = ""
"""Name of the error in a refusal when the code ended its half of the host in a way of its own."""


class MessageKind(IntEnum):
    """Kind of message."""

    READY = 1
    """From the host: it is confined, and waits."""
    QUESTION = 2
    ANSWER = 3
    REFUSAL = 4
    """From the host: the code is to blame; the text says why."""


@dataclass(frozen=True, slots=True)
class HostMessage:
    """One message."""

    kind: MessageKind
    number: int
    """Of the question it is, or answers, from 1."""
    text_bytes: int = 0
    """Length of the JSON text at the start of the box."""
    rows: int = 0
    columns: int = 0
    """Shape of the table of 64-bit numbers behind it; only in answers."""

    def packed(self) -> bytes:
        """Message as bytes."""
        return _FORMAT.pack(_MAGIC, self.kind, self.number, self.text_bytes, self.rows, self.columns)

    @classmethod
    def unpacked(cls, data: bytes) -> "HostMessage":
        """Message from bytes.

        Raises:
            ValueError: it is none.
        """
        if len(data) != SIZE:
            raise ValueError(f"a message of {len(data)} bytes")
        magic, kind, *numbers = _FORMAT.unpack(data)
        if magic != _MAGIC:
            raise ValueError("a message of another kind")
        return cls(MessageKind(kind), *numbers)
