"""A field of a training's configuration, with who set it."""

from typing import Any

from p2p.contracts.base import Contract


class Hyperparameter(Contract):
    """One field of the configuration."""

    name: str
    value: Any
    set_by: str
    """"default", "preset", "reward", "session" or "training", as in `EffectiveConfig`."""


class HyperparameterPair(Contract):
    """One field in two iterations."""

    name: str
    values: tuple[Any, Any]
    set_by: tuple[str, str]
    """Of each; empty where the field is missing."""
