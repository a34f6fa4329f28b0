"""The one filter that everything passes which is written down: no key of a provider reaches a file."""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from p2p import config_file
from p2p.contracts.errors import InvalidInput
from p2p.settings import API_KEYS, Settings

SECRETS = (*API_KEYS, "GOOGLE_API_KEY", "VLLM_API_KEY", "OLLAMA_API_KEY")
"""Variables that may hold keys."""
SHORTEST = 8
"""A value with fewer characters is no secret, and replacing it would spoil ordinary text."""


def redact(value: Any, secrets: Mapping[str, str] | None = None) -> Any:
    """Plain data with the name of its variable in the place of each secret.

    Args:
        value: Texts, numbers, lists and dictionaries.
        secrets: Variable -> its value; None takes those of this process.
    """
    secrets = known_secrets() if secrets is None else secrets
    if isinstance(value, dict):
        return {redact(name, secrets): redact(item, secrets) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact(item, secrets) for item in value]
    return redact_text(value, secrets) if isinstance(value, str) else value


def redact_text(text: str, secrets: Mapping[str, str] | None = None) -> str:
    """The text with the name of its variable in the place of each secret."""
    for name, secret in (known_secrets() if secrets is None else secrets).items():
        text = text.replace(secret, f"[{name}]")
    return text


def known_secrets() -> dict[str, str]:
    """Keys of providers in the environment, and everything under [keys] in the configuration file."""
    found = {**_written_keys(str(config_file.location()))}
    found |= {name: value for name in SECRETS if (value := os.environ.get(name))}
    return {name: value.strip() for name, value in found.items() if len(value.strip()) >= SHORTEST}


@cache
def _written_keys(path: str) -> dict[str, str]:
    try:
        return dict(config_file.read(Path(path), list(Settings.model_fields)).keys)
    except InvalidInput:
        return {}
