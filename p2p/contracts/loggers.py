"""Loggers: where the records of a session are shown besides p2p's own pages."""

from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator


class LoggerName(StrEnum):
    """A logger; each is an extra of the same name."""

    TENSORBOARD = "tensorboard"
    """Event files beside each run."""
    WANDB = "wandb"
    """A run of Weights & Biases for each run, grouped by session."""


def _split(value: object) -> object:
    """Names in one text, separated by commas."""
    if isinstance(value, str):
        return tuple(dict.fromkeys(name.strip() for name in value.split(",") if name.strip()))
    return value


Loggers = Annotated[tuple[LoggerName, ...], BeforeValidator(_split)]
"""Names of loggers; a text such as "tensorboard,wandb" is understood."""
