"""Calls of language models in a session: requests, answers, and the ledger of their cost."""

import hashlib
import json
from contextlib import AbstractContextManager
from pathlib import Path

from p2p.contracts.inference import CallLine, CallRecord, ImagePart, Part, ToolResult, VideoPart
from p2p.redaction import redact
from p2p.store import files, layout


class CallLedger:
    """Calls of one session, shared by all its processes.

    A call is written down when it begins, with the most it can cost, and again when it has ended: whoever is killed
    between the two has spent that most, and nobody spends it a second time without counting it.

    Args:
        session: The session's directory.
    """

    def __init__(self, session: Path) -> None:
        self._directory = session / layout.CALLS
        self._path = self._directory / layout.CALL_LEDGER

    def exclusive(self) -> AbstractContextManager[None]:
        """Lock that serialises the decision whether a call may begin."""
        return files.exclusive(self._directory / layout.CALL_LOCK)

    def append(self, line: CallLine) -> None:
        """Append a line; it is on disk on return."""
        files.append_line(self._path, json.dumps(redact(line.model_dump(mode="json"))))

    def lines(self) -> tuple[CallLine, ...]:
        """Latest line of each call, oldest first. A kept answer without an end line counts as ended."""
        latest: dict[int, CallLine] = {}
        for line in files.read_models(self._path, CallLine):
            latest[line.number] = line
        for number, line in latest.items():
            if line.state == "begun" and (record := self.read(number)) is not None:
                latest[number] = record.line
        return tuple(line for _, line in sorted(latest.items()))

    def write(self, record: CallRecord) -> None:
        """Save a call whole, without secrets and pictures."""
        request = record.request
        messages = tuple(
            message.model_copy(update={"parts": tuple(_part(part) for part in message.parts)})
            for message in request.messages
        )
        without_pictures = request.model_copy(update={"messages": messages})
        kept = record.model_copy(update={"request": without_pictures})
        files.write_json(self._file(record.line.number), redact(kept.model_dump(mode="json")))

    def read(self, number: int) -> CallRecord | None:
        """Load a call; None if nothing was kept."""
        return files.read_model(self._file(number), CallRecord)

    def answered(self, digest: str) -> CallRecord | None:
        """Reusable answer to the same request; None without one."""
        for line in self.lines():
            if line.reusable and line.digest == digest and (record := self.read(line.number)) and record.reply:
                return record
        return None

    def forget(self, digest: str) -> None:
        """Stop reusing a request's answers: they turned out useless."""
        for line in self.lines():
            if line.reusable and line.digest == digest:
                self.append(line.model_copy(update={"reusable": False}))

    def _file(self, number: int) -> Path:
        return self._directory / layout.call_name(number)


def _part(part: Part) -> Part:
    if isinstance(part, ImagePart):
        return _picture(part)
    if isinstance(part, VideoPart):
        return part.model_copy(update={"data": _digest(part.data)})
    if isinstance(part, ToolResult):
        return part.model_copy(update={"images": tuple(_picture(image) for image in part.images)})
    return part


def _picture(image: ImagePart) -> ImagePart:
    return image.model_copy(update={"data": _digest(image.data)})


def _digest(data: str) -> str:
    """Hash that stands for a picture."""
    return f"sha256:{hashlib.sha256(data.encode()).hexdigest()}"
