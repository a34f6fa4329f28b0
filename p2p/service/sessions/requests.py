"""Session requests from plain values."""

from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import NewSession


def new_session(**fields: Any) -> NewSession:
    """Build a session request from plain values.

    Raises:
        InvalidInput: a value is out of range.
    """
    try:
        return NewSession(**fields)
    except ValidationError as error:
        raise InvalidInput("\n".join(["This cannot be asked for:", *map(_explain, error.errors())])) from error


def _explain(problem: ErrorDetails) -> str:
    if not problem["loc"]:  # a rule over several fields names them itself
        return f"  {problem['msg'].removeprefix('Value error, ')}"
    return f"  {'.'.join(map(str, problem['loc']))}: {problem['msg']}, got {problem['input']!r}"
