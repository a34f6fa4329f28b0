"""A folder of judge functions: `<robot>/<sentence>.py`, each with `judge(features)` for one sentence as a whole."""

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.store import files

_NO_NAME = re.compile(r"[^a-z0-9]+")


class FunctionFolder:
    """Folder of existing judge functions, or one that new ones are saved to.

    Args:
        path: The folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        """Name in reports."""
        return self.path.resolve().name

    def file_of(self, env_id: str, sentence: str) -> Path:
        """Where the function for a sentence lies: `ant-v5/walk_to_the_left.py`."""
        return self.path / env_id.lower() / f"{_NO_NAME.sub('_', sentence.lower()).strip('_')}.py"

    def save(self, env_id: str, sentence: str, source: str) -> None:
        """Keep the function for a sentence."""
        files.write_text(self.file_of(env_id, sentence), source)

    def source(self, env_id: str, sentence: str) -> str | None:
        """The function for a sentence; None where there is none.

        Raises:
            InvalidInput: its file cannot be read as text.
        """
        path = self.file_of(env_id, sentence)
        if not path.is_file():
            return None
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{path} cannot be read: {error}. Expected Python with judge(features).") from error

    def robots(self, known: Iterable[str]) -> tuple[str, ...]:
        """Of the robots in `known` those it has functions for, in that order.

        Raises:
            InvalidInput: it has no function at all.
            UnknownName: it has functions for something else.
        """
        by_name = {env_id.lower(): env_id for env_id in known}
        found = {path.parent.name for path in self.path.glob("*/*.py")}
        if not found:
            example = self.file_of("Ant-v5", "walk to the left").relative_to(self.path)
            raise InvalidInput(f"{self.path} holds no judge functions. Expected files such as {example}.")
        if unknown := sorted(found - by_name.keys()):
            raise UnknownName(f"robot in {self.path}", unknown[0], by_name)
        return tuple(env_id for name, env_id in by_name.items() if name in found)

    def require_known(self, env_id: str, sentences: Collection[str]) -> None:
        """Raise if a function for a robot belongs to none of the sentences.

        Raises:
            UnknownName: one is for another.
        """
        names = {self.file_of(env_id, sentence).name for sentence in sentences}
        for path in sorted((self.path / env_id.lower()).glob("*.py")):
            if path.name not in names:
                raise UnknownName(f"sentence of {env_id}", path.name, names)
