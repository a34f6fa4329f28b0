"""Session requests from plain values."""

from typing import Any

from pydantic import ValidationError

from p2p.contracts.errors import InvalidInput, UnknownName
from p2p.contracts.session import NewSession
from p2p.contracts.training import TrainConfig
from p2p.service.wording import refused


def new_session(**fields: Any) -> NewSession:
    """Build a session request from plain values.

    Raises:
        InvalidInput: a value is out of range, or belongs to a training's configuration.
        UnknownName: there is no such option.
    """
    for name in fields.keys() - NewSession.model_fields:
        if name in TrainConfig.model_fields:
            raise InvalidInput(
                f"{name} belongs to the trainings of a session. Expected it in configs, by the name of a "
                f'configuration: configs={{"baseline": {{"{name}": {fields[name]!r}}}}}.'
            )
        raise UnknownName("option of a session", name, NewSession.model_fields)
    try:
        return NewSession(**fields)
    except ValidationError as error:
        raise refused(error) from error
