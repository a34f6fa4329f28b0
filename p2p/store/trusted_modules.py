"""Modules whose environments this user has named: no record of a session alone makes p2p import one.

The file is in the user's folder for configurations, where no session that came from elsewhere can be.
"""

from pathlib import Path

from p2p import config_location
from p2p.contracts.env import EnvModule, TrustedModules
from p2p.store import files


def _file() -> Path:
    return config_location.folder() / "modules.json"


def trust(module: EnvModule) -> None:
    """Remember that the user has named an environment of this module."""
    if is_trusted(module):
        return
    _file().parent.mkdir(parents=True, exist_ok=True)
    with files.exclusive(_file().with_suffix(".lock")):
        known = files.read_model(_file(), TrustedModules) or TrustedModules()
        files.write_model(_file(), TrustedModules(modules=(*known.modules, module)))


def is_trusted(module: EnvModule) -> bool:
    """Whether the user has named an environment of this module, in this folder."""
    known = files.read_model(_file(), TrustedModules)
    return known is not None and module in known.modules
