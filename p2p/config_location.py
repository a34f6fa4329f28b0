"""Where the configuration file is; apart from its reader, which needs pydantic, so that `p2p --help` does not."""

import os
from pathlib import Path

VARIABLE = "P2P_CONFIG"
"""Names another file; /dev/null for none."""


def location() -> Path:
    """Where the file is looked for: `P2P_CONFIG`, else p2p/config.toml in the user's folder for configurations."""
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser()
    return folder() / "config.toml"


def folder() -> Path:
    """The user's folder for the configuration of p2p."""
    place = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(place) / "p2p"


def absent() -> bool:
    """Whether there is no configuration file; False where that cannot be found out, so that reading it says why."""
    if str(location()) == os.devnull:
        return True
    try:
        location().stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False
