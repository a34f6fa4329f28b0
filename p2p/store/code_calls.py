"""The job directory of a call of generated code."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from p2p.contracts.code import CodeRequest, CodeResult
from p2p.store import files, layout
from p2p.store.arrays import load_arrays, save_arrays


class CodeCallRecord:
    """Request, inputs and result of a call of generated code."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.arrays_path = path / layout.ARRAYS

    def save_request(self, request: CodeRequest) -> None:
        """Write what is to be called."""
        files.write_model(self.path / layout.REQUEST, request)

    def read_request(self) -> CodeRequest | None:
        """What is to be called."""
        return files.read_model(self.path / layout.REQUEST, CodeRequest)

    def save_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write what it is called with."""
        save_arrays(self.arrays_path, arrays)

    def read_arrays(self) -> dict[str, NDArray[Any]] | None:
        """What it is called with; None when the file is missing or broken."""
        return load_arrays(self.arrays_path)

    def save_result(self, result: CodeResult) -> None:
        """Write what came of it."""
        files.write_model(self.path / layout.RESULT, result)

    def read_result(self) -> CodeResult | None:
        """What came of it; None before the end."""
        return files.read_model(self.path / layout.RESULT, CodeResult)
