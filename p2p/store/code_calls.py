"""Job directory for one call of generated code."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from p2p.contracts.work import CodeRequest, CodeResult
from p2p.store import layout
from p2p.store.arrays import load_arrays, save_arrays
from p2p.store.records import json_file


class CodeCallRecord:
    """Request, inputs and result of a call of generated code."""

    read_request, save_request = json_file(layout.REQUEST, CodeRequest)
    read_result, save_result = json_file(layout.RESULT, CodeResult)

    def __init__(self, path: Path) -> None:
        self.path = path
        self.arrays_path = path / layout.ARRAYS

    def save_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write the input arrays."""
        save_arrays(self.arrays_path, arrays)

    def read_arrays(self) -> dict[str, NDArray[Any]] | None:
        """Input arrays; None if the file is missing or broken."""
        return load_arrays(self.arrays_path)
