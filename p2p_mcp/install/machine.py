"""The system and the home folder whose clients are looked at."""

import glob
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from p2p.contracts.base import Contract

SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "win32"}
"""`sys.platform` -> the name paths are listed under; any other system is taken for Linux."""


class Machine(Contract):
    """Where a client's files are looked for."""

    system: str
    """linux, darwin or win32."""
    home: Path
    environment: Mapping[str, str] = Field(default={}, repr=False)

    @classmethod
    def this(cls) -> "Machine":
        """The machine and the user of this process."""
        return cls(system=SYSTEMS.get(sys.platform, "linux"), home=Path.home(), environment=dict(os.environ))

    def paths(self, pattern: str) -> list[Path]:
        """What a pattern such as `{config}/Code/User` stands for.

        Args:
            pattern: A path with `{home}`, `{config}` (where this system's programs keep their settings) or `{local}`
                (where Windows keeps what stays on one machine). One with a `*` stands for the folders that exist.
        """
        config = self.environment.get("XDG_CONFIG_HOME") or str(self.home / ".config")
        if self.system == "darwin":
            config = str(self.home / "Library" / "Application Support")
        elif self.system == "win32":
            config = self.environment.get("APPDATA") or str(self.home / "AppData" / "Roaming")
        local = self.environment.get("LOCALAPPDATA") or str(self.home / "AppData" / "Local")
        known = {"home": str(self.home), "config": config, "local": local}
        if "*" not in pattern:
            return [Path(pattern.format(**known))]
        literal = {name: glob.escape(path) for name, path in known.items()}
        return sorted(Path(found) for found in glob.glob(pattern.format(**literal)))  # noqa: PTH207  not below a folder

    def program(self, name: str) -> str | None:
        """Where a command is found, or None."""
        return shutil.which(name, path=self.environment.get("PATH", ""))
