"""The configuration file, `~/.config/p2p/config.toml`.

A program with a window starts its servers with six variables and none of the shell's profile, so keys and renderers
need a place of their own. The file sets what variables would; a variable that is set wins::

    runs_dir = "~/p2p-runs"          # any of the settings: P2P_RUNS_DIR, P2P_MAX_PARALLEL, ... in small letters
    max_parallel = 2

    [keys]
    ANTHROPIC_API_KEY = "..."

    [env]
    MUJOCO_GL = "egl"
"""

import os
import stat
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from p2p.config_location import VARIABLE as VARIABLE
from p2p.config_location import folder as folder
from p2p.config_location import location as location
from p2p.contracts.base import Contract
from p2p.contracts.errors import InvalidInput, UnknownName


class ConfigFile(Contract):
    """The tables of the file."""

    settings: dict[str, str | int] = Field(default={})
    """Name of a setting -> its value."""
    keys: dict[str, str] = Field(default={}, repr=False)
    """Variable that holds a key -> the key."""
    env: dict[str, str | int] = Field(default={})
    """Any other variable -> its value."""

    def variables(self) -> dict[str, str]:
        """The file as variables of the environment."""
        settings = {f"P2P_{name.upper()}": value for name, value in self.settings.items()}
        return {name: str(value) for name, value in {**self.env, **self.keys, **settings}.items()}


def read(path: Path, settings: Collection[str]) -> ConfigFile:
    """Read the file; an absent one is empty.

    Args:
        path: Where it is.
        settings: Names that may stand outside a table.

    Raises:
        InvalidInput: it cannot be read, is not TOML, or holds what it cannot; keys are not shown.
    """
    try:
        text = path.read_text(encoding="utf-8")
        import tomllib  # noqa: PLC0415  3 % of the start of a command, and most users have no file

        said = tomllib.loads(text)
    except FileNotFoundError:
        return ConfigFile()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise InvalidInput(f"{path} is not a TOML file: {error}. Correct it, or move it away.") from error
    tables = {name: said.pop(name) for name in ("keys", "env") if name in said}
    for name in said:
        if name not in settings:
            raise UnknownName(f"setting in {path}:", name, [*settings, "[keys]", "[env]"])
    if "runs_dir" in said:
        said["runs_dir"] = _absolute(path, said["runs_dir"])
    try:
        return ConfigFile.model_validate({"settings": said, **tables})
    except ValidationError as error:
        raise InvalidInput(_in_words(path, error)) from error


def readable_by_others(path: Path) -> bool:
    """Whether other users can read the file; False on Windows, where that is not known."""
    try:
        return os.name == "posix" and bool(stat.S_IMODE(path.stat().st_mode) & 0o077)
    except OSError:
        return False


def _absolute(path: Path, runs_dir: Any) -> str:
    """Open `~`; refuse a path that depends on the current directory."""
    chosen = Path(str(runs_dir)).expanduser()
    if not chosen.is_absolute():
        raise InvalidInput(
            f"{path}: runs_dir = {runs_dir!r} would mean another place in every folder. "
            'Write it from the root or from the home folder, such as "~/p2p-runs".'
        )
    return str(chosen)


def _in_words(path: Path, error: ValidationError) -> str:
    """Word the first error, without the value, which may be a key."""
    wrong = error.errors(include_input=False)[0]
    place = ".".join(str(part) for part in wrong["loc"][:2]).removeprefix("settings.")
    return f"{path}: {place} has a wrong value: {wrong['msg']}. Write texts in quotes."
