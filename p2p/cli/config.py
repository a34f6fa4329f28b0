"""The training configuration as it is given on the command line."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from p2p.cli.counts import steps
from p2p.contracts.errors import InvalidConfig, InvalidInput
from p2p.contracts.session import NewSession
from p2p.contracts.training import without_foreign_keys


def read_config(file: Path | None, assignments: Iterable[str], timesteps: int | None) -> dict[str, object]:
    """Fields from a file, changed by `--set`, then by `--timesteps`; their names and values are checked later.

    Raises:
        InvalidConfig: the file is not a JSON object, or an assignment has no "=".
    """
    given: Any = {}
    if file is not None:
        try:
            given = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidConfig(f"{file} is not readable JSON: {error}") from error
        if not isinstance(given, dict):
            raise InvalidConfig(f"{file}: expected a JSON object of configuration fields, got {type(given).__name__}.")
    fields, ignored = without_foreign_keys(given)
    if ignored:
        typer.echo(f"Ignored in {file}, as p2p has no such setting: {', '.join(ignored)}.", err=True)
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not key.strip():
            raise InvalidConfig(f"--set {assignment!r}: expected KEY=VALUE, for example --set learning_rate=3e-4.")
        fields[key.strip()] = steps(text.strip()) if key.strip() == "total_timesteps" else _value(text.strip())
    if timesteps is not None:
        fields["total_timesteps"] = timesteps
    return fields


def choose_environment(option: str | None, fields: dict[str, object]) -> str:
    """The environment of `--env`, or of the configuration, or the default.

    Raises:
        InvalidInput: the two name different ones.
    """
    configured = fields.get("env_id")
    if option is not None and configured not in (None, option):
        raise InvalidInput(f"--env says {option!r}, the configuration says {configured!r}: give one of them.")
    return option or (str(configured) if configured is not None else NewSession().env_id)


def _value(text: str) -> object:
    """A number, true, false, null or a list where it reads as JSON; otherwise the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
