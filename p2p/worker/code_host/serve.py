"""Server side of the host: answer questions one by one."""

import json
import mmap
import os
import socket
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from p2p.contracts.errors import P2PError
from p2p.worker.code_host import shared_memory
from p2p.worker.code_host.message import SIZE, UNFORESEEN, HostMessage, MessageKind
from p2p.worker.code_host.untrusted_text import MAX_MESSAGE, shortened

Result = tuple[Any, NDArray[np.float64] | None]
"""A JSON value, and a table or none."""


class Service(Protocol):
    """Operations of a host."""

    def answer(self, operation: str, fields: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Result:
        """Run one operation.

        Raises:
            P2PError: the code is to blame.
        """
        ...


def serve(control: socket.socket, inbox: mmap.mmap, outbox: mmap.mmap, service: Service) -> None:
    """Answer questions until the connection is closed, then end the process."""
    control.send(HostMessage(MessageKind.READY, 0).packed())
    while data := control.recv(SIZE):
        question = HostMessage.unpacked(data)
        operation, fields, arrays = shared_memory.read_question(inbox, question.text_bytes)
        kind, text, table = _answer(service, operation, fields, arrays)
        rows, columns = shared_memory.write_answer(outbox, text, table)
        control.send(HostMessage(kind, question.number, len(text), rows, columns).packed())
    os._exit(0)


def _answer(
    service: Service, operation: str, fields: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> tuple[MessageKind, bytes, NDArray[np.float64] | None]:
    try:
        value, table = service.answer(operation, fields, arrays)
        return MessageKind.ANSWER, json.dumps(value, allow_nan=False).encode(), table
    except P2PError as error:
        return MessageKind.REFUSAL, _refusal(type(error).__name__, str(error)), None
    except BaseException as error:  # the code may raise what it likes; nobody else is here
        return MessageKind.REFUSAL, _refusal(UNFORESEEN, f"raised {type(error).__name__}: {error}"), None


def _refusal(kind: str, message: str) -> bytes:
    return json.dumps({"kind": kind, "message": shortened(message, MAX_MESSAGE)}).encode()
