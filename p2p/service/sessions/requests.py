"""Session requests from plain values."""

from typing import Any

from pydantic import ValidationError

from p2p.contracts.errors import InvalidInput
from p2p.contracts.session import NewSession
from p2p.service.wording import field_problem


def new_session(**fields: Any) -> NewSession:
    """Build a session request from plain values.

    Raises:
        InvalidInput: a value is out of range.
    """
    try:
        return NewSession(**fields)
    except ValidationError as error:
        raise InvalidInput("\n".join(["The request is not valid:", *map(field_problem, error.errors())])) from error
