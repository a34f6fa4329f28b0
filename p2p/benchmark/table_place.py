"""Update a generated table inside a document."""

from pathlib import Path

from p2p.contracts.errors import InvalidInput


class TablePlace:
    """Section of a file that holds a generated table.

    Args:
        path: The file.
        name: Of the markers around the table.

    Raises:
        InvalidInput: it has no markers for one.
    """

    def __init__(self, path: Path, name: str = "learn") -> None:
        self._path = path
        self._begin = f"<!-- {name} -->"
        self._end = f"<!-- /{name} -->"
        self._split()

    def write(self, text: str) -> None:
        """Replace the table."""
        before, after = self._split()
        self._path.write_text(f"{before}{self._begin}\n{text}\n{self._end}{after}", encoding="utf-8")

    def _split(self) -> tuple[str, str]:
        before, _, rest = self._path.read_text(encoding="utf-8").partition(self._begin)
        _, end, after = rest.partition(self._end)
        if not end:
            raise InvalidInput(f"{self._path} has no lines {self._begin} and {self._end} to put the table between.")
        return before, after
