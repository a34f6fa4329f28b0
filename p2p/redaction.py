"""The one filter that everything passes which is written down: no key of a provider reaches a file. A second one for
what is made to be shown to others."""

import os
import re
from collections.abc import Mapping
from functools import cache
from getpass import getuser
from pathlib import Path
from socket import gethostname
from typing import Any

from p2p import config_file
from p2p.contracts.errors import InvalidInput
from p2p.settings import API_KEYS, Settings

SECRETS = (*API_KEYS, "GOOGLE_API_KEY", "VLLM_API_KEY", "OLLAMA_API_KEY")
"""Variables that may hold keys."""
SHORTEST = 8
"""A value with fewer characters is no secret, and replacing it would spoil ordinary text."""
PATH = re.compile(r"(?<![\w.:/])(?:~|[A-Za-z]:)?[\\/](?:[^\s\\/:'\"<>|,;()]+[\\/])+([^\s\\/:'\"<>|,;()]*)")
"""An absolute path; its last part is kept."""
SHORTEST_NAME = 3
"""A name with fewer characters is left."""
ORDINARY = ("root", "user", "admin", "ubuntu", "localhost")
"""Names that say nothing of anybody."""


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


def for_others(text: str) -> str:
    """Text that may go to others: without keys, names of this user and machine; of absolute paths the last part."""
    text = PATH.sub(r"\1", redact_text(text))
    for name in _names():
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "…", text)
    return text


@cache
def _names() -> tuple[str, ...]:
    """Names of the user and of the machine, where they are no ordinary words."""
    try:
        names = {getuser(), gethostname()}
    except (OSError, KeyError):  # a user without an entry in passwd
        names = {gethostname()}
    return tuple(name for name in names if len(name) >= SHORTEST_NAME and name not in ORDINARY)
