"""Descriptors for the files of a record: one line gives name and type.

class Example(Record):
    read_criteria, save_criteria = json_file("criteria.json", Intent)

Writes are atomic. A file that is absent, empty or broken reads as None, and a broken line as no line.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Generic, Protocol, TypeVar, overload

from pydantic import BaseModel

from p2p.store import files

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


class HasPath(Protocol):
    """Object with a directory of its own."""

    @property
    def path(self) -> Path:
        """The directory."""


class OfRecord(Generic[T]):
    """Descriptor of an attribute made from the record's directory, such as `record.read_criteria`.

    Args:
        make: What the attribute is, given the record's directory.
    """

    def __init__(self, make: Callable[[Path], T]) -> None:
        self._make = make

    @overload
    def __get__(self, record: None, owner: type) -> "OfRecord[T]": ...
    @overload
    def __get__(self, record: HasPath, owner: type) -> T: ...
    def __get__(self, record: HasPath | None, owner: type) -> "OfRecord[T] | T":
        return self if record is None else self._make(record.path)


def json_file(name: str, contract: type[M]) -> tuple[OfRecord[Callable[[], M | None]], OfRecord[Callable[[M], None]]]:
    """`read` and `save` of a JSON file with one `contract`; `read` returns None if no valid file exists."""
    return (
        OfRecord(lambda directory: lambda: files.read_model(directory / name, contract)),
        OfRecord(lambda directory: lambda value: files.write_model(directory / name, value)),
    )


def json_file_or_new(name: str, contract: type[M]) -> tuple[OfRecord[Callable[[], M]], OfRecord[Callable[[M], None]]]:
    """Like `json_file`; `read` returns `contract()` if no valid file exists."""
    return (
        OfRecord(lambda directory: lambda: files.read_model(directory / name, contract) or contract()),
        OfRecord(lambda directory: lambda value: files.write_model(directory / name, value)),
    )


def json_lines(
    name: str, contract: type[M]
) -> tuple[OfRecord[Callable[[M], None]], OfRecord[Callable[[], tuple[M, ...]]]]:
    """`append` and `read` of a file with one `contract` a line, oldest first; `append` returns once it is on disk."""
    return (
        OfRecord(lambda directory: lambda value: files.append_line(directory / name, value.model_dump_json())),
        OfRecord(lambda directory: lambda: files.read_models(directory / name, contract)),
    )


def in_directory(name: str) -> OfRecord[Path]:
    """Path of a file or directory of the record, existing or not."""
    return OfRecord(lambda directory: directory / name)
